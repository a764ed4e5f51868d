//! "Anti-CSRF (double submit)".

use super::super::attributes;
use serde_json::json;
use tests::{Call, Caller, PASSWORD, Post, SharedWorld, User, on_every_shape};

/// Every mutating endpoint of a signed-in browser with a valid body. Some end the session, and the last one
/// changes the password.
fn changes(caller: &Caller, user: &User, post: &Post) -> Vec<Call> {
    let edit = caller.patch(&post.path).header("if-match", &post.etag);
    let new_user = json!({ "email": "new@example.org", "password": PASSWORD });
    let new_password = json!({ "current_password": PASSWORD, "new_password": "a new good password" });
    vec![
        caller.post("/posts").json(&json!({ "title": "Another" })),
        edit.json(&json!({ "title": "Changed" })),
        caller
            .post(&post.comments())
            .json(&json!({ "body": "A comment" })),
        caller.delete(&post.path),
        caller.post("/users").json(&new_user),
        caller.login(&user.email, PASSWORD),
        caller.post("/logout"),
        caller.call("PUT", "/me/password").json(&new_password),
    ]
}

/// 5, anti-CSRF 1: "Mutating endpoints require the request header `x-csrf-token` to carry the same value as
/// the cookie `csrf`". 3: the status on a mismatch is Latchkey's choice, 403 `csrf_mismatch`.
async fn statement_1_a_change_needs_the_token_in_header_and_cookie(world: SharedWorld) {
    let ann = world.sign_up().await;
    let post = ann.publish("A post").await;
    let anyone = world.anyone();
    let both = anyone.cookies(&format!("sid={}; csrf={}", ann.sid, ann.csrf));
    let without_cookie = anyone.cookies(&format!("sid={}", ann.sid));
    for forged in [
        both.clone(),
        both.with("x-csrf-token", "another"),
        without_cookie.with("x-csrf-token", &ann.csrf),
    ] {
        for call in changes(&forged, &ann, &post) {
            call.await.expect_error(403, "csrf_mismatch");
        }
    }
    assert_eq!(ann.get(&post.path).await.expect(200).header("etag"), post.etag);
}

/// 5, anti-CSRF 1: with the token of `GET /csrf` in both places every mutating endpoint succeeds.
async fn statement_1_the_same_value_in_both_is_accepted(world: SharedWorld) {
    let ann = world.sign_up().await;
    let post = ann.publish("A post").await;
    let token = world.anyone().get("/csrf").await.expect(200).cookie("csrf");
    for n in 0..changes(&ann, &ann, &post).len() {
        let session = world.log_in(&ann.email, PASSWORD).await;
        let browser = world.anyone().session(&session.sid, &token);
        let reply = changes(&browser, &ann, &post).swap_remove(n).await;
        assert!((200..300).contains(&reply.status), "{reply}");
    }
}

/// 5, anti-CSRF 1: reads need no token.
async fn statement_1_reads_need_no_token(world: SharedWorld) {
    let ann = world.sign_up().await;
    let caller = world.anyone().cookies(&format!("sid={}", ann.sid));
    caller.get("/me").await.expect(200);
    caller.get("/posts").await.expect(200);
}

/// 5, anti-CSRF 2: "Cookies use SameSite in addition to this token".
async fn statement_2_cookies_use_samesite_in_addition(world: SharedWorld) {
    let ann = world.sign_up().await;
    let login = world.anyone().login(&ann.email, PASSWORD).await.expect(200);
    let csrf = world.anyone().get("/csrf").await.expect(200);
    for (reply, cookie) in [(login, "sid"), (csrf, "csrf")] {
        let attributes = attributes(&reply, cookie);
        assert!(attributes.contains(&"samesite=lax".to_owned()), "{reply}");
    }
}

on_every_shape!(
    statement_1_a_change_needs_the_token_in_header_and_cookie,
    statement_1_the_same_value_in_both_is_accepted,
    statement_1_reads_need_no_token,
    statement_2_cookies_use_samesite_in_addition,
);
