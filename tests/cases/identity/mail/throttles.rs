//! Mails are not a means to flood a mailbox, nor asking for them one to find accounts.

use super::{CONFIRM_NEW, RESET, ask_change, ask_reset};
use serde_json::json;
use std::time::Duration;
use tests::{PASSWORD, Shape, World, on_every_shape};

const WINDOW: Duration = Duration::from_secs(15 * 60);

async fn a_mailbox_gets_three_links_in_a_quarter_of_an_hour(shape: Shape) {
    let world = World::of(shape).clock().start().await;
    let ann = world.sign_up().await;
    let first = ask_reset(&world.anyone(), &ann.email).await.expect(202);
    for _ in 0..4 {
        let reply = ask_reset(&world.anyone(), &ann.email.to_uppercase()).await;
        assert_eq!(reply.anonymised(), first.anonymised());
    }
    world.letter(&ann.email, RESET, 3).await;
    world.until_mailed().await;
    let count = |world: &World| {
        let letters = world.letters(&ann.email);
        letters
            .iter()
            .filter(|letter| letter.header("subject") == RESET)
            .count()
    };
    assert_eq!(count(&world), 3);
    world.advance(WINDOW + Duration::from_secs(1));
    ask_reset(&world.anyone(), &ann.email).await.expect(202);
    world.letter(&ann.email, RESET, 4).await;
}

async fn one_address_asks_for_twenty_mails_in_a_quarter_of_an_hour(shape: Shape) {
    let setup = World::of(shape).flag("--trusted-proxies", "127.0.0.1").clock();
    let world = setup.start().await;
    let ann = world.sign_up().await;
    let attacker = world.anyone().with("x-forwarded-for", "198.51.100.1");
    for _ in 0..20 {
        ask_reset(&attacker, &world.fresh_email()).await.expect(202);
    }
    let known = ask_reset(&attacker, &ann.email)
        .await
        .expect_error(429, "rate_limited");
    let unknown = ask_reset(&attacker, &world.fresh_email()).await;
    assert_eq!(known.anonymised(), unknown.anonymised());
    assert_eq!(known.header("retry-after"), "900");
    let page = attacker.get("/forgot").await.expect(200);
    assert!(page.header("content-type").starts_with("text/html"), "{page}");
    let elsewhere = world.anyone().with("x-forwarded-for", "198.51.100.2");
    ask_reset(&elsewhere, &ann.email).await.expect(202);
    world.letter(&ann.email, RESET, 1).await;
    world.advance(WINDOW + Duration::from_secs(1));
    ask_reset(&attacker, &ann.email).await.expect(202);
}

async fn a_strangers_mailbox_is_not_flooded_by_changes_of_address(world: World) {
    let (ann, stranger) = (world.sign_up().await, world.fresh_email());
    for _ in 0..5 {
        ask_change(&ann, &stranger, PASSWORD).await.expect(202);
    }
    world.letter(&stranger, CONFIRM_NEW, 3).await;
    world.until_mailed().await;
    assert_eq!(world.letters(&stranger).len(), 3);
    // One's own address is counted alike.
    for _ in 0..5 {
        ann.post("/email-verifications")
            .json(&json!({}))
            .await
            .expect(202);
    }
}

on_every_shape!(
    a_mailbox_gets_three_links_in_a_quarter_of_an_hour,
    one_address_asks_for_twenty_mails_in_a_quarter_of_an_hour,
    a_strangers_mailbox_is_not_flooded_by_changes_of_address,
);
