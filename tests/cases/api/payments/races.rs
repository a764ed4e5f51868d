//! Many moves at once, each under a key of its own: no more is taken or given back than there is.

use serde_json::{Value, json};
use tests::{Payment, Person, Reply, World, all_at_once, counts, on_every_shape};

const ROUNDS: usize = 10;

/// Makes these moves of a payment at once.
async fn at_once(ann: &Person, payment: &Payment, n: usize, moves: &[(&str, Value)]) -> Vec<Reply> {
    all_at_once(n, |i| {
        let (act, members) = &moves[i % moves.len()];
        ann.act(payment, act, members).into_future()
    })
    .await
}

async fn the_sum_of_refunds_is_never_more_than_was_captured(world: World) {
    let ann = world.sign_up().await;
    for _ in 0..ROUNDS {
        let payment = ann.pay(1000).await;
        ann.act(&payment, "captures", &json!({})).await.expect(201);
        let replies = at_once(&ann, &payment, 20, &[("refunds", json!({ "amount": 300 }))]).await;
        assert_eq!(counts(&replies), [(201, 3), (422, 17)].into());
        let rest = at_once(&ann, &payment, 20, &[("refunds", json!({}))]).await;
        assert_eq!(counts(&rest), [(201, 1), (409, 19)].into());
        let record = ann.get(&payment.path).await.expect(200).json();
        assert_eq!(
            (&record["status"], &record["amount_refunded"]),
            (&json!("refunded"), &json!(1000))
        );
    }
}

async fn a_payment_is_captured_or_canceled_once(world: World) {
    let ann = world.sign_up().await;
    for _ in 0..ROUNDS {
        let payment = ann.pay(1000).await;
        let moves = [
            ("captures", json!({ "amount": 600 })),
            ("cancellations", json!({})),
            ("captures", json!({})),
        ];
        let replies = at_once(&ann, &payment, 21, &moves).await;
        assert_eq!(counts(&replies), [(201, 1), (409, 20)].into());
        let won = replies.iter().find(|reply| reply.status == 201).unwrap();
        assert_eq!(ann.get(&payment.path).await.expect(200).json(), won.json());
    }
}

async fn refunds_beside_a_capture_give_back_what_it_took(world: World) {
    let ann = world.sign_up().await;
    for _ in 0..ROUNDS {
        let payment = ann.pay(1000).await;
        let moves = [
            ("captures", json!({ "amount": 500 })),
            ("refunds", json!({ "amount": 200 })),
        ];
        let replies = at_once(&ann, &payment, 20, &moves).await;
        let refunds = replies.iter().skip(1).step_by(2);
        let refunded = refunds.filter(|reply| reply.status == 201).count();
        let record = ann.get(&payment.path).await.expect(200).json();
        assert_eq!(record["amount_captured"], 500);
        assert_eq!(record["amount_refunded"], 200 * refunded);
        assert!(refunded <= 2, "{:?}", counts(&replies));
    }
}

on_every_shape!(
    the_sum_of_refunds_is_never_more_than_was_captured,
    a_payment_is_captured_or_canceled_once,
    refunds_beside_a_capture_give_back_what_it_took,
);
