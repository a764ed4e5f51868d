//! Expired rows are deleted beside other writes.

use std::time::{Duration, Instant};
use storage::{execute, fetch_all, fetch_one};
use tests::{Db, Shape, World, eventually, on_every_shape, on_many_processes, on_postgresql, on_shapes};

const ROWS: i64 = 20_000;
const TIMEOUT: Duration = Duration::from_secs(120);

/// The rows are counted from before the start on, because the deletion may be over when the program is ready.
/// A busy machine may still run all transactions between two counts, so the test repeats until a count falls
/// between them.
async fn expired_rows_are_deleted_in_small_transactions(mut world: World) {
    const ROUNDS: usize = 5;
    world.stop().await;
    let db = world.db().await;
    for _ in 0..ROUNDS {
        fill(&db).await;
        let (counts, ()) = tokio::join!(counts_until_none(&db), world.restart());
        if counts.iter().any(|rows| (1..ROWS).contains(rows)) {
            return;
        }
        world.stop().await;
    }
    panic!("the rows disappeared at once, {ROUNDS} times");
}

/// Counts the rows until there are none. Returns the counts.
async fn counts_until_none(db: &Db) -> Vec<i64> {
    let began = Instant::now();
    let mut counts = Vec::new();
    while counts.last() != Some(&0) {
        assert!(
            began.elapsed() < TIMEOUT,
            "expired rows remain: {:?}",
            counts.last()
        );
        counts.push(count(db).await);
    }
    counts
}

/// PostgreSQL records each statement that deletes revocations.
async fn each_transaction_deletes_at_most_500_rows(mut world: World) {
    world.stop().await;
    let db = world.db().await;
    for statement in [
        "CREATE TABLE deletions (at TIMESTAMPTZ, number BIGINT)",
        "CREATE FUNCTION record_deletion() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN INSERT INTO deletions SELECT clock_timestamp(), COUNT(*) FROM gone; RETURN NULL; END $$",
        "CREATE TRIGGER record AFTER DELETE ON revocations REFERENCING OLD TABLE AS gone
         FOR EACH STATEMENT EXECUTE FUNCTION record_deletion()",
    ] {
        execute!(db.writer(), statement).unwrap();
    }
    fill(&db).await;
    world.restart().await;
    counts_until_none(&db).await;
    let leases = async || {
        fetch_one!(db.reader(), (i64,), "SELECT COUNT(*) FROM housekeeping_leases")
            .unwrap()
            .0
    };
    eventually("a lease remains", async || leases().await == 0).await;
    let batches = "SELECT MAX(number), COUNT(*) FROM deletions WHERE number > 0";
    let (largest, batches) = fetch_one!(db.reader(), (i64, i64), batches).unwrap();
    assert_eq!((largest, batches), (500, ROWS / 500));
    let pause = "SELECT (EXTRACT(EPOCH FROM MIN(pause)) * 1000)::BIGINT
                 FROM (SELECT at - LAG(at) OVER (ORDER BY at) AS pause FROM deletions WHERE number > 0) AS pauses";
    let (pause,) = fetch_one!(db.reader(), (i64,), pause).unwrap();
    assert!(pause >= 20, "a pause of {pause} ms");
}

/// The replica that deletes waits for a row that the test holds. The other one neither waits nor deletes: it
/// goes on to the alerts.
async fn one_replica_deletes_at_a_time(mut world: World) {
    world.stop().await;
    let db = world.db().await;
    fill(&db).await;
    insert_expired_alert(&db).await;
    let mut tx = db.begin().await.unwrap();
    let held = "SELECT id FROM revocations FOR UPDATE";
    fetch_all!(tx.on(), (i64,), held).unwrap();
    world.restart().await;
    eventually("both replicas wait for the same rows", async || {
        alerts(&db).await == 0
    })
    .await;
    assert_eq!(count(&db).await, ROWS, "the other replica deleted rows");
    drop(tx);
}

/// Inserts expired rows. Deletes the leases of processes that were stopped in their first housekeeping, which
/// would delay the next one.
async fn fill(db: &Db) {
    execute!(db.writer(), "DELETE FROM housekeeping_leases").unwrap();
    let fill = "INSERT INTO revocations (kind, subject, revoked_at, expires_at)
                WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $1)
                SELECT 'jti', 'expired-' || n, n, n FROM numbers";
    execute!(db.writer(), fill, ROWS).unwrap();
}

async fn count(db: &Db) -> i64 {
    fetch_one!(db.reader(), (i64,), "SELECT COUNT(*) FROM revocations")
        .unwrap()
        .0
}

/// A process that was killed had a lease on the deletion of revocations. Others do not delete them for half a
/// minute.
async fn the_lease_of_a_killed_process_ends(shape: Shape) {
    let mut world = World::builder(shape).clock().start().await;
    world.stop().await;
    let db = world.db().await;
    fill(&db).await;
    insert_expired_alert(&db).await;
    let lease = "INSERT INTO housekeeping_leases (task, holder, ends_at) VALUES ('DELETE FROM revocations', 'killed', $1)";
    execute!(db.writer(), lease, world.now().after(Duration::from_secs(30))).unwrap();
    world.restart().await;
    eventually("the later tasks did not run", async || alerts(&db).await == 0).await;
    assert_eq!(count(&db).await, ROWS);
    world.stop().await;
    world.advance(Duration::from_secs(31));
    world.restart().await;
    counts_until_none(&db).await;
}

/// Inserts an alert that housekeeping deletes after everything else.
async fn insert_expired_alert(db: &Db) {
    let alert =
        "INSERT INTO alerts (at, kind, subject, period, trace_id, logged_at, attempts, due_at, delivered_at)
                 VALUES (1, 'expired', '', 0, '', 1, 1, 1, 1)";
    execute!(db.writer(), alert).unwrap();
}

async fn alerts(db: &Db) -> i64 {
    fetch_one!(db.reader(), (i64,), "SELECT COUNT(*) FROM alerts")
        .unwrap()
        .0
}

on_shapes!(the_lease_of_a_killed_process_ends: postgres Postgres);
on_many_processes!(one_replica_deletes_at_a_time);
on_every_shape!(expired_rows_are_deleted_in_small_transactions);
on_postgresql!(each_transaction_deletes_at_most_500_rows);
