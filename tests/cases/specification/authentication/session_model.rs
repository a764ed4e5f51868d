//! "Session model".

use super::super::{SECOND, attributes, in_production};
use serde_json::json;
use std::time::Duration;
use tests::{PASSWORD, Shape, SharedWorld, World, on_every_shape};

const HOUR: Duration = Duration::from_secs(3_600);

/// 5, session model 1: "The client logs in with email and password; the service creates a session (identifier
/// mapped to user id) and sets the cookie `sid`".
async fn statement_1_logging_in_creates_a_session_and_sets_its_cookie(world: SharedWorld) {
    for user in [world.sign_up().await, world.sign_up().await] {
        let reply = world.anyone().login(&user.email, PASSWORD).await.expect(200);
        let caller = world.anyone().cookies(&format!("sid={}", reply.cookie("sid")));
        assert_eq!(caller.get("/me").await.expect(200).json()["id"], json!(user.id));
    }
}

/// 5, session model 2: "The `sid` cookie carries HttpOnly, Secure and SameSite (Lax or Strict) attributes".
async fn statement_2_the_cookie_is_httponly_secure_and_samesite(shape: Shape) {
    for world in [in_production(shape).await, World::start(shape).await] {
        let ann = world.sign_up().await;
        let reply = world.anyone().login(&ann.email, PASSWORD).await.expect(200);
        let attributes = attributes(&reply, "sid");
        for attribute in ["httponly", "secure", "samesite=lax", "path=/"] {
            assert!(attributes.iter().any(|found| found == attribute), "{reply}");
        }
    }
}

/// 5, session model 2: "… and has a reasonable lifetime"; Latchkey's choice: an hour unused, and twelve in
/// total.
async fn statement_2_the_cookie_has_a_reasonable_lifetime(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let ann = world.sign_up().await;
    let reply = world.anyone().login(&ann.email, PASSWORD).await.expect(200);
    assert!(
        attributes(&reply, "sid").contains(&"max-age=43200".to_owned()),
        "{reply}"
    );
    world.advance(HOUR - SECOND);
    ann.get("/me").await.expect(200);
    let unused = world.anyone().cookies(&format!("sid={}", reply.cookie("sid")));
    world.advance(2 * SECOND);
    unused.get("/me").await.expect_error(401, "unauthenticated");
}

/// 5, session model 2: "It is rotated on suspicion of compromise"; Latchkey's choice: the user signs in again
/// or changes the password, which invalidates older identifiers.
async fn statement_2_the_identifier_is_rotated_on_suspicion(world: SharedWorld) {
    let ann = world.sign_up().await;
    let again = ann.login(&ann.email, PASSWORD).await.expect(200);
    ann.get("/me").await.expect_error(401, "unauthenticated");
    let again = world.anyone().session(&again.cookie("sid"), &ann.csrf);
    let body = json!({ "current_password": PASSWORD, "new_password": "a new good password" });
    again.call("PUT", "/me/password").json(&body).await.expect(204);
    again.get("/me").await.expect_error(401, "unauthenticated");
    let new = world.log_in(&ann.email, "a new good password").await;
    new.get("/me").await.expect(200);
}

/// 5, session model 3: "On successful login the session identifier is regenerated, to prevent session
/// fixation".
async fn statement_3_the_identifier_is_regenerated_at_login(world: SharedWorld) {
    let (ann, eve) = (world.sign_up().await, world.sign_up().await);
    for planted in ["an-identifier-of-eves-choice", eve.sid.as_str()] {
        let browser = world.anyone().session(planted, &ann.csrf);
        let reply = browser.login(&ann.email, PASSWORD).await.expect(200);
        assert_ne!(reply.cookie("sid"), planted);
        let known_to_eve = world.anyone().cookies(&format!("sid={planted}"));
        let reply = known_to_eve.get("/me").await;
        reply.expect_error(401, "unauthenticated");
    }
}

/// 5, session model 4: "Later calls (for example `GET /me`) are authenticated by the cookie".
async fn statement_4_later_calls_are_authenticated_by_the_cookie(world: SharedWorld) {
    let ann = world.sign_up().await;
    let caller = world.anyone().cookies(&format!("sid={}", ann.sid));
    for path in ["/me", "/posts", &format!("/users/{}", ann.id)] {
        caller.get(path).await.expect(200);
        let anonymous = world.anyone().get(path).await;
        anonymous.expect_error(401, "unauthenticated");
    }
}

/// 5, session model 5: "Changing a password invalidates the user's sessions (see section 3)", and the access
/// tokens by the revocation list.
async fn statement_5_changing_a_password_invalidates_the_sessions(world: SharedWorld) {
    let (ann, app) = world.user_and_app().await;
    let (elsewhere, bob) = (world.log_in(&ann.email, PASSWORD).await, world.sign_up().await);
    let tokens = app.tokens(&ann, "posts:read").await;
    let body = json!({ "current_password": PASSWORD, "new_password": "a new good password" });
    ann.call("PUT", "/me/password").json(&body).await.expect(204);
    for session in [&ann, &elsewhere] {
        session.get("/me").await.expect_error(401, "unauthenticated");
    }
    tokens.expect_revoked(&world, &app).await;
    bob.get("/me").await.expect(200);
}

on_every_shape!(
    statement_1_logging_in_creates_a_session_and_sets_its_cookie,
    statement_2_the_cookie_is_httponly_secure_and_samesite,
    statement_2_the_cookie_has_a_reasonable_lifetime,
    statement_2_the_identifier_is_rotated_on_suspicion,
    statement_3_the_identifier_is_regenerated_at_login,
    statement_4_later_calls_are_authenticated_by_the_cookie,
    statement_5_changing_a_password_invalidates_the_sessions,
);
