//! The number of refresh token families: a user has at most so many with one app, and all of a user's end by one row.

use super::revocation::expect_idle_mirrors;
use serde_json::json;
use std::time::{Duration, Instant};
use storage::{execute, fetch_all, fetch_one};
use tests::{
    App, PASSWORD, Shape, Tokens, World, on_every_shape, p99_of_calls, print_figure, run_concurrently,
};

/// Uses each refresh token. Returns the statuses of the responses.
async fn refresh_each(world: &World, app: &App, all: &[Tokens]) -> Vec<u16> {
    let mut statuses = Vec::new();
    for tokens in all {
        statuses.push(app.refresh(&world.anyone(), &tokens.refresh).await.status);
    }
    statuses
}

async fn a_family_beyond_the_maximum_ends_the_oldest(shape: Shape) {
    let world = World::builder(shape)
        .flag("--max-refresh-families", "3")
        .start()
        .await;
    let (ann, app) = world.user_and_app().await;
    let (ben, other_app) = world.user_and_app().await;
    let others = [
        app.tokens(&ben, "posts:read").await,
        other_app.tokens(&ann, "posts:read").await,
    ];
    let mut all = Vec::new();
    for _ in 0..5 {
        all.push(app.tokens(&ann, "posts:read").await);
    }
    assert_eq!(refresh_each(&world, &app, &all).await, [400, 400, 200, 200, 200]);
    for tokens in &all[..2] {
        world.expect_revoked(&tokens.access).await;
    }
    for tokens in all[2..].iter().chain(&others) {
        world.expect_accepted(&tokens.access).await;
    }
    let db = world.db().await;
    let events = "SELECT client_id FROM security_events WHERE name = 'authn_token_revoked' AND user_id = $1";
    let events = fetch_all!(db.reader(), (String,), events, ann.id).unwrap();
    assert_eq!(events, [(app.id.clone(),), (app.id.clone(),)]);
}

async fn concurrent_exchanges_keep_the_maximum(shape: Shape) {
    let world = World::builder(shape)
        .flag("--max-refresh-families", "3")
        .start()
        .await;
    let (ann, app) = world.user_and_app().await;
    for _ in 0..5 {
        let mut grants = Vec::new();
        for _ in 0..8 {
            grants.push(app.authorize(&mut ann.browser(), &ann, "posts:read").await);
        }
        let all = run_concurrently(grants.len(), |n| {
            let exchange = app.exchange(&world.anyone(), &grants[n]);
            async move { Tokens::parse(exchange.await) }
        })
        .await;
        let statuses = refresh_each(&world, &app, &all).await;
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 3);
    }
}

/// A password change ends 200,000 families by one row, which the mirrors read. Others are served meanwhile.
async fn all_families_of_a_user_end_by_one_row(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (ann, app) = world.user_and_app().await;
    let tokens = app.tokens(&ann, "posts:read").await;
    let db = world.db().await.with_statement_timeout(Duration::from_secs(60));
    let fill = "INSERT INTO refresh_families (id, client_id, user_id, session_id, user_epoch, client_epoch, scope, auth_time, amr,
                                              generation, created_at, last_used_at, idle_expires_at, expires_at)
                WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 200000)
                SELECT 'family-' || n, client_id, user_id, session_id, user_epoch, client_epoch, scope, auth_time, amr, generation,
                       created_at, last_used_at, idle_expires_at, expires_at
                FROM numbers, refresh_families WHERE user_id = $1";
    execute!(db.writer(), fill, ann.id).unwrap();
    let (bob, _) = world.user_and_app().await;
    let others = app.tokens(&bob, "posts:read").await.access;
    let others = world.anyone().bearer(&others);
    let alone = p99_of_calls(&others, "/protected").await;
    let change = async {
        let began = Instant::now();
        let body = json!({ "current_password": PASSWORD, "new_password": "another horse" });
        ann.call("PUT", "/me/password").json(&body).await.expect(204);
        began.elapsed()
    };
    let (took, beside) = tokio::join!(change, p99_of_calls(&others, "/protected"));
    print_figure(&format!(
        "a password change with 200,000 families took {took:?}, p99 of others' calls: {alone:?} before, {beside:?} beside"
    ));
    assert!(took < Duration::from_secs(1), "the change took {took:?}");
    world.expect_revoked(&tokens.access).await;
    let refused = app.refresh(&world.anyone(), &tokens.refresh).await;
    refused.expect_token_error(400, "invalid_grant");
    let (rows,) = fetch_one!(db.reader(), (i64,), "SELECT COUNT(*) FROM revocations").unwrap();
    assert_eq!(rows, 1);
    let changed = "SELECT COUNT(*) FROM refresh_families WHERE revoked_at IS NOT NULL";
    let (changed,) = fetch_one!(db.reader(), (i64,), changed).unwrap();
    assert_eq!(changed, 0, "families were written");
    world.advance(Duration::from_secs(5 * 60));
    world.expect_revoked(&tokens.access).await;
    others.get("/protected").await.expect(200);
    if shape != Shape::Sqlite {
        expect_idle_mirrors(&db).await;
    }
}

on_every_shape!(
    a_family_beyond_the_maximum_ends_the_oldest,
    concurrent_exchanges_keep_the_maximum,
    all_families_of_a_user_end_by_one_row,
);
