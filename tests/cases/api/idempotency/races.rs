//! A hundred concurrent requests with one key: one runs, and all get the same response.

use super::{payment, rows};
use serde_json::json;
use std::collections::BTreeSet;
use tests::{SharedWorld, fresh_key, on_every_shape, run_concurrently};

fn rounds() -> i64 {
    tests::rounds(15, 200)
}
const REQUESTS: usize = 100;

async fn a_hundred_requests_with_one_key_create_one_payment(world: SharedWorld) {
    let ann = world.user().await;
    let replicas = world.at_each_api(&ann);
    for round in 0..rounds() {
        let (key, members) = (fresh_key(), json!({ "amount": round + 1, "currency": "EUR" }));
        let replies = run_concurrently(REQUESTS, |n| {
            let replica = &replicas[n % replicas.len()];
            replica.payment(&key, &members).into_future()
        });
        let replies = replies.await;
        let answers: BTreeSet<_> = replies
            .iter()
            .map(|reply| (reply.status, reply.body.clone()))
            .collect();
        assert_eq!(answers.len(), 1, "round {round}: {answers:?}");
        let first = replies.iter().filter(|reply| !reply.has("idempotent-replayed"));
        assert_eq!(first.count(), 1, "round {round}");
        replies[0].clone().expect(201);
    }
    assert_eq!(rows(&ann, &world, "payments").await, rounds());
    assert_eq!(rows(&ann, &world, "idempotency_keys").await, rounds());
}

async fn two_bodies_with_one_key_create_one_payment(world: SharedWorld) {
    let ann = world.user().await;
    let replicas = world.at_each_api(&ann);
    for _ in 0..10 {
        let key = fresh_key();
        let replies = run_concurrently(40, |n| {
            let members = json!({ "amount": 1 + n % 2, "currency": "EUR" });
            replicas[n / 2 % replicas.len()]
                .payment(&key, &members)
                .into_future()
        });
        let replies = replies.await;
        let (done, refused): (Vec<_>, Vec<_>) = replies.into_iter().partition(|reply| reply.status == 201);
        assert_eq!((done.len(), refused.len()), (20, 20));
        assert!(done.iter().all(|reply| reply.body == done[0].body));
        for reply in refused {
            reply.expect_problem(422, "idempotency_key_reused");
        }
    }
    assert_eq!(rows(&ann, &world, "payments").await, 10);
}

/// A refund that is sent many times runs once, also concurrently with other refunds.
async fn concurrent_refunds_with_one_key_refund_once(world: SharedWorld) {
    let ann = world.user().await;
    let replicas = world.at_each_api(&ann);
    let made = ann.pay(1000).await;
    ann.transition(&made, "captures", &json!({})).await.expect(201);
    let keys = [fresh_key(), fresh_key(), fresh_key()];
    let replies = run_concurrently(60, |n| {
        let call = replicas[n % replicas.len()].post(&format!("{}/refunds", made.path));
        call.key(&keys[n % 3])
            .json(&json!({ "amount": 100 }))
            .into_future()
    });
    for reply in replies.await {
        reply.expect(201);
    }
    assert_eq!(ann.get(&made.path).await.json()["amount_refunded"], 300);
    ann.payment(&keys[0], &payment()).await.expect(201);
}

on_every_shape!(
    a_hundred_requests_with_one_key_create_one_payment,
    two_bodies_with_one_key_create_one_payment,
    concurrent_refunds_with_one_key_refund_once,
);
