//! The webhook: signed, retried under one id, by one replica; never in the way of a request.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::time::Duration;
use tests::{App, Person, Received, Receiver, Setup, Shape, World, on_every_shape, soon};

const SECRET: &str = "a secret of the webhook alone";

fn told(shape: Shape, receiver: &Receiver) -> Setup {
    let setup = World::of(shape).flag("--alert-webhook-url", &format!("{}/hook", receiver.url));
    setup.flag("--alert-webhook-secret", SECRET)
}

/// A reuse of a refresh token, which is an alert.
async fn misuse(world: &World, ann: &Person, app: &App) {
    let tokens = app.tokens(ann, "posts:read").await;
    app.refresh(&world.anyone(), &tokens.refresh).await.expect(200);
    app.refresh(&world.anyone(), &tokens.refresh).await.expect(400);
}

fn expect_signed(received: &Received) -> Value {
    let header = |name: &str| received.headers[name].as_str();
    let signed = format!(
        "{}.{}.{}",
        header("webhook-id"),
        header("webhook-timestamp"),
        received.body
    );
    let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
    let signature = format!("v1,{}", STANDARD.encode(hmac::sign(&key, signed.as_bytes())));
    assert_eq!(header("webhook-signature"), signature);
    serde_json::from_str(&received.body).unwrap()
}

async fn an_alert_is_sent_once_and_signed(shape: Shape) {
    let receiver = Receiver::start().await;
    let world = told(shape, &receiver).start().await;
    world.keep_secret(SECRET);
    let (ann, app) = world.person_and_app().await;
    misuse(&world, &ann, &app).await;
    soon("no webhook", || async { !receiver.received().is_empty() }).await;
    let keys = world.cli(&["keys", "list", "--json"], "");
    world.cli(
        &[
            "keys",
            "retire",
            keys[0]["kid"].as_str().unwrap(),
            "--compromised",
            "--json",
        ],
        "",
    );
    soon("no second webhook", || async { receiver.received().len() >= 2 }).await;
    let received = receiver.received();
    assert_eq!(received.len(), 2, "each alert is sent once: {received:?}");
    let bodies: Vec<Value> = received.iter().map(expect_signed).collect();
    assert_eq!(bodies[0]["type"], "alert.refresh_token_reuse");
    assert_eq!(bodies[0]["data"]["user_id"], ann.id);
    assert_eq!(bodies[0]["data"]["client_id"], app.id.as_str());
    assert_eq!(bodies[1]["type"], "alert.key_compromised");
}

async fn one_that_fails_is_sent_again_under_the_same_id(shape: Shape) {
    let receiver = Receiver::start().await;
    receiver.answer(500, "no");
    let world = told(shape, &receiver).clock().start().await;
    let (ann, app) = world.person_and_app().await;
    misuse(&world, &ann, &app).await;
    for attempt in 1..=3_usize {
        soon("no attempt", || async { receiver.received().len() == attempt }).await;
        soon("the failure is not noted", || async {
            world.log().matches("the webhook was not told").count() == attempt
        })
        .await;
        // The pause after the nth failure.
        world.advance(Duration::from_secs(1 << attempt));
    }
    receiver.answer(204, "");
    soon("no attempt after the pause", || async {
        receiver.received().len() == 4
    })
    .await;
    let received = receiver.received();
    let ids: Vec<&String> = received.iter().map(|one| &one.headers["webhook-id"]).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    received.iter().for_each(|one| {
        expect_signed(one);
    });
}

async fn one_that_never_answers_is_in_nobodys_way(shape: Shape) {
    let receiver = Receiver::start().await;
    receiver.say_nothing();
    let world = told(shape, &receiver).start().await;
    let (ann, app) = world.person_and_app().await;
    misuse(&world, &ann, &app).await;
    soon("no webhook", || async { !receiver.received().is_empty() }).await;
    misuse(&world, &ann, &app).await;
    ann.get("/me").await.expect(200);
    assert_eq!(receiver.received().len(), 1);
}

async fn what_a_crash_left_unsent_is_sent_by_the_next_process(shape: Shape) {
    let receiver = Receiver::start().await;
    receiver.say_nothing();
    let mut world = told(shape, &receiver).clock().start().await;
    let (ann, app) = world.person_and_app().await;
    misuse(&world, &ann, &app).await;
    soon("no webhook", || async { !receiver.received().is_empty() }).await;
    world.kill();
    receiver.answer(200, "");
    // The claim of the process that is gone lapses.
    world.advance(Duration::from_secs(61));
    world.start_again().await;
    soon("not sent again", || async { receiver.received().len() == 2 }).await;
    let received = receiver.received();
    assert_eq!(
        received[0].headers["webhook-id"],
        received[1].headers["webhook-id"]
    );
}

on_every_shape!(
    an_alert_is_sent_once_and_signed,
    one_that_fails_is_sent_again_under_the_same_id,
    one_that_never_answers_is_in_nobodys_way,
    what_a_crash_left_unsent_is_sent_by_the_next_process,
);
