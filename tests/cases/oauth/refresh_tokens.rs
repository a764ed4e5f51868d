//! `POST /token` with a refresh token: rotation, and revocation of the family on a replay.

use std::time::Duration;
use storage::fetch_one;
use tests::{Shape, SharedWorld, Tokens, World, eventually, on_every_shape};

async fn refresh_tokens_rotate_and_a_replay_revokes_the_family(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let anyone = world.anyone();
    let first = app.tokens(&user, "posts:read").await;
    let second = Tokens::parse(app.refresh(&anyone, &first.refresh).await);
    let third = Tokens::parse(app.refresh(&anyone, &second.refresh).await);
    assert_ne!(first.refresh, second.refresh);
    assert_ne!(first.claims()["jti"], second.claims()["jti"]);
    for tokens in [&first, &second, &third] {
        world.expect_accepted(&tokens.access).await;
    }
    let bystander = app.tokens(&user, "posts:read").await;
    app.refresh(&anyone, &first.refresh)
        .await
        .expect_token_error(400, "invalid_grant");
    for tokens in [&third, &second, &first] {
        tokens.expect_revoked(&world, &app).await;
    }
    world.expect_accepted(&bystander.access).await;
    app.refresh(&anyone, &bystander.refresh).await.expect(200);
}

async fn refresh_tokens_are_bound_to_their_client(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let others = [world.app().register(), world.app().kind("web").register()];
    let tokens = app.tokens(&user, "posts:read").await;
    for other in others {
        other
            .refresh(&world.anyone(), &tokens.refresh)
            .await
            .expect_token_error(400, "invalid_grant");
    }
    app.refresh(&world.anyone(), &tokens.refresh).await.expect(200);
}

async fn forged_refresh_tokens_are_rejected(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let tokens = app.tokens(&user, "posts:read").await;
    let good = &tokens.refresh;
    let last = if good.ends_with('A') { "B" } else { "A" };
    let flipped = format!("{}{last}", &good[..good.len() - 1]);
    let mut parts: Vec<&str> = good.split('.').collect();
    let next_generation = parts
        .get(1)
        .and_then(|text| text.parse::<i64>().ok())
        .map(|n| (n + 1).to_string());
    if let Some(next) = &next_generation {
        parts[1] = next;
    }
    let ahead = parts.join(".");
    for forged in [
        &flipped,
        &ahead,
        "",
        ".",
        "..",
        "a.b.c",
        "a.1.",
        "é",
        &"x".repeat(10_000),
        &good[1..],
        &tokens.access,
    ] {
        let reply = app.refresh(&world.anyone(), forged).await.expect(400);
        assert!(
            ["invalid_grant", "invalid_request"].contains(&reply.json()["error"].as_str().unwrap()),
            "{reply}"
        );
    }
    app.refresh(&world.anyone(), good).await.expect(200);
}

async fn a_refresh_may_narrow_the_scope_once_and_never_widen_it(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let tokens = app.tokens(&user, "posts:read profile:read").await;
    let refresh = |token: String, scope: &'static str| {
        let fields = [
            ("grant_type", "refresh_token"),
            ("refresh_token", &token),
            ("scope", scope),
        ];
        app.token(&world.anyone(), &fields)
    };
    refresh(tokens.refresh.clone(), "posts:read posts:write")
        .await
        .expect_token_error(400, "invalid_scope");
    let narrowed = Tokens::parse(refresh(tokens.refresh, "posts:read").await);
    assert_eq!(narrowed.claims()["scope"], "posts:read");
    let whole = Tokens::parse(app.refresh(&world.anyone(), &narrowed.refresh).await);
    assert_eq!(whole.claims()["scope"], "posts:read profile:read");
}

async fn refresh_tokens_expire_after_14_days_unused_and_30_in_total(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (user, app) = world.user_and_app().await;
    const DAY: Duration = Duration::from_secs(86_400);
    const SECOND: Duration = Duration::from_secs(1);
    let unused = app.tokens(&user, "posts:read").await;
    let mut used = app.tokens(&user, "posts:read").await;
    world.advance(14 * DAY - SECOND);
    used = Tokens::parse(app.refresh(&world.anyone(), &used.refresh).await);
    world.advance(2 * SECOND);
    app.refresh(&world.anyone(), &unused.refresh)
        .await
        .expect_token_error(400, "invalid_grant");
    world.advance(13 * DAY);
    used = Tokens::parse(app.refresh(&world.anyone(), &used.refresh).await);
    world.advance(3 * DAY - 3 * SECOND);
    used = Tokens::parse(app.refresh(&world.anyone(), &used.refresh).await);
    world.advance(3 * SECOND);
    app.refresh(&world.anyone(), &used.refresh)
        .await
        .expect_token_error(400, "invalid_grant");
}

