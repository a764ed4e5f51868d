//! Section 7 of the API specification: errors.

use super::{NO_POST, WRONG, fail};
use serde_json::{Value, json};
use tests::{Caller, PASSWORD, Shape, SharedWorld, World, on_every_shape};
use url::Url;

/// 7, status 400: "Required header `Idempotency-Key` missing on payment creation"; and the problem-style
/// body, "used for the missing idempotency key", independent of `Accept`. Latchkey's choice: it precedes the
/// 401.
async fn a_payment_without_idempotency_key_answers_400(world: SharedWorld) {
    let ann = world.user().await;
    let body = json!({ "amount": 1250, "currency": "EUR" });
    for caller in [
        Caller::clone(&ann),
        world.anyone(),
        ann.with("accept", "application/json"),
    ] {
        let reply = caller.post("/payments").json(&body).await;
        let reply = reply.expect_problem(400, "idempotency_key_missing");
        let problem = reply.json();
        assert!(
            problem["type"].is_string() && problem["title"].is_string(),
            "{reply}"
        );
        assert_eq!(problem["status"], 400);
    }
    let none = ann.get("/payments").await.expect(200).json();
    assert_eq!(none["items"], json!([]));
}

/// 7, status 401: "Not authenticated".
async fn unauthenticated_requests_answer_401(world: SharedWorld) {
    let anyone = world.anyone();
    anyone.get("/me").await.expect_error(401, "unauthenticated");
    let invalid = anyone.bearer("no.such.token").get("/me").await;
    invalid.expect_error(401, "invalid_token");
}

/// 7, status 401: "also wrong credentials at login (empty body)".
async fn wrong_credentials_at_login_answer_401_with_an_empty_body(world: SharedWorld) {
    let ann = world.user().await;
    for (email, password) in [(ann.email.as_str(), WRONG), ("nobody@example.org", PASSWORD)] {
        let reply = world.anyone().login(email, password).await.expect(401);
        assert!(reply.body.is_empty(), "{reply}");
        assert!(!reply.has("content-type"), "{reply}");
    }
}

/// 7, status 404: "Post … does not exist"; Latchkey's choice: a draft is reported as missing to callers that
/// may not read it.
async fn a_post_that_does_not_exist_answers_404(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    let draft = ann.draft("A draft").await;
    let missing = bob.get(NO_POST).await.expect_error(404, "not_found");
    let hidden = bob.get(&draft.path).await.expect_error(404, "not_found");
    assert_eq!(missing.comparable_parts(), hidden.comparable_parts());
    bob.delete(&draft.path).await.expect_error(404, "not_found");
}

/// 7, status 404: "(or parent post of a comment) does not exist".
async fn comments_of_a_post_that_does_not_exist_answer_404(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    let comment = ann.comment(&post, "A comment").await;
    ann.delete(&post.path).await.expect(204);
    let body = json!({ "body": "Another" });
    for call in [
        ann.post(&post.comments()).json(&body),
        ann.get(&post.comments()),
        ann.get(&comment.path),
    ] {
        call.await.expect_error(404, "not_found");
    }
}

/// 7, status 409: "Explicit business conflict"; Latchkey's choice: signing up with an address that has an
/// account.
async fn a_business_conflict_answers_409(world: SharedWorld) {
    let ann = world.user().await;
    let body = json!({ "email": ann.email, "password": PASSWORD });
    let reply = world.anyone().post("/users").json(&body).await;
    reply.expect_error(409, "email_taken");
}

/// 7, status 412: "`If-Match` tag does not match the current version of the post. The client re-reads, merges
/// and replays".
async fn a_stale_tag_answers_412(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A title").await;
    let edit = |tag: &str, members: Value| ann.patch(&post.path).header("if-match", tag).json(&members);
    let one_tab = edit(&post.etag, json!({ "title": "Another title" })).await;
    one_tab.expect(200);
    let other_tab = edit(&post.etag, json!({ "body": "Another body" })).await;
    other_tab.expect_error(412, "precondition_failed");
    let read_again = ann.get(&post.path).await.expect(200);
    let replayed = edit(read_again.header("etag"), json!({ "body": "Another body" })).await;
    let merged = replayed.expect(200).json();
    assert_eq!(
        (&merged["title"], &merged["body"]),
        (&json!("Another title"), &json!("Another body"))
    );
}

