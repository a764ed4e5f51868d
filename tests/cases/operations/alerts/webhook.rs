//! The alert webhook: signed, retried with one id, sent by one replica, never delaying requests.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::time::Duration;
use tests::{App, ReceivedRequest, Shape, StubServer, User, World, WorldBuilder, eventually, on_every_shape};

const SECRET: &str = "a secret of the webhook alone";

fn with_webhook(shape: Shape, receiver: &StubServer) -> WorldBuilder {
    let setup = World::builder(shape).flag("--alert-webhook-url", &format!("{}/hook", receiver.url));
    setup.flag("--alert-webhook-secret", SECRET)
}

/// Reuses a refresh token, which raises an alert.
async fn reuse_refresh_token(world: &World, ann: &User, app: &App) {
    let tokens = app.tokens(ann, "posts:read").await;
    app.refresh(&world.anyone(), &tokens.refresh).await.expect(200);
    app.refresh(&world.anyone(), &tokens.refresh).await.expect(400);
}

fn expect_signed(received: &ReceivedRequest) -> Value {
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

async fn each_alert_is_sent_once_and_signed(shape: Shape) {
    let receiver = StubServer::start().await;
    let world = with_webhook(shape, &receiver).start().await;
    world.register_secret(SECRET);
    let (ann, app) = world.user_and_app().await;
    reuse_refresh_token(&world, &ann, &app).await;
    eventually("no webhook", || async { !receiver.received().is_empty() }).await;
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
    eventually("no second webhook", || async { receiver.received().len() >= 2 }).await;
    let received = receiver.received();
    assert_eq!(received.len(), 2, "each alert is sent once: {received:?}");
    let bodies: Vec<Value> = received.iter().map(expect_signed).collect();
    assert_eq!(bodies[0]["type"], "alert.refresh_token_reuse");
    assert_eq!(bodies[0]["data"]["user_id"], ann.id);
    assert_eq!(bodies[0]["data"]["client_id"], app.id.as_str());
    assert_eq!(bodies[0]["data"]["traceId"].as_str().map(str::len), Some(32));
    assert_eq!(bodies[1]["type"], "alert.key_compromised");
}

async fn failed_deliveries_are_retried_with_the_same_id(shape: Shape) {
    let receiver = StubServer::start().await;
    receiver.answer(500, "no");
    let world = with_webhook(shape, &receiver).clock().start().await;
    let (ann, app) = world.user_and_app().await;
    reuse_refresh_token(&world, &ann, &app).await;
    for attempt in 1..=3_usize {
        eventually("no attempt", || async { receiver.received().len() == attempt }).await;
        eventually("the failure is not logged", || async {
            world.log().matches("an alert was not delivered").count() == attempt
        })
        .await;
        // The pause after the nth failure.
        world.advance(Duration::from_secs(1 << attempt));
    }
    receiver.answer(204, "");
    eventually("no attempt after the pause", || async {
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

async fn an_unresponsive_webhook_delays_no_request(shape: Shape) {
    let receiver = StubServer::start().await;
    receiver.never_answer();
    let world = with_webhook(shape, &receiver).start().await;
    let (ann, app) = world.user_and_app().await;
    reuse_refresh_token(&world, &ann, &app).await;
    eventually("no webhook", || async { !receiver.received().is_empty() }).await;
    reuse_refresh_token(&world, &ann, &app).await;
    ann.get("/me").await.expect(200);
    assert_eq!(receiver.received().len(), 1);
}

async fn deliveries_lost_in_a_crash_are_sent_by_the_next_process(shape: Shape) {
    let receiver = StubServer::start().await;
    receiver.never_answer();
    let mut world = with_webhook(shape, &receiver).clock().start().await;
    let (ann, app) = world.user_and_app().await;
    reuse_refresh_token(&world, &ann, &app).await;
    eventually("no webhook", || async { !receiver.received().is_empty() }).await;
    world.kill();
    receiver.answer(200, "");
    // The claim of the killed process expires.
    world.advance(Duration::from_secs(61));
    world.restart().await;
    eventually("not sent again", || async { receiver.received().len() == 2 }).await;
    let received = receiver.received();
    assert_eq!(
        received[0].headers["webhook-id"],
        received[1].headers["webhook-id"]
    );
}

on_every_shape!(
    each_alert_is_sent_once_and_signed,
    failed_deliveries_are_retried_with_the_same_id,
    an_unresponsive_webhook_delays_no_request,
    deliveries_lost_in_a_crash_are_sent_by_the_next_process,
);
