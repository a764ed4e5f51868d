//! Section 4.2 of the API specification: users and sessions. Password resets are in `password_reset`.

use super::{WRONG, attributes, in_production};
use serde_json::{Value, json};
use tests::{PASSWORD, Shape, SharedWorld, World, on_every_shape};

/// 4.2, create user: "Body: `email` (required), `password` (required)"; Latchkey's choice: 201 with the
/// user's record, which has no password, and its `Location`.
async fn create_user_takes_email_and_password(world: SharedWorld) {
    let email = world.fresh_email();
    let call = world.anyone().post("/users");
    let made = call
        .json(&json!({ "email": email, "password": PASSWORD }))
        .await
        .expect(201);
    let user = made.json();
    assert_eq!(user["email"], json!(email));
    assert!(!made.text().contains("password"), "{made}");
    assert_eq!(made.header("location"), format!("/users/{}", user["id"]));
    world.anyone().login(&email, PASSWORD).await.expect(200);
}

/// 4.2, create user: both are required; Latchkey's choice: 422 names the one that is missing.
async fn create_user_requires_email_and_password(world: SharedWorld) {
    let create = |body: Value| world.anyone().post("/users").json(&body);
    let (email, password) = (json!("ann@example.org"), json!(PASSWORD));
    let reply = create(json!({ "email": email })).await;
    reply.expect_validation_errors(&["/password"]);
    let reply = create(json!({ "password": password })).await;
    reply.expect_validation_errors(&["/email"]);
    let reply = create(json!({ "email": email, "password": password, "role": "admin" })).await;
    reply.expect_validation_errors(&["/role"]);
}

/// 4.2, log in: "Sets cookie `sid` (HttpOnly, SameSite, Secure)"; Latchkey's choice: 200 with the user's
/// record, and the password's field is `password`.
async fn log_in_sets_the_session_cookie(world: SharedWorld) {
    let ann = world.sign_up().await;
    let body = json!({ "email": ann.email, "password": PASSWORD });
    let reply = world.anyone().post("/login").json(&body).await.expect(200);
    assert_eq!(reply.json()["id"], json!(ann.id));
    let attributes = attributes(&reply, "sid");
    for attribute in ["httponly", "samesite=lax", "secure"] {
        assert!(attributes.iter().any(|found| found == attribute), "{reply}");
    }
}

/// 4.2, log in: "401 with empty body for unknown email".
async fn log_in_answers_401_with_an_empty_body_for_an_unknown_email(world: SharedWorld) {
    let reply = world.anyone().login("nobody@example.org", PASSWORD).await;
    let reply = reply.expect(401);
    assert!(reply.body.is_empty(), "{reply}");
    assert!(reply.set_cookie("sid").is_none(), "{reply}");
}

/// 4.2, log in: "401 with empty body for … wrong password", indistinguishable from an unknown e-mail address.
async fn log_in_answers_401_with_an_empty_body_for_a_wrong_password(world: SharedWorld) {
    let ann = world.sign_up().await;
    let wrong = world.anyone().login(&ann.email, WRONG).await.expect(401);
    assert!(wrong.body.is_empty(), "{wrong}");
    assert!(wrong.set_cookie("sid").is_none(), "{wrong}");
    let unknown = world.anyone().login("nobody@example.org", WRONG).await;
    assert_eq!(wrong.comparable_parts(), unknown.comparable_parts());
}

/// 4.2, current user: "Cookie `sid` … 200"; Latchkey's choice: the record, and how the caller authenticated.
async fn current_user_is_known_by_the_session_cookie(world: SharedWorld) {
    let ann = world.sign_up().await;
    let caller = world.anyone().cookies(&format!("sid={}", ann.sid));
    let me = caller.get("/me").await.expect(200).json();
    assert_eq!((&me["id"], &me["email"]), (&json!(ann.id), &json!(ann.email)));
    assert_eq!(me["auth"]["method"], "session");
}

/// 4.2, current user: "or header `Authorization: Bearer <ACCESS_TOKEN>` … 200".
async fn current_user_is_known_by_the_bearer_token(world: SharedWorld) {
    let (ann, app) = world.user_and_app().await;
    let tokens = app.tokens(&ann, "profile:read").await;
    let caller = world.anyone().bearer(&tokens.access);
    let me = caller.get("/me").await.expect(200).json();
    assert_eq!((&me["id"], &me["email"]), (&json!(ann.id), &json!(ann.email)));
    assert_eq!(me["auth"]["method"], "bearer");
}