/// Neither a rotation, nor a repeated refresh, nor a cookie makes a family live longer.
async fn no_refresh_token_outlives_its_family(shape: Shape) {
    const DAY: Duration = Duration::from_secs(86_400);
    const SECOND: Duration = Duration::from_secs(1);
    let world = World::builder(shape).clock().start().await;
    let (user, anyone) = (world.user().await, world.anyone());
    let plain = world.app().kind("web").register();
    let retrying = world.app().option(&["--refresh-retry-window", "60s"]).register();
    let apps = [plain, retrying];
    let mut tokens = Vec::new();
    for app in &apps {
        tokens.push(app.tokens(&user, "posts:read").await.refresh);
    }
    for step in [10 * DAY, 10 * DAY, 10 * DAY - 5 * SECOND] {
        world.advance(step);
        for (app, token) in apps.iter().zip(&mut tokens) {
            let used = std::mem::take(token);
            *token = Tokens::parse(app.refresh(&anyone, &used).await).refresh;
            if app.id == apps[1].id {
                let again = Tokens::parse(app.refresh(&anyone, &used).await);
                assert_eq!(again.refresh, *token);
            }
        }
    }
    for step in [10 * SECOND, DAY] {
        world.advance(step);
        for (app, token) in apps.iter().zip(&tokens) {
            let late = app.refresh(&anyone, token).await;
            late.expect_token_error(400, "invalid_grant");
        }
    }
}

async fn logout_revokes_first_party_tokens_of_the_session(world: SharedWorld) {
    let user = world.user().await;
    let (ours, theirs) = (world.app().first_party().register(), world.app().register());
    let (own, third) = (
        ours.tokens(&user, "posts:read").await,
        theirs.tokens(&user, "posts:read").await,
    );
    user.post("/logout").await.expect(204);
    own.expect_revoked(&world, &ours).await;
    world.expect_accepted(&third.access).await;
    theirs.refresh(&world.anyone(), &third.refresh).await.expect(200);
}

/// A client can begin and revoke grants in any number, and each is a row.
async fn a_revoked_family_is_deleted_after_three_days(shape: Shape) {
    let mut world = World::builder(shape).clock().start().await;
    let (user, app) = world.user_and_app().await;
    let kept = app.tokens(&user, "posts:read").await;
    let revoked = app.tokens(&user, "posts:read").await;
    let fields = [("token", revoked.refresh.as_str())];
    app.client_call(&world.anyone(), "/revoke", &fields)
        .await
        .expect(200);
    let db = world.db().await;
    let count = async || {
        let count = "SELECT COUNT(*) FROM refresh_families";
        let (count,) = fetch_one!(db.reader(), (i64,), count).unwrap();
        count
    };
    assert_eq!(count().await, 2);
    let reason = app
        .refresh(&world.anyone(), &revoked.refresh)
        .await
        .expect(400)
        .json();
    let reason = reason["error_description"].as_str().unwrap().to_owned();
    assert!(reason.contains("the app revoked it"), "{reason}");
    world.advance(Duration::from_secs(3 * 24 * 3600 + 60));
    world.stop().await;
    world.restart().await;
    eventually("the revoked family is not deleted", async || count().await == 1).await;
    app.refresh(&world.anyone(), &kept.refresh).await.expect(200);
}

on_every_shape!(
    a_revoked_family_is_deleted_after_three_days,
    refresh_tokens_rotate_and_a_replay_revokes_the_family,
    refresh_tokens_are_bound_to_their_client,
    forged_refresh_tokens_are_rejected,
    a_refresh_may_narrow_the_scope_once_and_never_widen_it,
    refresh_tokens_expire_after_14_days_unused_and_30_in_total,
    no_refresh_token_outlives_its_family,
    logout_revokes_first_party_tokens_of_the_session,
);
