//! Repeated requests return the same response and have no effect.

use super::{expect_replay, payment, rows};
use serde_json::json;
use tests::{Call, SharedWorld, World, fresh_key, on_every_shape};

async fn a_replay_returns_the_stored_response_and_creates_nothing(mut world: World) {
    let ann = world.user().await;
    let key = fresh_key();
    let first = ann.payment(&key, &payment()).await.expect(201);
    let replay_everywhere = async |world: &World| {
        for replica in world.at_each_api(&ann) {
            for _ in 0..100 {
                expect_replay(&replica.payment(&key, &payment()).await, &first);
            }
        }
    };
    replay_everywhere(&world).await;
    world.stop().await;
    world.restart().await;
    replay_everywhere(&world).await;
    world.kill();
    world.restart().await;
    replay_everywhere(&world).await;
    let made = first.json();
    let path = first.header("location").to_owned();
    let capture = || {
        ann.post(&format!("{path}/captures"))
            .key(&key)
            .json(&json!({ "amount": 5 }))
    };
    let captured = capture().await.expect(201);
    assert_eq!(captured.json()["status"], "captured");
    expect_replay(&capture().await, &captured);
    // A later state of the payment does not change the stored response.
    expect_replay(&ann.payment(&key, &payment()).await, &first);
    assert_eq!(made["status"], "created");
    assert_eq!(rows(&ann, &world, "payments").await, 1);
}

async fn every_write_with_a_key_runs_once(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    let (capture, cancel, refund) = (ann.pay(100).await, ann.pay(100).await, ann.pay(100).await);
    ann.transition(&refund, "captures", &json!({})).await.expect(201);
    for (path, members) in [
        ("/payments".to_owned(), payment()),
        (format!("{}/captures", capture.path), json!({})),
        (format!("{}/cancellations", cancel.path), json!({})),
        (format!("{}/refunds", refund.path), json!({ "amount": 10 })),
        (
            "/posts".to_owned(),
            json!({ "title": "A title", "body": "é \u{1f980}" }),
        ),
        (post.comments(), json!({ "body": "A comment" })),
    ] {
        let key = fresh_key();
        let call = || ann.post(&path).key(&key).json(&members);
        let first = call().await.expect(201);
        for _ in 0..3 {
            expect_replay(&call().await, &first);
        }
        let other = json!({ "title": "Another", "body": "Another" });
        let other = ann.post(&path).key(&key).json(&other).await;
        assert_eq!(other.status, 422, "{path}: {other}");
    }
    let refunded = ann.get(&refund.path).await.expect(200).json();
    assert_eq!(refunded["amount_refunded"], 10);
    let posts = ann
        .get(&format!("/posts?author_id={}", ann.id))
        .await
        .expect(200)
        .json();
    assert_eq!(posts["items"].as_array().map(Vec::len), Some(2));
    let comments = ann.get(&post.comments()).await.expect(200).json();
    assert_eq!(comments["items"].as_array().map(Vec::len), Some(1));
}

async fn a_replay_returns_the_post_as_it_was_created(world: SharedWorld) {
    let ann = world.user().await;
    let key = fresh_key();
    let make = || {
        ann.post("/posts")
            .key(&key)
            .json(&json!({ "title": "As it was" }))
    };
    let made = make().await.expect(201);
    let patch = ann
        .patch(made.header("location"))
        .header("if-match", made.header("etag"));
    patch.json(&json!({ "title": "As it is" })).await.expect(200);
    let replayed = make().await;
    expect_replay(&replayed, &made);
    ann.delete(made.header("location")).await.expect(204);
    expect_replay(&make().await, &made);
    assert_eq!(replayed.json()["title"], "As it was");
}

/// Bodies are compared by their members and values, not by their spelling.
async fn member_order_and_white_space_do_not_change_a_body(world: SharedWorld) {
    let ann = world.user().await;
    let key = fresh_key();
    let call = |body: &str| -> Call { ann.post("/payments").key(&key).body("application/json", body) };
    let first = r#"{"amount":5,"currency":"EUR","metadata":{"a":"1","b":"2"}}"#;
    let first = call(first).await.expect(201);
    for same in [
        r#"{"metadata":{"b":"2","a":"1"},"currency":"EUR","amount":5}"#,
        "\n{ \"amount\" : 5,\t\"currency\":\"\\u0045UR\", \"metadata\":{\"a\":\"1\" , \"b\":\"2\"} }\r\n",
    ] {
        expect_replay(&call(same).await, &first);
    }
    for other in [
        r#"{"amount":6,"currency":"EUR","metadata":{"a":"1","b":"2"}}"#,
        r#"{"amount":5,"currency":"USD","metadata":{"a":"1","b":"2"}}"#,
        r#"{"amount":5,"currency":"EUR","metadata":{"a":"2","b":"1"}}"#,
        r#"{"amount":5,"currency":"EUR","metadata":{"a":"1"}}"#,
        r#"{"amount":5,"currency":"EUR"}"#,
    ] {
        call(other).await.expect_problem(422, "idempotency_key_reused");
    }
    assert_eq!(rows(&ann, &world, "payments").await, 1);
}

async fn errors_are_not_stored(world: SharedWorld) {
    let ann = world.user().await;
    let key = fresh_key();
    let wrong = ann
        .payment(&key, &json!({ "amount": 0, "currency": "EUR" }))
        .await;
    wrong.expect_validation_errors(&["/amount"]);
    let broken = ann.post("/payments").key(&key).body("application/json", "{");
    broken.await.expect_error(400, "malformed_json");
    let text = ann.post("/payments").key(&key).body("text/plain", "x");
    text.await.expect_error(415, "unsupported_media_type");
    world
        .anyone()
        .payment(&key, &payment())
        .await
        .expect_error(401, "unauthenticated");
    let made = ann.payment(&key, &payment()).await.expect(201);
    assert!(!made.has("idempotent-replayed"), "{made}");
    // A rejected transition runs with the same key once it is possible.
    let path = made.header("location");
    let refund = || {
        ann.post(&format!("{path}/refunds"))
            .key(&key)
            .json(&json!({ "amount": 1 }))
    };
    refund().await.expect_error(409, "payment_state_conflict");
    ann.post(&format!("{path}/captures")).key("c").await.expect(201);
    let refunded = refund().await.expect(201);
    assert_eq!(refunded.json()["amount_refunded"], 1);
    expect_replay(&refund().await, &refunded);
}

/// A caller without current access does not get the stored response.
async fn replays_require_current_access(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    let post = ann.publish("A post").await;
    let key = fresh_key();
    let comment = || {
        bob.post(&post.comments())
            .key(&key)
            .json(&json!({ "body": "A comment" }))
    };
    comment().await.expect(201);
    let hide = ann.patch(&post.path).header("if-match", "*");
    hide.json(&json!({ "status": "draft" })).await.expect(200);
    comment().await.expect_error(404, "not_found");
    bob.payment(&key, &payment()).await.expect(201);
    bob.post("/logout").await.expect(204);
    bob.payment(&key, &payment())
        .await
        .expect_error(401, "unauthenticated");
}

on_every_shape!(
    a_replay_returns_the_stored_response_and_creates_nothing,
    every_write_with_a_key_runs_once,
    a_replay_returns_the_post_as_it_was_created,
    member_order_and_white_space_do_not_change_a_body,
    errors_are_not_stored,
    replays_require_current_access,
);
