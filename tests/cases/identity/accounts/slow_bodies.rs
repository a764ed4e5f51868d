//! A session that ends while a request of its is still arriving: whoever has it may be somebody else.

use serde_json::json;
use tests::{Authenticator, PASSWORD, Person, Raw, World, on_every_shape};

const CONFIRM: &str = "Confirm your e-mail address";
const CONFIRM_NEW: &str = "Confirm your new e-mail address";

/// A POST in another session of this person's, which was looked at already; its body is still to come.
async fn begin(world: &World, person: &Person, path: &str, body: &str) -> Raw {
    let body_of_login = json!({ "email": person.email, "password": PASSWORD });
    let signed_in = world
        .anyone()
        .post("/login")
        .json(&body_of_login)
        .await
        .expect(200);
    let mut raw = Raw::connect(world.api_ports()[0]).await;
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         cookie: sid={}; csrf=x\r\nx-csrf-token: x\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n",
        body.len(),
        signed_in.cookie("sid"),
    );
    raw.send(head).await;
    // Said when the body is asked for, which is after the session was.
    raw.read_until("100 Continue").await;
    raw
}

async fn it_turns_no_second_step_on(world: World) {
    let ann = world.sign_up().await;
    let app = Authenticator::begin(&ann).await;
    let body = json!({ "otp": app.code(&world, 0) }).to_string();
    let mut raw = begin(&world, &ann, "/me/mfa/totp/verifications", &body).await;
    let change = json!({ "current_password": PASSWORD, "new_password": "a new good password" });
    ann.call("PUT", "/me/password").json(&change).await.expect(204);
    raw.send(&body).await;
    let answer = raw.read_to_end().await;
    assert!(answer.contains("HTTP/1.1 404"), "{answer}");
    world.log_in(&ann.email, "a new good password").await;
}

async fn it_mails_no_link_to_an_address_that_was_replaced(world: World) {
    let ann = world.sign_up().await;
    world.letter(&ann.email, CONFIRM, 1).await;
    let mut raw = begin(&world, &ann, "/email-verifications", "{}").await;
    let to = world.fresh_email();
    let change = json!({ "email": to, "current_password": PASSWORD });
    ann.post("/email-verifications").json(&change).await.expect(202);
    let token = json!({ "token": world.letter(&to, CONFIRM_NEW, 1).await.token() });
    let confirm = world.anyone().post("/email-verifications/confirmations");
    confirm.json(&token).await.expect(204);
    raw.send("{}").await;
    raw.read_to_end().await;
    world.until_mailed().await;
    let letters = world.letters(&ann.email);
    let links = letters
        .iter()
        .filter(|letter| letter.header("subject") == CONFIRM);
    assert_eq!(links.count(), 1, "that of the sign-up: {letters:?}");
}

on_every_shape!(
    it_turns_no_second_step_on,
    it_mails_no_link_to_an_address_that_was_replaced,
);