/// 7, status 422: "Validation failure on write"; Latchkey's choice: `errors` lists each invalid member.
async fn a_validation_failure_on_write_answers_422(world: SharedWorld) {
    let ann = world.user().await;
    let call = ann
        .post("/posts")
        .json(&json!({ "title": "", "status": "archived" }));
    call.await.expect_validation_errors(&["/title", "/status"]);
    let call = world.anyone().post("/users");
    let reply = call
        .json(&json!({ "email": "no address", "password": "short" }))
        .await;
    reply.expect_validation_errors(&["/email", "/password"]);
}

/// 7, status 422: "including an unknown body field".
async fn an_unknown_body_field_answers_422(world: SharedWorld) {
    let ann = world.user().await;
    let login = json!({ "email": ann.email, "password": PASSWORD, "remember": true });
    let reply = world.anyone().post("/login").json(&login).await;
    reply.expect_validation_errors(&["/remember"]);
    let call = ann
        .post("/posts")
        .json(&json!({ "title": "A post", "author_id": 1 }));
    call.await.expect_validation_errors(&["/author_id"]);
}

/// 7, status 428: "PATCH sent without `If-Match`".
async fn a_patch_without_if_match_answers_428(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    let call = ann.patch(&post.path).json(&json!({ "title": "Changed" }));
    call.await.expect_error(428, "precondition_required");
}

/// 7, body shapes, stable JSON error: "`code`, `message`, `correlationId`".
async fn the_stable_json_error_has_three_members(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    let anyone = world.anyone();
    for (call, status, code) in [
        (anyone.get("/posts"), 401, "unauthenticated"),
        (ann.get(NO_POST), 404, "not_found"),
        (ann.get("/no/such/route"), 404, "not_found"),
        (ann.call("PUT", &post.path), 405, "method_not_allowed"),
        (
            ann.patch(&post.path).json(&json!({})),
            428,
            "precondition_required",
        ),
        (
            ann.post("/posts").body("application/json", "{"),
            400,
            "malformed_json",
        ),
    ] {
        let reply = call.await.expect(status);
        assert_eq!(reply.header("content-type"), "application/json");
        let body = reply.json();
        assert_eq!(body.as_object().unwrap().len(), 3, "{reply}");
        assert_eq!(body["code"], code);
        assert!(body["message"].as_str().is_some_and(|text| !text.is_empty()));
        assert_eq!(body["correlationId"], reply.header("x-correlation-id"));
    }
}

/// 7, body shapes, problem-style body: "`type` (a URI reference), `title`, `status` (integer)"; Latchkey's
/// choice: for any error, on request.
async fn the_problem_style_body_has_type_title_and_status(world: SharedWorld) {
    let call = world.anyone().get("/posts");
    let reply = call
        .header("accept", "application/problem+json")
        .await
        .expect(401);
    assert_eq!(reply.header("content-type"), "application/problem+json");
    let body = reply.json();
    let reference = body["type"].as_str().unwrap();
    Url::parse(world.base()).unwrap().join(reference).unwrap();
    assert!(
        body["title"].as_str().is_some_and(|title| !title.is_empty()),
        "{reply}"
    );
    assert_eq!(body["status"], 401);
}

/// 7: "the response given to a blocked login after lockout" is Latchkey's choice: 429 with `Retry-After`.
async fn a_blocked_login_answers_429(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let ann = world.user().await;
    fail(&world.anyone(), &ann.email, 5).await;
    for password in [WRONG, PASSWORD] {
        let reply = world.anyone().login(&ann.email, password).await;
        let reply = reply.expect_error(429, "login_locked");
        assert_eq!(reply.header("retry-after"), "900");
    }
}

on_every_shape!(
    a_payment_without_idempotency_key_answers_400,
    unauthenticated_requests_answer_401,
    wrong_credentials_at_login_answer_401_with_an_empty_body,
    a_post_that_does_not_exist_answers_404,
    comments_of_a_post_that_does_not_exist_answer_404,
    a_business_conflict_answers_409,
    a_stale_tag_answers_412,
    a_validation_failure_on_write_answers_422,
    an_unknown_body_field_answers_422,
    a_patch_without_if_match_answers_428,
    the_stable_json_error_has_three_members,
    the_problem_style_body_has_type_title_and_status,
    a_blocked_login_answers_429,
);
