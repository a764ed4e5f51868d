//! Concurrent transitions, each with its own key: no amount is captured or refunded twice.

use serde_json::{Value, json};
use tests::{Payment, Reply, SharedWorld, User, on_every_shape, run_concurrently, status_counts};

const ROUNDS: usize = 10;

/// Requests these transitions of a payment concurrently.
async fn request_concurrently(
    ann: &User,
    payment: &Payment,
    n: usize,
    moves: &[(&str, Value)],
) -> Vec<Reply> {
    run_concurrently(n, |i| {
        let (act, members) = &moves[i % moves.len()];
        ann.transition(payment, act, members).into_future()
    })
    .await
}

async fn refunds_never_exceed_the_captured_amount(world: SharedWorld) {
    let ann = world.user().await;
    for _ in 0..ROUNDS {
        let payment = ann.pay(1000).await;
        ann.transition(&payment, "captures", &json!({})).await.expect(201);
        let replies =
            request_concurrently(&ann, &payment, 20, &[("refunds", json!({ "amount": 300 }))]).await;
        assert_eq!(status_counts(&replies), [(201, 3), (422, 17)].into());
        let rest = request_concurrently(&ann, &payment, 20, &[("refunds", json!({}))]).await;
        assert_eq!(status_counts(&rest), [(201, 1), (409, 19)].into());
        let record = ann.get(&payment.path).await.expect(200).json();
        assert_eq!(
            (&record["status"], &record["amount_refunded"]),
            (&json!("refunded"), &json!(1000))
        );
    }
}

async fn a_payment_is_captured_or_canceled_once(world: SharedWorld) {
    let ann = world.user().await;
    for _ in 0..ROUNDS {
        let payment = ann.pay(1000).await;
        let moves = [
            ("captures", json!({ "amount": 600 })),
            ("cancellations", json!({})),
            ("captures", json!({})),
        ];
        let replies = request_concurrently(&ann, &payment, 21, &moves).await;
        assert_eq!(status_counts(&replies), [(201, 1), (409, 20)].into());
        let won = replies.iter().find(|reply| reply.status == 201).unwrap();
        assert_eq!(ann.get(&payment.path).await.expect(200).json(), won.json());
    }
}

async fn refunds_concurrent_with_a_capture_stay_within_it(world: SharedWorld) {
    let ann = world.user().await;
    for _ in 0..ROUNDS {
        let payment = ann.pay(1000).await;
        let moves = [
            ("captures", json!({ "amount": 500 })),
            ("refunds", json!({ "amount": 200 })),
        ];
        let replies = request_concurrently(&ann, &payment, 20, &moves).await;
        let refunds = replies.iter().skip(1).step_by(2);
        let refunded = refunds.filter(|reply| reply.status == 201).count();
        let record = ann.get(&payment.path).await.expect(200).json();
        assert_eq!(record["amount_captured"], 500);
        assert_eq!(record["amount_refunded"], 200 * refunded);
        assert!(refunded <= 2, "{:?}", status_counts(&replies));
    }
}

on_every_shape!(
    refunds_never_exceed_the_captured_amount,
    a_payment_is_captured_or_canceled_once,
    refunds_concurrent_with_a_capture_stay_within_it,
);