/// 4.2, current user: the errors are Latchkey's choice: 401 without valid credentials.
async fn current_user_requires_the_cookie_or_a_token(world: SharedWorld) {
    let anyone = world.anyone();
    anyone.get("/me").await.expect_error(401, "unauthenticated");
    let stale = anyone.cookies("sid=stale").get("/me").await;
    stale.expect_error(401, "unauthenticated");
    let nonsense = anyone.bearer("nonsense").get("/me").await;
    nonsense.expect_error(401, "invalid_token");
}

/// 4.2, anti-forgery token: "200 with JSON `{ token }` (string, random UUID)".
async fn anti_forgery_token_is_a_random_uuid(world: SharedWorld) {
    let ask = || async {
        let body = world.anyone().get("/csrf").await.expect(200).json();
        assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
        body["token"].as_str().unwrap().to_owned()
    };
    let (token, other) = (ask().await, ask().await);
    let lengths: Vec<usize> = token.split('-').map(str::len).collect();
    assert_eq!(lengths, [8, 4, 4, 4, 12], "{token}");
    let digits = token.replace('-', "");
    assert!(digits.bytes().all(|byte| byte.is_ascii_hexdigit()), "{token}");
    assert_eq!(digits.as_bytes()[12], b'4', "a random UUID (RFC 9562): {token}");
    assert_ne!(token, other);
}

/// 4.2, anti-forgery token: "also sets cookie `csrf` (not HttpOnly, SameSite=Lax, path `/`)".
async fn anti_forgery_token_is_also_in_a_cookie(world: SharedWorld) {
    let reply = world.anyone().get("/csrf").await.expect(200);
    assert_eq!(reply.json()["token"], json!(reply.cookie("csrf")));
    let attributes = attributes(&reply, "csrf");
    let has = |name: &str| attributes.iter().any(|found| found == name);
    assert!(has("samesite=lax") && has("path=/"), "{reply}");
    assert!(!has("httponly"), "{reply}");
}

/// 4.2, anti-forgery token: the cookie is "Secure in production", and not on plain http.
async fn anti_forgery_cookie_is_secure_in_production(shape: Shape) {
    for (world, is_secure) in [
        (in_production(shape).await, true),
        (World::start(shape).await, false),
    ] {
        let reply = world.anyone().get("/csrf").await.expect(200);
        let attributes = attributes(&reply, "csrf");
        assert_eq!(attributes.contains(&"secure".to_owned()), is_secure, "{reply}");
    }
}

/// 4.2, protected resource: "Header `Authorization: Bearer <ACCESS_TOKEN>` … 200"; Latchkey's choice: no
/// other credentials are accepted, and no scope is needed.
async fn protected_resource_is_for_bearer_tokens(world: SharedWorld) {
    let (ann, app) = world.user_and_app().await;
    let tokens = app.tokens(&ann, "posts:read").await;
    let caller = world.anyone().bearer(&tokens.access);
    caller.get("/protected").await.expect(200);
    for other in [
        world.anyone(),
        world.anyone().cookies(&format!("sid={}", ann.sid)),
    ] {
        let reply = other.get("/protected").await;
        reply.expect_error(401, "unauthenticated");
    }
}

/// 4.2: the logout endpoint is Latchkey's choice: `POST /logout` ends the session, clears its cookie and
/// answers 204.
async fn logout_ends_the_session(world: SharedWorld) {
    let ann = world.sign_up().await;
    let out = ann.post("/logout").await.expect(204);
    assert!(out.body.is_empty(), "{out}");
    assert!(attributes(&out, "sid").contains(&"max-age=0".to_owned()), "{out}");
    ann.get("/me").await.expect_error(401, "unauthenticated");
}

on_every_shape!(
    create_user_takes_email_and_password,
    create_user_requires_email_and_password,
    log_in_sets_the_session_cookie,
    log_in_answers_401_with_an_empty_body_for_an_unknown_email,
    log_in_answers_401_with_an_empty_body_for_a_wrong_password,
    current_user_is_known_by_the_session_cookie,
    current_user_is_known_by_the_bearer_token,
    current_user_requires_the_cookie_or_a_token,
    anti_forgery_token_is_a_random_uuid,
    anti_forgery_token_is_also_in_a_cookie,
    anti_forgery_cookie_is_secure_in_production,
    protected_resource_is_for_bearer_tokens,
    logout_ends_the_session,
);
