//! The token requests of a device: the interval, the expiry, and single use.

use super::{MINUTE, SCOPE, decided, user_and_app};
use std::time::Duration;
use storage::fetch_one;
use tests::{
    DEVICE_CODE, Reply, Shape, SharedWorld, Tokens, World, eventually, on_every_shape, run_concurrently,
    status_counts,
};

const SECOND: Duration = Duration::from_secs(1);

async fn a_client_that_does_not_keep_the_interval_slows_down(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (user, app) = user_and_app(&world).await;
    let anyone = world.anyone();
    let device = app.device(&anyone, SCOPE).await;
    let other = app.device(&anyone, SCOPE).await;
    let expect = async |error: &str| {
        device.poll(&anyone).await.expect_token_error(400, error);
    };
    expect("authorization_pending").await;
    for _ in 0..2 {
        world.advance(5 * SECOND);
        expect("authorization_pending").await;
    }
    // The interval is 10 s after the first early request, and 15 s after the second one.
    expect("slow_down").await;
    world.advance(3 * SECOND);
    expect("slow_down").await;
    world.advance(15 * SECOND);
    expect("authorization_pending").await;
    world.advance(7 * SECOND);
    expect("slow_down").await;
    // The interval is that of one device.
    other
        .poll(&anyone)
        .await
        .expect_token_error(400, "authorization_pending");
    // The decision is told at once.
    device.decide(&user, "allow").await;
    Tokens::parse(device.poll(&anyone).await);
}

async fn a_device_waits_for_ten_minutes(shape: Shape) {
    let mut world = World::builder(shape).clock().start().await;
    let (user, app) = user_and_app(&world).await;
    let anyone = world.anyone();
    let (late, late_decision) = (app.device(&anyone, SCOPE).await, app.device(&anyone, SCOPE).await);
    let in_time = app.device(&anyone, SCOPE).await;
    late.decide(&user, "allow").await;
    let mut browser = user.browser();
    let shown = browser.enter_user_code(&late_decision.user_code).await;
    world.advance(9 * MINUTE);
    in_time.decide(&user, "allow").await;
    Tokens::parse(in_time.poll(&anyone).await);
    world.advance(MINUTE + SECOND);
    let expired = async || {
        for device in [&late, &late_decision] {
            device
                .poll(&anyone)
                .await
                .expect_token_error(400, "expired_token");
        }
    };
    expired().await;
    let decided = browser.submit(&shown, &[("decision", "allow")]).await;
    assert_eq!(decided.reply.status, 400, "{}", decided.reply);
    let again = browser.enter_user_code(&late_decision.user_code).await;
    assert_eq!(again.reply.status, 422, "{}", again.reply);
    expired().await;

    // The rows are kept for a day, so that replays are recognized.
    let db = world.db().await;
    let count = async || {
        fetch_one!(db.reader(), (i64,), "SELECT COUNT(*) FROM device_requests")
            .unwrap()
            .0
    };
    assert_eq!(count().await, 3);
    world.stop().await;
    world.advance(24 * 60 * MINUTE);
    world.restart().await;
    eventually("an expired request remains", async || count().await == 0).await;
    late.poll(&anyone).await.expect_token_error(400, "invalid_grant");
}

async fn a_device_code_is_for_its_client_only(world: SharedWorld) {
    let (user, app) = user_and_app(&world).await;
    let (anyone, other) = (world.anyone(), super::native(&world));
    let device = decided(&world, &app, &user, "allow").await;
    for (client, code) in [
        (&other, device.device_code.as_str()),
        (&app, &device.user_code),
        (&app, "nonsense"),
        (&app, &device.device_code.to_uppercase()),
    ] {
        let reply = client.poll(&anyone, code).await;
        reply.expect_token_error(400, "invalid_grant");
    }
    let without_code = app.token(&anyone, &[("grant_type", DEVICE_CODE)]).await;
    without_code.expect_token_error(400, "invalid_request");
    let target = [
        ("device_code", device.device_code.as_str()),
        ("grant_type", DEVICE_CODE),
        ("resource", "https://other.test"),
    ];
    app.token(&anyone, &target)
        .await
        .expect_token_error(400, "invalid_target");
    // None of these used it up.
    Tokens::parse(device.poll(&anyone).await);
    other
        .poll(&anyone, &device.device_code)
        .await
        .expect_token_error(400, "invalid_grant");
}

async fn concurrent_requests_get_tokens_once(world: SharedWorld) {
    const CALLERS: usize = 50;
    let (user, app) = user_and_app(&world).await;
    for round in 0..20 {
        let device = decided(&world, &app, &user, "allow").await;
        let issuers = world.at_each_issuer(&world.anyone());
        let poll = |n: usize| device.poll(&issuers[n % issuers.len()]).into_future();
        let replies = run_concurrently(CALLERS, poll).await;
        let (won, lost): (Vec<Reply>, Vec<Reply>) =
            replies.into_iter().partition(|reply| reply.status == 200);
        assert_eq!(
            (won.len(), status_counts(&lost)),
            (1, [(400, CALLERS - 1)].into()),
            "round {round}"
        );
        // The others were valid reuses of the code, so its tokens are revoked.
        for won in won {
            Tokens::parse(won).expect_revoked(&world, &app).await;
        }
    }
}

/// Concurrent requests before the decision: one keeps the interval.
async fn concurrent_requests_of_a_waiting_device_slow_down(world: SharedWorld) {
    const CALLERS: usize = 20;
    let (_, app) = user_and_app(&world).await;
    let device = app.device(&world.anyone(), SCOPE).await;
    let issuers = world.at_each_issuer(&world.anyone());
    let replies = run_concurrently(CALLERS, |n| {
        device.poll(&issuers[n % issuers.len()]).into_future()
    })
    .await;
    let errors: Vec<_> = replies
        .iter()
        .map(|reply| reply.json()["error"].clone())
        .collect();
    let pending = errors
        .iter()
        .filter(|error| *error == "authorization_pending")
        .count();
    let slowed = errors.iter().filter(|error| *error == "slow_down").count();
    assert_eq!((pending, slowed), (1, CALLERS - 1), "{errors:?}");
}

on_every_shape!(
    a_client_that_does_not_keep_the_interval_slows_down,
    a_device_waits_for_ten_minutes,
    a_device_code_is_for_its_client_only,
    concurrent_requests_get_tokens_once,
    concurrent_requests_of_a_waiting_device_slow_down,
);
