//! Expired rows are deleted beside other writes.

use std::time::{Duration, Instant};
use storage::{execute, fetch_one};
use tests::{World, on_every_shape};

const ROWS: i64 = 20_000;
const TIMEOUT: Duration = Duration::from_secs(30);

async fn expired_rows_are_deleted_in_small_transactions(mut world: World) {
    world.stop().await;
    let db = world.db().await;
    let fill = "INSERT INTO revocations (kind, subject, revoked_at, expires_at)
                WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $1)
                SELECT 'jti', 'expired-' || n, 1, 1 FROM numbers";
    execute!(db.writer(), fill, ROWS).unwrap();
    world.restart().await;
    let began = Instant::now();
    let mut seen = Vec::new();
    while seen.last() != Some(&0) {
        assert!(
            began.elapsed() < TIMEOUT,
            "expired rows remain: {:?}",
            seen.last()
        );
        let (rows,) = fetch_one!(db.reader(), (i64,), "SELECT COUNT(*) FROM revocations").unwrap();
        seen.push(rows);
    }
    let in_between = seen.iter().filter(|rows| (1..ROWS).contains(*rows)).count();
    assert!(in_between > 0, "the rows disappeared at once");
}

on_every_shape!(expired_rows_are_deleted_in_small_transactions);
