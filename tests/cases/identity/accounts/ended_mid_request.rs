//! Sessions that end while a request body is still arriving. Such a request must have no effect, because an
//! attacker may have sent it.

use serde_json::json;
use tests::{Authenticator, PASSWORD, RawConnection, SharedWorld, User, World, on_every_shape};

const CONFIRM: &str = "Confirm your e-mail address";
const CONFIRM_NEW: &str = "Confirm your new e-mail address";

/// Begins a POST in another session of this user. The session has been checked, and the body is still
/// missing.
async fn begin(world: &World, user: &User, path: &str, body: &str) -> RawConnection {
    let body_of_login = json!({ "email": user.email, "password": PASSWORD });
    let signed_in = world
        .anyone()
        .post("/login")
        .json(&body_of_login)
        .await
        .expect(200);
    begin_in(world, &signed_in.cookie("sid"), &format!("POST {path}"), body).await
}

/// Begins a request in the session with this `sid`, like [`begin`].
async fn begin_in(world: &World, sid: &str, operation: &str, body: &str) -> RawConnection {
    let mut raw = RawConnection::connect(world.api_ports()[0]).await;
    let head = format!(
        "{operation} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         cookie: sid={sid}; csrf=x\r\nx-csrf-token: x\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n",
        body.len(),
    );
    raw.send(head).await;
    // The program sends this status when it begins to read the body, which is after the check of the session.
    raw.read_until("100 Continue").await;
    raw
}

async fn a_session_ended_mid_request_does_not_enable_mfa(world: SharedWorld) {
    let ann = world.user().await;
    let app = Authenticator::begin(&ann).await;
    let body = json!({ "otp": app.code(&world, 0) }).to_string();
    let mut raw = begin(&world, &ann, "/me/mfa/totp/verifications", &body).await;
    let change = json!({ "current_password": PASSWORD, "new_password": "a new good password" });
    ann.call("PUT", "/me/password").json(&change).await.expect(204);
    raw.send(&body).await;
    let answer = raw.read_to_end().await;
    assert!(answer.contains("HTTP/1.1 401"), "{answer}");
    world.log_in(&ann.email, "a new good password").await;
}

async fn a_session_ended_mid_request_does_not_disable_mfa(world: SharedWorld) {
    let ann = world.user().await;
    let app = Authenticator::enable(&world, &ann).await;
    let ann = world.log_in_with(&app.sign_in(&world, &ann)).await;
    let body = json!({ "password": PASSWORD, "otp": app.recovery_codes[0] }).to_string();
    let mut raw = begin_in(&world, &ann.sid, "DELETE /me/mfa/totp", &body).await;
    ann.post("/logout").await.expect(204);
    raw.send(&body).await;
    let answer = raw.read_to_end().await;
    assert!(answer.contains("HTTP/1.1 401"), "{answer}");
    assert!(!answer.to_lowercase().contains("set-cookie: sid="), "{answer}");
    let password_alone = json!({ "email": ann.email, "password": PASSWORD });
    let refused = world.anyone().post("/login").json(&password_alone).await;
    refused.expect_error(403, "mfa_required");
}

async fn a_session_ended_mid_request_mails_no_link(world: SharedWorld) {
    let ann = world.sign_up().await;
    world.mail(&ann.email, CONFIRM, 1).await;
    let mut raw = begin(&world, &ann, "/email-verifications", "{}").await;
    let to = world.fresh_email();
    let change = json!({ "email": to, "current_password": PASSWORD });
    ann.post("/email-verifications").json(&change).await.expect(202);
    let token = world.mail(&to, CONFIRM_NEW, 1).await.token();
    ann.confirm_email(&token).await.expect(204);
    raw.send("{}").await;
    raw.read_to_end().await;
    world.wait_until_mailed().await;
    let mails = world.mails(&ann.email);
    let links = mails.iter().filter(|mail| mail.header("subject") == CONFIRM);
    assert_eq!(links.count(), 1, "only the link of the sign-up: {mails:?}");
}

async fn a_session_ended_mid_request_confirms_no_address(world: SharedWorld) {
    let ann = world.sign_up().await;
    let token = world.mail(&ann.email, CONFIRM, 1).await.token();
    let body = json!({ "token": token }).to_string();
    let signed_in = world.log_in(&ann.email, PASSWORD).await;
    let mut raw = begin_in(
        &world,
        &signed_in.sid,
        "POST /email-verifications/confirmations",
        &body,
    )
    .await;
    signed_in.post("/logout").await.expect(204);
    raw.send(&body).await;
    let answer = raw.read_to_end().await;
    assert!(answer.contains("HTTP/1.1 401"), "{answer}");
    let me = ann.get("/me").await.expect(200).json();
    assert_eq!(me["email_verified"], false);
    ann.confirm_email(&token).await.expect(204);
}

on_every_shape!(
    a_session_ended_mid_request_confirms_no_address,
    a_session_ended_mid_request_does_not_enable_mfa,
    a_session_ended_mid_request_does_not_disable_mfa,
    a_session_ended_mid_request_mails_no_link,
);
