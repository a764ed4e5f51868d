//! The copy of a large installation, with its time and its memory.

use super::{fill, kill_copy};
use serde_json::Value;
use std::process::{Child, Output};
use std::time::{Duration, Instant};
use storage::fetch_one;
use tests::{Database, Db, World, on_shapes, peak_memory_kib, print_figure};

/// The numbers of users, posts and events.
const ROWS: [u32; 3] = [100_000, 1_000_000, 1_000_000];
/// The tables and the numbers of copied rows at which the command is killed, in the order of the copy.
const PLACES: [(&str, i64); 3] = [
    ("security_events", 300_000),
    ("security_events", 650_000),
    ("posts", 500_000),
];

/// The numbers of users, posts and events of a database.
async fn counts(db: &Db) -> [i64; 3] {
    let count = "SELECT (SELECT COUNT(*) FROM users), (SELECT COUNT(*) FROM posts),
                        (SELECT COUNT(*) FROM security_events)";
    let (users, posts, events) = fetch_one!(db.reader(), (i64, i64, i64), count).unwrap();
    [users, posts, events]
}

/// Waits for the end of a command. Returns its output, and the most memory that it has held, in KiB.
async fn end(mut command: Child) -> (Output, u64) {
    let mut memory = 0;
    while command.try_wait().unwrap().is_none() {
        memory = peak_memory_kib(command.id()).unwrap_or(memory);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    (command.wait_with_output().unwrap(), memory)
}

/// The time is that of all four runs, and the memory that of the last one, which copies the rest and compares
/// all.
async fn a_large_installation_is_copied_by_a_command_that_is_killed(mut world: World) {
    let user = world.user().await;
    world.stop().await;
    fill(&world, &user, ROWS).await;
    let source = world.db().await;
    let filled = counts(&source).await;
    source.close().await;
    let target = Database::create();
    let url = target.url();
    let to = ["copy", "--json", "--to", &url];
    let db = Db::open(&url.parse().unwrap(), 2, 1).await.unwrap();
    let began = Instant::now();
    for (table, rows) in PLACES {
        let (at, copied) = kill_copy(&world, &to, &db, (table, rows)).await;
        assert!(at == table && copied < 1_000_000, "{at} {copied}");
    }
    let (output, memory) = end(world.spawn(&to)).await;
    let time = began.elapsed();
    assert!(output.status.success(), "{output:?}");
    let progress = String::from_utf8_lossy(&output.stderr);
    for copied_before in ["copied  security_events", "copied  posts  100000 of"] {
        assert!(!progress.contains(copied_before), "{progress}");
    }
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let reported = ["users", "posts", "security_events"].map(|table| report["rows"][table].as_i64().unwrap());
    assert_eq!([counts(&db).await, reported], [filled, filled]);
    let rows: u64 = report["rows"]
        .as_object()
        .unwrap()
        .values()
        .filter_map(Value::as_u64)
        .sum();
    print_figure(&format!(
        "A copy of {rows} rows to PostgreSQL, killed three times, resumed and compared: {time:.1?}, \
         {} rows a second, {} MiB.",
        u128::from(rows) * 1_000 / time.as_millis(),
        memory / 1_024,
    ));
}

on_shapes!(a_large_installation_is_copied_by_a_command_that_is_killed: ; long: sqlite Sqlite);
