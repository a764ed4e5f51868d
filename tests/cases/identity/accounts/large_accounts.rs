//! Accounts with very much data: their deletion is a short transaction, and the rest is erased in the
//! background.

use serde_json::json;
use std::time::{Duration, Instant};
use storage::{execute, fetch_one};
use tests::{Db, User, World, eventually, on_every_shape, on_postgresql, print_figure, rounds};

/// The number of drafts, of stored replies and of security events that an account gets.
fn rows() -> i64 {
    rounds(20_000, 100_000)
}
/// The largest number of rows that one statement changes.
const BATCH: i64 = 500;

/// The time in which 100,000 rows are erased at the most.
const TIME_FOR_A_HUNDRED_THOUSAND: Duration = Duration::from_mins(1);

const NUMBERS: &str =
    "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $2)";

/// Gives the user many drafts, replies under idempotency keys, and security events.
async fn fill(world: &World, user: &User) {
    let db = world.db().await;
    let id = db
        .engine()
        .choose("CAST($1 || '-' || n AS BLOB)", "CAST($1 || '-' || n AS BYTEA)");
    let drafts = "INSERT INTO posts (author_id, title, body, status, version, created_at, updated_at)
                  {numbers} SELECT $1, 'A draft', 'Its text', 'draft', 1, $3, $3 FROM numbers";
    let replies = "INSERT INTO idempotency_keys (id, user_id, fingerprint, receipt, expires_at)
                   {numbers} SELECT {id}, $1, {id}, '{}', $3 - n FROM numbers";
    let events = "INSERT INTO security_events (at, name, outcome, user_id, address, network, trace_id)
                  {numbers} SELECT $3, 'authz_fail', 'failure', $1, '203.0.113.77', '203.0.113.77', 'x' FROM numbers";
    for insert in [drafts, replies, events] {
        let insert = insert.replace("{numbers}", NUMBERS).replace("{id}", id);
        let insert = sqlx::AssertSqlSafe(insert);
        execute!(db.writer(), insert, user.id, rows(), world.now()).unwrap();
    }
}

/// The number of rows that name the user or have the text of a draft.
async fn remaining(db: &Db, user: &User) -> i64 {
    let count =
        "SELECT (SELECT COUNT(*) FROM posts WHERE author_id = $1 AND published_at IS NULL AND body <> '')
                      + (SELECT COUNT(*) FROM idempotency_keys WHERE user_id = $1)
                      + (SELECT COUNT(*) FROM security_events WHERE user_id = $1)
                      + (SELECT COUNT(*) FROM unfinished_erasures)
                      + (SELECT COUNT(*) FROM unfinished_pseudonyms)";
    fetch_one!(db.reader(), (i64,), count, user.id).unwrap().0
}

async fn delete(user: &User) {
    let body = json!({ "password": user.password });
    user.delete("/me").json(&body).await.expect(204);
}

/// Waits until nothing is left, as long as it goes on.
async fn expect_erased(db: &Db, user: &User) {
    let mut left = remaining(db, user).await;
    while left > 0 {
        let before = left;
        eventually("the erasure does not go on", async || {
            remaining(db, user).await < before
        })
        .await;
        left = remaining(db, user).await;
    }
}

/// The programs are killed right after the deletion, when most of the data is left.
async fn the_erasure_of_a_large_account_goes_on_after_a_crash(mut world: World) {
    let (ann, bob) = (world.user().await, world.user().await);
    let (post, of_bob) = (ann.publish("A post").await, bob.draft("Of another").await);
    fill(&world, &ann).await;
    delete(&ann).await;
    world.kill();
    let db = world.db().await;
    assert!(
        remaining(&db, &ann).await > rows(),
        "the transaction erased it all"
    );
    // The leases of killed processes end after half a minute.
    execute!(db.writer(), "DELETE FROM housekeeping_leases").unwrap();
    world.restart().await;
    let began = Instant::now();
    ann.get("/me").await.expect_error(401, "unauthenticated");
    bob.get(&of_bob.path).await.expect(200);
    expect_erased(&db, &ann).await;
    let (erased, took) = (3 * rows(), began.elapsed());
    print_figure(&format!("{erased} rows of an account were erased in {took:?}."));
    // The gate may run on a busy machine.
    let limit = rounds(10, 3) * TIME_FOR_A_HUNDRED_THOUSAND;
    assert!(took < limit, "{took:?}");
    bob.get(&of_bob.path).await.expect(200);
    bob.get(&post.path).await.expect(200);
}

/// PostgreSQL records how many rows each statement changes.
async fn no_statement_of_an_erasure_changes_many_rows(mut world: World) {
    let ann = world.user().await;
    fill(&world, &ann).await;
    let db = world.db().await;
    for statement in [
        "CREATE TABLE changes (number BIGINT)",
        "CREATE FUNCTION record_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
         $$ BEGIN INSERT INTO changes SELECT COUNT(*) FROM former; RETURN NULL; END $$",
        "CREATE TRIGGER record AFTER UPDATE ON posts REFERENCING OLD TABLE AS former
         FOR EACH STATEMENT EXECUTE FUNCTION record_change()",
        "CREATE TRIGGER record AFTER DELETE ON idempotency_keys REFERENCING OLD TABLE AS former
         FOR EACH STATEMENT EXECUTE FUNCTION record_change()",
        "CREATE TRIGGER record AFTER UPDATE ON security_events REFERENCING OLD TABLE AS former
         FOR EACH STATEMENT EXECUTE FUNCTION record_change()",
    ] {
        execute!(db.writer(), statement).unwrap();
    }
    delete(&ann).await;
    // Processes erase at their start and every minute.
    world.stop().await;
    world.restart().await;
    expect_erased(&db, &ann).await;
    let (largest,) = fetch_one!(db.reader(), (i64,), "SELECT MAX(number) FROM changes").unwrap();
    assert_eq!(largest, BATCH);
}

on_every_shape!(the_erasure_of_a_large_account_goes_on_after_a_crash);
on_postgresql!(no_statement_of_an_erasure_changes_many_rows);
