//! Throttles of mails: no flooding of mailboxes, no account enumeration.

use super::{CONFIRM_NEW, RESET, request_change, request_reset};
use serde_json::json;
use std::time::Duration;
use tests::{PASSWORD, Shape, World, on_every_shape};

const WINDOW: Duration = Duration::from_secs(15 * 60);

async fn a_mailbox_receives_three_links_per_15_minutes(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let ann = world.sign_up().await;
    let first = request_reset(&world.anyone(), &ann.email).await.expect(202);
    for _ in 0..4 {
        let reply = request_reset(&world.anyone(), &ann.email.to_uppercase()).await;
        assert_eq!(reply.comparable_parts(), first.comparable_parts());
    }
    world.mail(&ann.email, RESET, 3).await;
    world.wait_until_mailed().await;
    let count = |world: &World| {
        let mails = world.mails(&ann.email);
        mails
            .iter()
            .filter(|mail| mail.header("subject") == RESET)
            .count()
    };
    assert_eq!(count(&world), 3);
    world.advance(WINDOW + Duration::from_secs(1));
    request_reset(&world.anyone(), &ann.email).await.expect(202);
    world.mail(&ann.email, RESET, 4).await;
}

async fn a_client_address_requests_twenty_mails_per_15_minutes(shape: Shape) {
    let setup = World::builder(shape)
        .flag("--trusted-proxies", "127.0.0.1")
        .clock();
    let world = setup.start().await;
    let ann = world.sign_up().await;
    let attacker = world.anyone().with("x-forwarded-for", "198.51.100.1");
    for _ in 0..20 {
        request_reset(&attacker, &world.fresh_email()).await.expect(202);
    }
    let known = request_reset(&attacker, &ann.email)
        .await
        .expect_error(429, "rate_limited");
    let unknown = request_reset(&attacker, &world.fresh_email()).await;
    assert_eq!(known.comparable_parts(), unknown.comparable_parts());
    assert_eq!(known.header("retry-after"), "900");
    let page = attacker.get("/forgot").await.expect(200);
    assert!(page.header("content-type").starts_with("text/html"), "{page}");
    let elsewhere = world.anyone().with("x-forwarded-for", "198.51.100.2");
    request_reset(&elsewhere, &ann.email).await.expect(202);
    world.mail(&ann.email, RESET, 1).await;
    world.advance(WINDOW + Duration::from_secs(1));
    request_reset(&attacker, &ann.email).await.expect(202);
}

async fn address_changes_cannot_flood_a_mailbox(world: World) {
    let (ann, unknown) = (world.sign_up().await, world.fresh_email());
    for _ in 0..5 {
        request_change(&ann, &unknown, PASSWORD).await.expect(202);
    }
    world.mail(&unknown, CONFIRM_NEW, 3).await;
    world.wait_until_mailed().await;
    assert_eq!(world.mails(&unknown).len(), 3);
    // Beyond the limit, requests for links to the user's own address also answer 202.
    for _ in 0..5 {
        ann.post("/email-verifications")
            .json(&json!({}))
            .await
            .expect(202);
    }
}

on_every_shape!(
    a_mailbox_receives_three_links_per_15_minutes,
    a_client_address_requests_twenty_mails_per_15_minutes,
    address_changes_cannot_flood_a_mailbox,
);
