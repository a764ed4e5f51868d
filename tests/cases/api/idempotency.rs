//! Writes with an idempotency key run once despite lost responses, retries, races and kills.

mod concurrent_requests;
mod expiry;
mod keys;
mod process_kills;
mod races;
mod replays;
mod scope;

use serde_json::{Value, json};
use storage::fetch_one;
use tests::{Reply, User, World};

/// The members of a valid payment.
fn payment() -> Value {
    json!({ "amount": 1250, "currency": "EUR" })
}

/// The number of rows of a user in a table.
async fn rows(user: &User, world: &World, table: &str) -> i64 {
    let owner = if table == "posts" { "author_id" } else { "user_id" };
    let count = format!("SELECT COUNT(*) FROM {table} WHERE {owner} = $1");
    let db = world.db().await;
    fetch_one!(db.reader(), (i64,), sqlx::AssertSqlSafe(count), user.id)
        .unwrap()
        .0
}

/// Expects the same response, marked as a replay.
#[track_caller]
fn expect_replay(reply: &Reply, first: &Reply) {
    assert_eq!(reply.header("idempotent-replayed"), "true", "{reply}");
    assert!(!first.has("idempotent-replayed"), "{first}");
    assert_eq!(
        (reply.status, &reply.body),
        (first.status, &first.body),
        "{reply}"
    );
    for name in ["location", "etag", "content-type"] {
        assert_eq!(reply.headers.get(name), first.headers.get(name), "{reply}");
    }
}
