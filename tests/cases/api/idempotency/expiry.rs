//! The retention of stored responses.

use super::{expect_replay, payment, rows};
use serde_json::json;
use std::time::{Duration, Instant};
use storage::execute;
use tests::{PASSWORD, Shape, World, fresh_key, on_every_shape};

const DAY: Duration = Duration::from_secs(86_400);
const SECOND: Duration = Duration::from_secs(1);
/// The maximum time for the deletion of expired keys, which begins when an API process starts.
const DELETION_TIMEOUT: Duration = Duration::from_secs(60);

async fn responses_are_kept_for_thirty_days(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (mut ann, key) = (world.user().await, fresh_key());
    let first = ann.payment(&key, &payment()).await.expect(201);
    world.advance(30 * DAY - SECOND);
    ann = world.log_in(&ann.email, PASSWORD).await;
    expect_replay(&ann.payment(&key, &payment()).await, &first);
    world.advance(SECOND);
    // The expired row still exists and is ignored, whatever the body.
    let other = json!({ "amount": 7, "currency": "CHF" });
    let second = ann.payment(&key, &other).await.expect(201);
    assert!(!second.has("idempotent-replayed"), "{second}");
    assert_ne!(second.json()["id"], first.json()["id"]);
    expect_replay(&ann.payment(&key, &other).await, &second);
    assert_eq!(
        (
            rows(&ann, &world, "payments").await,
            rows(&ann, &world, "idempotency_keys").await
        ),
        (2, 1)
    );
}

async fn the_retention_time_is_configurable(shape: Shape) {
    let setup = World::builder(shape).flag("--idempotency-key-lifetime", "1m");
    let world = setup.clock().start().await;
    let (ann, key) = (world.user().await, fresh_key());
    let first = ann.payment(&key, &payment()).await.expect(201);
    world.advance(59 * SECOND);
    expect_replay(&ann.payment(&key, &payment()).await, &first);
    world.advance(SECOND);
    let second = ann.payment(&key, &payment()).await.expect(201);
    assert_ne!(second.json()["id"], first.json()["id"]);
}

async fn only_expired_keys_are_deleted(mut world: World) {
    let ann = world.user().await;
    let (kept, key) = (ann.payment("kept", &payment()).await.expect(201), "kept");
    let now = world.now().micros();
    let db = world.db().await;
    let mut tx = db.begin().await.unwrap();
    let insert = "INSERT INTO idempotency_keys (id, user_id, fingerprint, receipt, expires_at)
                  VALUES ($1, $2, $1, '{}', $3)";
    // More rows than one statement deletes.
    for n in 0..1_203_i64 {
        let id = n.to_be_bytes().to_vec();
        execute!(tx.on(), insert, id, ann.id, now - n).unwrap();
    }
    tx.commit().await.unwrap();
    assert_eq!(rows(&ann, &world, "idempotency_keys").await, 1_204);
    world.stop().await;
    world.restart().await;
    let began = Instant::now();
    while rows(&ann, &world, "idempotency_keys").await > 1 {
        assert!(
            began.elapsed() < DELETION_TIMEOUT,
            "{} keys are still stored",
            rows(&ann, &world, "idempotency_keys").await
        );
    }
    expect_replay(&ann.payment(key, &payment()).await, &kept);
}

on_every_shape!(
    responses_are_kept_for_thirty_days,
    the_retention_time_is_configurable,
    only_expired_keys_are_deleted,
);
