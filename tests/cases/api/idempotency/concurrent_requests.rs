//! A call whose first one is not done yet: it waits, and keeps nobody else from anything.

use super::{expect_replay, payment, replicas, rows};
use serde_json::json;
use shared::db::{Db, Tx};
use shared::{execute, fetch_one};
use std::time::{Duration, Instant};
use tests::{World, all_at_once, counts, fresh_key, on_every_shape};

const PATIENCE: Duration = Duration::from_secs(5);

/// Keeps the database from writing payments.
async fn hold(db: &Db) -> Tx {
    let mut tx = db.begin().await.unwrap();
    if matches!(db, Db::Postgres(_)) {
        execute!(tx.on(), "LOCK TABLE payments IN EXCLUSIVE MODE").unwrap();
    }
    tx
}

/// Waits until a call waits for what is held, where that can be seen.
async fn until_one_waits(db: &Db) {
    let waiting = "SELECT COUNT(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
                   WHERE d.datname = current_database() AND NOT l.granted";
    if let Db::Postgres(_) = db {
        while fetch_one!(db.reader(), (i64,), waiting).unwrap().0 == 0 {}
    }
}

async fn who_waits_too_long_is_told_so_and_others_go_on(world: World) {
    let ann = world.sign_up().await;
    let (bob, key, db) = (world.sign_up().await, fresh_key(), world.db().await);
    let replicas = replicas(&world, &ann);
    let held = hold(&db).await;
    let is_sqlite = matches!(db, Db::Sqlite { .. });
    let began = Instant::now();
    let first = tokio::spawn(replicas[0].payment(&key, &payment()).may_fail().into_future());
    until_one_waits(&db).await;
    let crowd = tokio::spawn({
        let (replicas, key) = (replicas.clone(), key.clone());
        async move {
            all_at_once(40, |n| {
                let replica = &replicas[n % replicas.len()];
                replica.payment(&key, &payment()).may_fail().into_future()
            })
            .await
        }
    });
    // Many more of them than connections to the database, and yet there is one for whoever else calls.
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
    assert!(!crowd.is_finished() && !first.is_finished());
    let crowd = crowd.await.unwrap();
    assert!(began.elapsed() >= PATIENCE, "{:?}", began.elapsed());
    // SQLite gives up a write after as long: any one may have been the first.
    let gave_up = counts(&crowd).get(&503).copied().unwrap_or_default();
    assert!(gave_up <= usize::from(is_sqlite), "{:?}", counts(&crowd));
    for reply in crowd.into_iter().filter(|reply| reply.status != 503) {
        let reply = reply.expect_problem(409, "idempotency_in_progress");
        let seconds: u64 = reply.header("retry-after").parse().unwrap();
        assert!((1..=5).contains(&seconds), "{reply}");
    }
    drop(held);
    let first = first.await.unwrap();
    let again = ann.payment(&key, &payment()).await.expect(201);
    if first.status == 201 {
        expect_replay(&again, &first);
    }
    assert_eq!(rows(&world, "payments").await, 1);
}

async fn who_waits_is_answered_when_the_first_is_done(world: World) {
    let ann = world.sign_up().await;
    let (key, db) = (fresh_key(), world.db().await);
    let replicas = replicas(&world, &ann);
    let held = hold(&db).await;
    let first = tokio::spawn(replicas[0].payment(&key, &payment()).into_future());
    until_one_waits(&db).await;
    let crowd: Vec<_> = (0..40)
        .map(|n| {
            tokio::spawn(
                replicas[n % replicas.len()]
                    .payment(&key, &payment())
                    .into_future(),
            )
        })
        .collect();
    // The crowd is on its way.
    ann.get("/payments").await.expect(200);
    drop(held);
    let first = first.await.unwrap().expect(201);
    for reply in crowd {
        assert_eq!(reply.await.unwrap().expect(201).body, first.body);
    }
    assert_eq!(rows(&world, "payments").await, 1);
}

/// Whoever hangs up in the middle leaves nothing that is in the way.
async fn a_call_that_is_given_up_is_no_call(world: World) {
    let ann = world.sign_up().await;
    let (key, db) = (fresh_key(), world.db().await);
    for replica in replicas(&world, &ann) {
        let held = hold(&db).await;
        let first = tokio::spawn(replica.payment(&key, &payment()).into_future());
        until_one_waits(&db).await;
        first.abort();
        assert!(first.await.is_err());
        drop(held);
    }
    let began = Instant::now();
    let made = ann.payment(&key, &payment()).await.expect(201);
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    expect_replay(&ann.payment(&key, &payment()).await, &{
        let mut first = made.clone();
        first.headers.remove("idempotent-replayed");
        first
    });
    assert_eq!(rows(&world, "payments").await, 1);
}

on_every_shape!(
    who_waits_too_long_is_told_so_and_others_go_on,
    who_waits_is_answered_when_the_first_is_done,
    a_call_that_is_given_up_is_no_call,
);
