//! Throttles of mails: no flooding of mailboxes, no account enumeration.

use super::{CONFIRM, CONFIRM_NEW, NEW_PASSWORD, RESET, request_change, request_reset};
use serde_json::json;
use std::time::Duration;
use tests::{Authenticator, PASSWORD, Shape, SharedWorld, User, World, on_every_shape};

const WINDOW: Duration = Duration::from_secs(15 * 60);
const HOUR: Duration = Duration::from_secs(3600);

/// The subjects of all mails to an address, oldest first.
fn subjects(world: &World, to: &str) -> Vec<String> {
    let mails = world.mails(to);
    mails
        .iter()
        .map(|mail| mail.header("subject").to_owned())
        .collect()
}

async fn a_mailbox_receives_three_links_an_hour(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let ann = world.sign_up().await;
    let first = request_reset(&world.anyone(), &ann.email).await.expect(202);
    for _ in 0..4 {
        let reply = request_reset(&world.anyone(), &ann.email.to_uppercase()).await;
        assert_eq!(reply.comparable_parts(), first.comparable_parts());
    }
    world.mail(&ann.email, RESET, 2).await;
    world.wait_until_mailed().await;
    assert_eq!(subjects(&world, &ann.email), [CONFIRM, RESET, RESET]);
    world.advance(HOUR);
    request_reset(&world.anyone(), &ann.email).await.expect(202);
    world.mail(&ann.email, RESET, 3).await;
}

/// Changes the password of a user, which ends the session, this many times, and waits for the mails.
async fn change_password(world: &World, user: &User, times: usize) {
    for n in 0..times {
        let passwords = [PASSWORD, NEW_PASSWORD];
        let (current, new) = (passwords[n % 2], passwords[(n + 1) % 2]);
        let user = world.log_in(&user.email, current).await;
        let body = json!({ "current_password": current, "new_password": new });
        user.call("PUT", "/me/password").json(&body).await.expect(204);
    }
    world.wait_until_mailed().await;
}

async fn a_stranger_gets_no_notices(world: SharedWorld) {
    let stranger = world.sign_up().await;
    change_password(&world, &stranger, 2).await;
    Authenticator::enable(&world, &world.log_in(&stranger.email, PASSWORD).await).await;
    world.wait_until_mailed().await;
    assert_eq!(subjects(&world, &stranger.email), [CONFIRM]);
}

