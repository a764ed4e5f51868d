//! Clients that registered themselves and were never used do not delay those that are.

use super::ALONE;
use std::time::{Duration, Instant};
use storage::execute;
use tests::{
    App, Db, Shape, Tokens, User, World, expect_p99_within_twice, on_every_shape, p99, p99_of_calls,
};

/// The number of refreshes of a sample.
const REFRESHES: usize = 200;

/// The 99th percentile of the times of refreshes in a new family.
async fn p99_of_refreshes(world: &World, app: &App, user: &User) -> Duration {
    let caller = world.anyone();
    let mut tokens = app.tokens(user, "posts:read").await;
    let mut times = Vec::new();
    for _ in 0..REFRESHES {
        let began = Instant::now();
        tokens = Tokens::parse(app.refresh(&caller, &tokens.refresh).await);
        times.push(began.elapsed());
    }
    p99(&times)
}

async fn delete_unused_registrations(db: &Db) {
    execute!(db.writer(), "DELETE FROM clients WHERE unused_until IS NOT NULL").unwrap();
}

async fn abandoned_registrations_delay_nobody(shape: Shape) {
    let _alone = ALONE.lock().await;
    let builder = World::builder(shape).flag("--client-registration", "open");
    let world = builder.start().await;
    let db = world.db().await;
    let (user, app) = world.user_and_app().await;
    let path = format!("/posts/{}", user.publish("A post").await.id);
    // The origin of a request from another one is looked up among those of all clients.
    let page = world.anyone().with("origin", "https://app.test");
    expect_p99_within_twice(
        "100,000 abandoned registrations, from another origin",
        async || {
            delete_unused_registrations(&db).await;
            let alone = p99_of_calls(&page, &path).await;
            world.abandon_registrations(&db).await;
            (alone, p99_of_calls(&page, &path).await)
        },
    )
    .await;
    expect_p99_within_twice("100,000 abandoned registrations, refreshes", async || {
        delete_unused_registrations(&db).await;
        let alone = p99_of_refreshes(&world, &app, &user).await;
        world.abandon_registrations(&db).await;
        (alone, p99_of_refreshes(&world, &app, &user).await)
    })
    .await;
}

on_every_shape!(abandoned_registrations_delay_nobody);
