//! A user with 100,000 drafts and 300,000 security events deletes the account, and others are served
//! meanwhile and afterwards.

use super::ALONE;
use serde_json::json;
use std::time::{Duration, Instant};
use storage::{execute, fetch_one};
use tests::{Shape, User, World, expect_p99_within_twice, on_every_shape, p99_of_calls, print_figure};

const NUMBERS: &str =
    "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100000)";
const EVENTS: i64 = 300_000;
/// The difference between two deletions that counts as none.
const NEGLIGIBLE: Duration = Duration::from_millis(250);

async fn fill(world: &World, user: &User) {
    let db = world.db().await;
    let drafts = "INSERT INTO posts (author_id, title, body, status, version, created_at, updated_at)
                  {numbers} SELECT $1, 'A draft', 'Its text', 'draft', 1, $2, $2 FROM numbers";
    let events = "INSERT INTO security_events (at, name, outcome, user_id, address, network, trace_id)
                  {numbers} SELECT $2, 'authz_fail', 'failure', $1, '203.0.113.77', '203.0.113.77', 'x' FROM numbers";
    for insert in [drafts, events, events, events] {
        let insert = sqlx::AssertSqlSafe(insert.replace("{numbers}", NUMBERS));
        execute!(db.writer(), insert, user.id, world.now()).unwrap();
    }
}

/// Deletes the account. Returns the time that the call took.
async fn delete(user: &User) -> Duration {
    let began = Instant::now();
    let body = json!({ "password": user.password });
    user.delete("/me").json(&body).await.expect(204);
    began.elapsed()
}

/// Waits until a process erases the data of the deleted account, which it begins within a minute.
async fn wait_for_erasure(world: &World, user: &User) {
    let db = world.db().await;
    let count = "SELECT COUNT(*) FROM security_events WHERE user_id = $1";
    let began = Instant::now();
    while fetch_one!(db.reader(), (i64,), count, user.id).unwrap().0 > EVENTS - 1_000 {
        assert!(
            began.elapsed() < Duration::from_secs(120),
            "the erasure does not begin"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn a_large_account_is_deleted_as_fast_as_a_small_one(shape: Shape) {
    let _alone = ALONE.lock().await;
    let world = World::builder(shape).start().await;
    let bob = world.sign_up().await;
    let of_small = delete(&world.sign_up().await).await;
    expect_p99_within_twice("the erasure of a large account", async || {
        let ann = world.sign_up().await;
        fill(&world, &ann).await;
        let alone = p99_of_calls(&bob, "/me").await;
        let of_large = delete(&ann).await;
        print_figure(&format!(
            "deletion of a small account {of_small:?}, of a large one {of_large:?}"
        ));
        assert!(of_large < of_small + NEGLIGIBLE, "{of_small:?}, {of_large:?}");
        wait_for_erasure(&world, &ann).await;
        (alone, p99_of_calls(&bob, "/me").await)
    })
    .await;
}

on_every_shape!(a_large_account_is_deleted_as_fast_as_a_small_one);
