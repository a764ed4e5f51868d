//! Writes that carry a key are done once, whatever is lost, repeated, raced or killed on the way.

mod concurrent_requests;
mod expiry;
mod keys;
mod process_kills;
mod races;
mod replays;
mod scope;

use serde_json::{Value, json};
use shared::fetch_one;
use tests::{Caller, Reply, World};

/// A good payment.
fn payment() -> Value {
    json!({ "amount": 1250, "currency": "EUR" })
}

/// Each API on its own, by whom this caller calls.
fn replicas(world: &World, caller: &Caller) -> Vec<Caller> {
    let at = |port| caller.at(&format!("http://localhost:{port}"));
    world.api_ports().into_iter().map(at).collect()
}

/// How many rows a table has.
async fn rows(world: &World, table: &str) -> i64 {
    let count = format!("SELECT COUNT(*) FROM {table}");
    let db = world.db().await;
    fetch_one!(db.reader(), (i64,), sqlx::AssertSqlSafe(count))
        .unwrap()
        .0
}

/// Expects the same answer once more, said to be a replay.
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
