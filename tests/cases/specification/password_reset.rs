//! Sections 4.2 and 6 of the API specification: password resets. The endpoints, which are "not shown" there,
//! are Latchkey's choice: one mails a link, the other sets the password with the token in the link.

use serde_json::{Value, json};
use storage::fetch_one;
use tests::{Call, PASSWORD, SharedWorld, User, World, on_every_shape};

const NEW_PASSWORD: &str = "a new good password";

fn request(world: &World, email: &str) -> Call {
    world
        .anyone()
        .post("/password-resets")
        .json(&json!({ "email": email }))
}

fn confirm(world: &World, token: &str) -> Call {
    let body = json!({ "token": token, "new_password": NEW_PASSWORD });
    world.anyone().post("/password-resets/confirmations").json(&body)
}

async fn token(world: &World, user: &User) -> String {
    request(world, &user.email).await.expect(202);
    world.mail(&user.email, "Reset your password", 1).await.token()
}

/// 4.2, password reset: Latchkey's choice: a request for a reset answers 202 with no body, for e-mail
/// addresses with and without an account.
async fn a_reset_is_requested_by_email(world: SharedWorld) {
    let ann = world.sign_up().await;
    for email in [ann.email, world.fresh_email()] {
        let reply = request(&world, &email).await.expect(202);
        assert!(reply.body.is_empty(), "{reply}");
    }
}

/// 4.2, password reset: Latchkey's choice: a confirmation with the token from the mail and a new password
/// answers 204 with no body.
async fn a_reset_is_confirmed_with_the_token_from_the_mail(world: SharedWorld) {
    let ann = world.sign_up().await;
    let token = token(&world, &ann).await;
    let reply = confirm(&world, &token).await.expect(204);
    assert!(reply.body.is_empty(), "{reply}");
    world.anyone().login(&ann.email, NEW_PASSWORD).await.expect(200);
    world.anyone().login(&ann.email, PASSWORD).await.expect(401);
}

/// 4.2, password reset: Latchkey's choice: an unknown or used token answers 422 `reset_token_invalid`.
async fn a_reset_requires_a_valid_token(world: SharedWorld) {
    let ann = world.sign_up().await;
    let token = token(&world, &ann).await;
    let other = format!("{}{}", &token[1..], &token[..1]);
    confirm(&world, &other)
        .await
        .expect_error(422, "reset_token_invalid");
    confirm(&world, &token).await.expect(204);
    confirm(&world, &token)
        .await
        .expect_error(422, "reset_token_invalid");
}

/// 6: "Security events recorded in structured logs, each correlated by a `traceId`: … password reset".
async fn a_reset_is_recorded_with_the_trace_id_of_its_response(world: World) {
    let ann = world.sign_up().await;
    let token = token(&world, &ann).await;
    let reply = confirm(&world, &token).await.expect(204);
    let log = world.log();
    let lines = log
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut logged = lines.filter(|line| line["event"] == "authn_password_reset");
    let logged = logged.next().unwrap();
    assert_eq!(logged["traceId"], reply.correlation_id(), "{logged}");
    let context = (&logged["user_id"], &logged["address"], &logged["outcome"]);
    assert_eq!(
        context,
        (
            &json!(ann.id),
            &json!(world.anyone().address()),
            &json!("success")
        )
    );
    let count = "SELECT COUNT(*) FROM security_events WHERE name = 'authn_password_reset' AND trace_id = $1";
    let db = world.db().await;
    let (stored,) = fetch_one!(db.reader(), (i64,), count, reply.correlation_id()).unwrap();
    assert_eq!(stored, 1);
}

/// 6: requests for a reset are recorded too, with and without an account.
async fn reset_requests_are_recorded(world: SharedWorld) {
    let ann = world.sign_up().await;
    for (email, user) in [(ann.email.clone(), Some(ann.id)), (world.fresh_email(), None)] {
        let reply = request(&world, &email).await.expect(202);
        let query = "SELECT name, user_id FROM security_events WHERE trace_id = $1";
        let db = world.db().await;
        let event = fetch_one!(db.reader(), (String, Option<i64>), query, reply.correlation_id());
        assert_eq!(event.unwrap(), ("authn_password_reset_request".to_owned(), user));
    }
}

on_every_shape!(
    a_reset_is_requested_by_email,
    a_reset_is_confirmed_with_the_token_from_the_mail,
    a_reset_requires_a_valid_token,
    a_reset_is_recorded_with_the_trace_id_of_its_response,
    reset_requests_are_recorded,
);
