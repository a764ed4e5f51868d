//! Repeated requests while the first one is in progress wait and block no other requests.

use super::{expect_replay, payment, rows};
use serde_json::json;
use std::time::{Duration, Instant};
use storage::db::{Db, Engine, Tx};
use storage::{execute, fetch_one};
use tests::{World, fresh_key, on_every_shape, run_concurrently, status_counts};
use tokio::task::JoinHandle;

const MAX_WAIT: Duration = Duration::from_secs(5);

/// Locks the database against writes of payments.
async fn lock_payments(db: &Db) -> Tx {
    let mut tx = db.begin().await.unwrap();
    if matches!(db.engine(), Engine::Postgres(())) {
        execute!(tx.on(), "LOCK TABLE payments IN EXCLUSIVE MODE").unwrap();
    }
    tx
}

/// Waits until the request waits for the lock or is answered. Returns immediately on SQLite, which does not
/// report waiting requests.
async fn wait_until_blocked<T>(db: &Db, request: &JoinHandle<T>) {
    let waiting = "SELECT COUNT(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
                   WHERE d.datname = current_database() AND NOT l.granted";
    if let Engine::Postgres(()) = db.engine() {
        while !request.is_finished() && fetch_one!(db.reader(), (i64,), waiting).unwrap().0 == 0 {}
    }
}

async fn waiting_requests_time_out_without_blocking_others(world: World) {
    let ann = world.user().await;
    let (bob, key, db) = (world.user().await, fresh_key(), world.db().await);
    let replicas = world.at_each_api(&ann);
    let lock = lock_payments(&db).await;
    let is_sqlite = matches!(db.engine(), Engine::Sqlite(()));
    let began = Instant::now();
    let first = tokio::spawn(replicas[0].payment(&key, &payment()).may_fail().into_future());
    wait_until_blocked(&db, &first).await;
    let repeated = tokio::spawn({
        let (replicas, key) = (replicas.clone(), key.clone());
        async move {
            run_concurrently(40, |n| {
                let replica = &replicas[n % replicas.len()];
                replica.payment(&key, &payment()).may_fail().into_future()
            })
            .await
        }
    });
    // There are more waiting requests than database connections, and other requests still get one.
    for _ in 0..10 {
        bob.get("/payments").await.expect(200);
        if !is_sqlite {
            let post = bob
                .post("/posts")
                .key(&fresh_key())
                .json(&json!({ "title": "A title" }));
            post.await.expect(201);
        }
    }
    assert!(!repeated.is_finished() && !first.is_finished());
    let repeated = repeated.await.unwrap();
    assert!(began.elapsed() >= MAX_WAIT, "{:?}", began.elapsed());
    // On SQLite any of them may have been the first to begin its write, which fails after the same time. A
    // request that arrived late enough still waits then, and begins the second.
    let gave_up = status_counts(&repeated).get(&503).copied().unwrap_or_default();
    assert!(
        gave_up <= if is_sqlite { 2 } else { 0 },
        "{:?}",
        status_counts(&repeated)
    );
    for reply in repeated.into_iter().filter(|reply| reply.status != 503) {
        let reply = reply.expect_problem(409, "idempotency_in_progress");
        let seconds: u64 = reply.header("retry-after").parse().unwrap();
        assert!((1..=5).contains(&seconds), "{reply}");
    }
    drop(lock);
    let first = first.await.unwrap();
    let again = ann.payment(&key, &payment()).await.expect(201);
    if first.status == 201 {
        expect_replay(&again, &first);
    }
    assert_eq!(rows(&ann, &world, "payments").await, 1);
}

async fn waiting_requests_get_the_response_of_the_first(world: World) {
    let ann = world.user().await;
    let (key, db) = (fresh_key(), world.db().await);
    let replicas = world.at_each_api(&ann);
    let lock = lock_payments(&db).await;
    let first = tokio::spawn(replicas[0].payment(&key, &payment()).into_future());
    wait_until_blocked(&db, &first).await;
    let repeated: Vec<_> = (0..40)
        .map(|n| {
            tokio::spawn(
                replicas[n % replicas.len()]
                    .payment(&key, &payment())
                    .into_future(),
            )
        })
        .collect();
    // Gives the other requests time to arrive.
    ann.get("/payments").await.expect(200);
    drop(lock);
    let first = first.await.unwrap().expect(201);
    for reply in repeated {
        assert_eq!(reply.await.unwrap().expect(201).body, first.body);
    }
    assert_eq!(rows(&ann, &world, "payments").await, 1);
}

/// A client that disconnects leaves no claim that blocks its retry.
async fn aborted_requests_leave_no_claim(world: World) {
    let ann = world.user().await;
    let (key, db) = (fresh_key(), world.db().await);
    for replica in world.at_each_api(&ann) {
        let lock = lock_payments(&db).await;
        let first = tokio::spawn(replica.payment(&key, &payment()).into_future());
        wait_until_blocked(&db, &first).await;
        first.abort();
        // A replica that finished a request before it noticed that its client was gone has a response for the
        // next one.
        if let Ok(answered) = first.await {
            answered.expect(201);
        }
        drop(lock);
    }
    let began = Instant::now();
    let made = ann.payment(&key, &payment()).await.expect(201);
    assert!(began.elapsed() < MAX_WAIT, "{:?}", began.elapsed());
    expect_replay(&ann.payment(&key, &payment()).await, &{
        let mut first = made.clone();
        first.headers.remove("idempotent-replayed");
        first
    });
    assert_eq!(rows(&ann, &world, "payments").await, 1);
}

on_every_shape!(
    waiting_requests_time_out_without_blocking_others,
    waiting_requests_get_the_response_of_the_first,
    aborted_requests_leave_no_claim,
);