async fn a_confirmed_mailbox_gets_twenty_mails_an_hour(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let ann = world.sign_up_confirmed().await;
    change_password(&world, &ann, 22).await;
    assert_eq!(world.mails(&ann.email).len(), 20, "the link and 19 notices");
    request_reset(&world.anyone(), &ann.email).await.expect(202);
    world.wait_until_mailed().await;
    assert_eq!(world.mails(&ann.email).len(), 20);
    assert!(world.log().contains("reached the limit of mails"));
    world.advance(HOUR);
    change_password(&world, &ann, 2).await;
    assert_eq!(world.mails(&ann.email).len(), 22);
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

/// Others may use up the links that confirm an address, but not the one that lets its owner in.
async fn address_changes_leave_a_reset_link(world: SharedWorld) {
    let (ann, bob) = (world.sign_up().await, world.sign_up().await);
    for _ in 0..3 {
        request_change(&bob, &ann.email, PASSWORD).await.expect(202);
    }
    for _ in 0..2 {
        request_reset(&world.anyone(), &ann.email).await.expect(202);
    }
    world.mail(&ann.email, RESET, 1).await;
    world.wait_until_mailed().await;
    assert_eq!(subjects(&world, &ann.email), [CONFIRM, CONFIRM_NEW, RESET]);
}

/// Signs up with this address.
async fn sign_up_as(world: &World, email: &str) {
    let body = json!({ "email": email, "password": PASSWORD });
    world.anyone().post("/users").json(&body).await.expect(201);
}

async fn subaddresses_share_the_budget_of_their_mailbox(world: World) {
    let addresses = ["", "+a", "+b", "+c", "+a+b"].map(|tag| format!("ann{tag}@example.org"));
    for address in &addresses {
        sign_up_as(&world, address).await;
    }
    world.wait_until_mailed().await;
    let received: usize = addresses.iter().map(|address| world.mails(address).len()).sum();
    assert_eq!(received, 2, "the two links that confirm an address");
    // Tags take no part of the budget of others.
    sign_up_as(&world, "bob+a@example.org").await;
    world.mail("bob+a@example.org", CONFIRM, 1).await;
}

async fn unknown_recipients_of_a_domain_get_a_limited_number_of_mails(shape: Shape) {
    let setup = World::builder(shape).flag("--confirmations-per-domain", "3");
    let world = setup.clock().start().await;
    let known = world.sign_up_confirmed().await;
    let addresses: Vec<String> = (0..5).map(|n| format!("made-up-{n}@example.org")).collect();
    for address in &addresses {
        sign_up_as(&world, address).await;
    }
    world.wait_until_mailed().await;
    let received = |world: &World| {
        addresses
            .iter()
            .map(|address| world.mails(address).len())
            .sum::<usize>()
    };
    assert_eq!(
        received(&world),
        2,
        "the third mail of the domain was that of the known user"
    );
    request_reset(&world.anyone(), &known.email).await.expect(202);
    world.mail(&known.email, RESET, 1).await;
    sign_up_as(&world, "ann@elsewhere.test").await;
    world.mail("ann@elsewhere.test", CONFIRM, 1).await;
    world.advance(HOUR + Duration::from_secs(1));
    let later = world.log_in(&addresses[4], PASSWORD).await;
    later
        .post("/email-verifications")
        .json(&json!({}))
        .await
        .expect(202);
    world.mail(&addresses[4], CONFIRM, 1).await;
}

/// One network that makes up addresses of a provider does not keep the mails of other people from it.
async fn a_network_uses_up_a_tenth_of_the_mails_of_a_domain(shape: Shape) {
    let setup = World::builder(shape).flag("--confirmations-per-domain", "40");
    let world = setup.flag("--trusted-proxies", "127.0.0.1").start().await;
    let sign_up = async |network: &str, email: &str| {
        let caller = world.anyone().with("x-forwarded-for", network);
        let body = json!({ "email": email, "password": PASSWORD });
        caller.post("/users").json(&body).await.expect(201);
    };
    let made_up: Vec<String> = (0..6).map(|n| format!("made-up-{n}@example.org")).collect();
    for address in &made_up {
        sign_up("198.51.100.1", address).await;
    }
    sign_up("198.51.100.2", "ann@example.org").await;
    sign_up("198.51.100.1", "ann@elsewhere.test").await;
    world.mail("ann@example.org", CONFIRM, 1).await;
    world.mail("ann@elsewhere.test", CONFIRM, 1).await;
    world.wait_until_mailed().await;
    let mailed = made_up.iter().map(|address| world.mails(address).len());
    assert_eq!(mailed.sum::<usize>(), 4);
}

async fn address_changes_cannot_flood_a_mailbox(world: SharedWorld) {
    let (ann, unknown) = (world.sign_up().await, world.fresh_email());
    for _ in 0..5 {
        request_change(&ann, &unknown, PASSWORD).await.expect(202);
    }
    world.mail(&unknown, CONFIRM_NEW, 2).await;
    world.wait_until_mailed().await;
    assert_eq!(world.mails(&unknown).len(), 2);
    // Beyond the limit, requests for links to the user's own address also answer 202.
    for _ in 0..5 {
        ann.post("/email-verifications")
            .json(&json!({}))
            .await
            .expect(202);
    }
}

on_every_shape!(
    a_mailbox_receives_three_links_an_hour,
    a_stranger_gets_no_notices,
    a_confirmed_mailbox_gets_twenty_mails_an_hour,
    address_changes_leave_a_reset_link,
    a_client_address_requests_twenty_mails_per_15_minutes,
    a_network_uses_up_a_tenth_of_the_mails_of_a_domain,
    address_changes_cannot_flood_a_mailbox,
    subaddresses_share_the_budget_of_their_mailbox,
    unknown_recipients_of_a_domain_get_a_limited_number_of_mails,
);
