//! Repeated refreshes of clients with a retry window: two tabs, or a lost response, do not end the grant.

use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;
use tests::{App, Shape, SharedWorld, Tokens, World, on_every_shape, run_concurrently};

const CALLERS: usize = 20;
fn rounds() -> usize {
    tests::rounds(10, 50)
}

fn app_with_window(world: &World) -> App {
    world
        .app()
        .first_party()
        .option(&["--refresh-retry-window", "10s"])
        .register()
}

async fn refresh(world: &World, app: &App, token: &str) -> Tokens {
    Tokens::parse(app.refresh(&world.anyone(), token).await)
}

async fn expect_invalid(world: &World, app: &App, token: &str) {
    let reply = app.refresh(&world.anyone(), token).await;
    reply.expect_token_error(400, "invalid_grant");
}

async fn a_repeated_refresh_gives_the_same_successor_and_another_access_token(world: SharedWorld) {
    let (user, app) = (world.user().await, app_with_window(&world));
    let first = app.tokens(&user, "posts:read profile:read").await;
    let second = refresh(&world, &app, &first.refresh).await;
    let narrow = [
        ("grant_type", "refresh_token"),
        ("refresh_token", &first.refresh),
        ("scope", "posts:read"),
    ];
    let narrowed = Tokens::parse(app.token(&world.anyone(), &narrow).await);
    let repeated = refresh(&world, &app, &first.refresh).await;
    for again in [&narrowed, &repeated] {
        assert_eq!(again.refresh, second.refresh);
        assert_ne!(again.claims()["jti"], second.claims()["jti"]);
        world.expect_accepted(&again.access).await;
    }
    assert_eq!(narrowed.claims()["scope"], "posts:read");
    assert_eq!(repeated.claims()["scope"], "posts:read profile:read");
    let third = refresh(&world, &app, &second.refresh).await;
    assert_eq!(
        refresh(&world, &app, &second.refresh).await.refresh,
        third.refresh
    );
    world.expect_accepted(&third.access).await;
}

async fn a_refresh_before_the_used_successor_ends_the_family(world: SharedWorld) {
    let (user, app) = (world.user().await, app_with_window(&world));
    let first = app.tokens(&user, "posts:read").await;
    let second = refresh(&world, &app, &first.refresh).await;
    let third = refresh(&world, &app, &second.refresh).await;
    expect_invalid(&world, &app, &first.refresh).await;
    for tokens in [&first, &second, &third] {
        tokens.expect_revoked(&world, &app).await;
    }
}

async fn a_refresh_after_the_window_ends_the_family(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (user, app) = (world.user().await, app_with_window(&world));
    let first = app.tokens(&user, "posts:read").await;
    world.advance(Duration::from_secs(3600));
    let second = refresh(&world, &app, &first.refresh).await;
    world.advance(Duration::from_secs(8));
    let repeated = refresh(&world, &app, &first.refresh).await;
    assert_eq!(repeated.refresh, second.refresh);
    // The repetition does not extend the window.
    world.advance(Duration::from_secs(3));
    expect_invalid(&world, &app, &first.refresh).await;
    second.expect_revoked(&world, &app).await;
    repeated.expect_revoked(&world, &app).await;
}

async fn nobody_else_repeats_a_refresh(world: SharedWorld) {
    let (user, app) = (world.user().await, app_with_window(&world));
    let first = app.tokens(&user, "posts:read").await;
    let second = refresh(&world, &app, &first.refresh).await;
    expect_invalid(&world, &app_with_window(&world), &first.refresh).await;
    world.expect_accepted(&second.access).await;
    let revocation = [("token", second.refresh.as_str())];
    app.client_call(&world.anyone(), "/revoke", &revocation)
        .await
        .expect(200);
    expect_invalid(&world, &app, &first.refresh).await;
}

async fn an_update_ends_the_window(world: SharedWorld) {
    let (user, app) = (world.user().await, app_with_window(&world));
    let show = || world.cli(&["clients", "show", &app.id, "--json"], "")["refresh_retry_window"].clone();
    assert_eq!(show(), json!(10));
    let update = [
        "clients",
        "update",
        &app.id,
        "--json",
        "--refresh-retry-window",
        "0",
    ];
    world.cli(&update, "");
    assert_eq!(show(), json!(0));
    // The running issuers know the change within a second, so a refresh that needs the window fails at some
    // time.
    tests::eventually("the window is still open", async || {
        let first = app.tokens(&user, "posts:read").await;
        refresh(&world, &app, &first.refresh).await;
        app.refresh(&world.anyone(), &first.refresh).await.status == 400
    })
    .await;
    let too_long = ["clients", "update", &app.id, "--refresh-retry-window", "61s"];
    let refused = world.run(&too_long, "");
    assert_eq!(refused.status.code(), Some(64), "{refused:?}");
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(message.contains("at most 1 minute"), "{message}");
}

async fn concurrent_refreshes_within_the_window_share_a_successor(world: SharedWorld) {
    let (user, app) = (world.user().await, app_with_window(&world));
    let anyone = world.anyone();
    for round in 0..rounds() {
        let first = app.tokens(&user, "posts:read").await;
        let replies = run_concurrently(CALLERS, |_| app.refresh(&anyone, &first.refresh).into_future()).await;
        let tokens: Vec<Tokens> = replies.into_iter().map(Tokens::parse).collect();
        let successors: BTreeSet<&str> = tokens.iter().map(|tokens| tokens.refresh.as_str()).collect();
        assert_eq!(successors.len(), 1, "round {round}");
        let access: BTreeSet<&str> = tokens.iter().map(|tokens| tokens.access.as_str()).collect();
        assert_eq!(access.len(), CALLERS, "round {round}");
        refresh(&world, &app, &tokens[0].refresh).await;
    }
}

on_every_shape!(
    a_repeated_refresh_gives_the_same_successor_and_another_access_token,
    a_refresh_before_the_used_successor_ends_the_family,
    nobody_else_repeats_a_refresh,
    an_update_ends_the_window,
    concurrent_refreshes_within_the_window_share_a_successor,
    a_refresh_after_the_window_ends_the_family,
);
