//! Section 4.4 of the API specification: payments, with the statements of sections 1, 2 and 3 about them.

use serde_json::{Value, json};
use tests::{SharedWorld, fresh_key, on_every_shape};
use url::Url;

/// Latchkey's choice: the members of a payment.
fn body() -> Value {
    json!({ "amount": 1250, "currency": "EUR", "description": "Two tickets", "metadata": { "order": "1001" } })
}

async fn payments_of(caller: &tests::Caller) -> usize {
    let list = caller.get("/payments").await.expect(200).json();
    list["items"].as_array().unwrap().len()
}

/// 4.4, create payment: "Header `Idempotency-Key` (required, string); JSON body"; "201 with `{ id, status }`
/// where status is `created`". Latchkey's choice: no other members, and a `Location`.
async fn create_payment_answers_201_with_id_and_status(world: SharedWorld) {
    let ann = world.user().await;
    let call = ann
        .post("/payments")
        .header("idempotency-key", "a-key")
        .json(&body());
    let reply = call.await.expect(201);
    let made = reply.json();
    assert_eq!(made.as_object().unwrap().len(), 2, "{reply}");
    assert!(
        made["id"].as_str().is_some_and(|id| id.starts_with("pay_")),
        "{reply}"
    );
    assert_eq!(made["status"], "created");
    assert_eq!(
        reply.header("location"),
        format!("/payments/{}", made["id"].as_str().unwrap())
    );
}

/// 4.4, create payment: "400 with a problem-style body when the header is missing".
async fn create_payment_without_the_header_answers_400_with_a_problem_style_body(world: SharedWorld) {
    let ann = world.user().await;
    let reply = ann.post("/payments").json(&body()).await.expect(400);
    let problem = reply.json();
    let reference = problem["type"].as_str().unwrap();
    Url::parse(world.base()).unwrap().join(reference).unwrap();
    assert!(problem["title"].is_string(), "{reply}");
    assert_eq!(problem["status"], 400);
    assert_eq!(reply.header("content-type"), "application/problem+json");
    assert_eq!(payments_of(&ann).await, 0);
}

/// 4.4, rule 1: "The first call with a key performs the creation and stores its result under that key."
async fn the_first_call_with_a_key_performs_the_creation(world: SharedWorld) {
    let ann = world.user().await;
    let made = ann.payment("a-key", &body()).await.expect(201);
    let read = ann.get(made.header("location")).await.expect(200).json();
    for (name, value) in body().as_object().unwrap() {
        assert_eq!(&read[name], value);
    }
    assert_eq!(payments_of(&ann).await, 1);
}

/// 4.4, rule 2: "A later call with the same key returns 201 with the stored result and creates nothing new."
async fn a_later_call_with_the_same_key_returns_the_stored_result(world: SharedWorld) {
    let ann = world.user().await;
    let made = ann.payment("a-key", &body()).await.expect(201);
    for _ in 0..5 {
        let later = ann.payment("a-key", &body()).await.expect(201);
        assert_eq!(later.body, made.body);
        assert_eq!(later.header("location"), made.header("location"));
        assert_eq!(later.header("idempotent-replayed"), "true");
    }
    assert_eq!(payments_of(&ann).await, 1);
    ann.payment("another-key", &body()).await.expect(201);
    assert_eq!(payments_of(&ann).await, 2);
}

/// 4.4, rule 3: "Behaviour when the same key arrives with a different body" is Latchkey's choice: 422
/// without creating a payment.
async fn the_same_key_with_a_different_body_is_rejected(world: SharedWorld) {
    let ann = world.user().await;
    ann.payment("a-key", &body()).await.expect(201);
    let mut other = body();
    other["amount"] = json!(1251);
    let reply = ann.payment("a-key", &other).await;
    reply.expect_problem(422, "idempotency_key_reused");
    assert_eq!(payments_of(&ann).await, 1);
}

/// 2 and 3: "`status` is `created` on creation"; Latchkey's choice: captured, then refunded in part, then in
/// full; or canceled.
async fn a_payment_is_created_captured_refunded_or_canceled(world: SharedWorld) {
    let ann = world.user().await;
    let (paid, abandoned) = (ann.pay(1000).await, ann.pay(1000).await);
    for (payment, act, members, status) in [
        (&paid, "captures", json!({}), "captured"),
        (&paid, "refunds", json!({ "amount": 400 }), "partially_refunded"),
        (&paid, "refunds", json!({}), "refunded"),
        (&abandoned, "cancellations", json!({}), "canceled"),
    ] {
        assert_ne!(ann.get(&payment.path).await.expect(200).json()["status"], status);
        let moved = ann.transition(payment, act, &members).await.expect(201);
        assert_eq!(moved.json()["status"], status);
    }
}

/// 7, status 409: "Explicit business conflict"; Latchkey's choice: a transition from another state.
async fn a_transition_from_another_state_answers_409(world: SharedWorld) {
    let ann = world.user().await;
    let payment = ann.pay(1000).await;
    ann.transition(&payment, "cancellations", &json!({}))
        .await
        .expect(201);
    let reply = ann.transition(&payment, "captures", &json!({})).await;
    reply.expect_error(409, "payment_state_conflict");
}

/// Latchkey's choice: payments are visible to their user only, in lists and individually.
async fn payments_are_visible_to_their_user_only(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    let payment = ann.pay(1000).await;
    bob.get(&payment.path).await.expect_error(404, "not_found");
    assert_eq!((payments_of(&ann).await, payments_of(&bob).await), (1, 0));
    world
        .anyone()
        .get(&payment.path)
        .await
        .expect_error(401, "unauthenticated");
    let call = world.anyone().payment(&fresh_key(), &body());
    call.await.expect_error(401, "unauthenticated");
}

on_every_shape!(
    create_payment_answers_201_with_id_and_status,
    create_payment_without_the_header_answers_400_with_a_problem_style_body,
    the_first_call_with_a_key_performs_the_creation,
    a_later_call_with_the_same_key_returns_the_stored_result,
    the_same_key_with_a_different_body_is_rejected,
    a_payment_is_created_captured_refunded_or_canceled,
    a_transition_from_another_state_answers_409,
    payments_are_visible_to_their_user_only,
);
