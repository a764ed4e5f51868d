//! The number of refresh token families: a user has at most so many with one app.

use serde_json::json;
use std::time::Duration;
use storage::{execute, fetch_all, fetch_one};
use tests::{App, PASSWORD, Shape, Tokens, World, on_every_shape, run_concurrently};

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
    // A process counts the second one of a minute.
    assert!((1..=2).contains(&events.len()), "{events:?}");
    assert!(events.iter().all(|(client_id,)| *client_id == app.id));
}

async fn the_family_that_is_unused_for_the_longest_time_makes_room(shape: Shape) {
    let setup = World::builder(shape).clock();
    let world = setup.flag("--max-refresh-families", "3").start().await;
    let (ann, app) = world.user_and_app().await;
    let mut all = Vec::new();
    for _ in 0..3 {
        all.push(app.tokens(&ann, "posts:read").await);
        world.advance(Duration::from_secs(1));
    }
    all[0] = Tokens::parse(app.refresh(&world.anyone(), &all[0].refresh).await);
    world.advance(Duration::from_secs(1));
    all.push(app.tokens(&ann, "posts:read").await);
    world.expect_revoked(&all[1].access).await;
    assert_eq!(refresh_each(&world, &app, &all).await, [200, 400, 200, 200]);
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

/// The code is used up by then, so the client gets its tokens: if it had to send the code again, that would
/// be a replay.
async fn a_sign_in_succeeds_if_older_families_cannot_be_ended(shape: Shape) {
    let builder = World::builder(shape).flag("--max-refresh-families", "1");
    let world = builder.start().await;
    let (ann, app) = world.user_and_app().await;
    let first = app.tokens(&ann, "posts:read").await;
    let db = world.db().await;
    let refuse = db.writer().choose(
        [
            "CREATE TRIGGER refuse BEFORE INSERT ON revocations BEGIN SELECT RAISE(ABORT, 'refused'); END",
            "SELECT 1",
        ],
        [
            "CREATE FUNCTION refuse_revocation() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$",
            "CREATE TRIGGER refuse BEFORE INSERT ON revocations FOR EACH ROW EXECUTE FUNCTION refuse_revocation()",
        ],
    );
    for statement in refuse {
        execute!(db.writer(), statement).unwrap();
    }
    let second = app.tokens(&ann, "posts:read").await;
    for tokens in [&first, &second] {
        world.expect_accepted(&tokens.access).await;
    }
    assert!(world.log().contains("the next sign-in ends them"));
    let allow = db
        .writer()
        .choose("DROP TRIGGER refuse", "DROP TRIGGER refuse ON revocations");
    execute!(db.writer(), allow).unwrap();
    let third = app.tokens(&ann, "posts:read").await;
    for ended in [&first, &second] {
        world.expect_revoked(&ended.access).await;
    }
    world.expect_accepted(&third.access).await;
}

/// However many they are. `tests/timing` does the same with 200,000.
async fn all_families_of_a_user_or_a_client_end_by_one_row(world: World) {
    let (ann, app) = world.user_and_app().await;
    let ben = world.user().await;
    let of_ben = app.tokens(&ben, "posts:read").await;
    let mut all = Vec::new();
    for _ in 0..5 {
        all.push(app.tokens(&ann, "posts:read").await);
    }
    let db = world.db().await;
    let count = async |query| fetch_one!(db.reader(), (i64,), query).unwrap().0;
    let revocations = async || count("SELECT COUNT(*) FROM revocations").await;
    let before = revocations().await;
    let body = json!({ "current_password": PASSWORD, "new_password": "another good password" });
    ann.call("PUT", "/me/password").json(&body).await.expect(204);
    assert_eq!(revocations().await, before + 1);
    assert_eq!(refresh_each(&world, &app, &all).await, [400; 5]);
    for tokens in &all {
        world.expect_revoked(&tokens.access).await;
    }
    world.expect_accepted(&of_ben.access).await;
    let before = revocations().await;
    world.cli(&["clients", "disable", &app.id, "--json"], "");
    world.expect_revoked_soon(&of_ben.access).await;
    assert_eq!(revocations().await, before + 1);
    let written = count("SELECT COUNT(*) FROM refresh_families WHERE revoked_at IS NOT NULL").await;
    assert_eq!(written, 0, "families were written");
}

on_every_shape!(
    a_family_beyond_the_maximum_ends_the_oldest,
    the_family_that_is_unused_for_the_longest_time_makes_room,
    all_families_of_a_user_or_a_client_end_by_one_row,
    a_sign_in_succeeds_if_older_families_cannot_be_ended,
    concurrent_exchanges_keep_the_maximum,
);
