//! State transitions: captures, cancellations and refunds.

use serde_json::{Value, json};
use storage::execute;
use tests::{Payment, SharedWorld, User, fresh_key, on_every_shape};

/// Expects that a transition succeeds. Returns the status, and the captured and refunded amounts.
async fn state_after(ann: &User, payment: &Payment, transition: &str, members: Value) -> (String, i64, i64) {
    let reply = ann.transition(payment, transition, &members).await.expect(201);
    assert_eq!(reply.header("location"), payment.path);
    let record = reply.json();
    assert_eq!(ann.get(&payment.path).await.expect(200).json(), record);
    let amount = |name: &str| record[name].as_i64().unwrap();
    let status = record["status"].as_str().unwrap().to_owned();
    (status, amount("amount_captured"), amount("amount_refunded"))
}

fn state(status: &str, captured: i64, refunded: i64) -> (String, i64, i64) {
    (status.to_owned(), captured, refunded)
}

async fn captured_amounts_can_be_refunded_in_parts(world: SharedWorld) {
    let ann = world.user().await;
    let payment = ann.pay(1000).await;
    let captured = state_after(&ann, &payment, "captures", json!({})).await;
    assert_eq!(captured, state("captured", 1000, 0));
    let part = state_after(&ann, &payment, "refunds", json!({ "amount": 300 })).await;
    assert_eq!(part, state("partially_refunded", 1000, 300));
    let more = state_after(&ann, &payment, "refunds", json!({ "amount": 699 })).await;
    assert_eq!(more, state("partially_refunded", 1000, 999));
    let rest = state_after(&ann, &payment, "refunds", json!({})).await;
    assert_eq!(rest, state("refunded", 1000, 1000));
}

async fn refunds_are_limited_to_the_captured_amount(world: SharedWorld) {
    let ann = world.user().await;
    let payment = ann.pay(1000).await;
    let captured = state_after(&ann, &payment, "captures", json!({ "amount": 400 })).await;
    assert_eq!(captured, state("captured", 400, 0));
    let more = ann
        .transition(&payment, "refunds", &json!({ "amount": 401 }))
        .await;
    more.expect_validation_errors(&["/amount"]);
    let all = state_after(&ann, &payment, "refunds", json!({ "amount": 400 })).await;
    assert_eq!(all, state("refunded", 400, 400));
}

async fn transitions_need_no_body(world: SharedWorld) {
    let ann = world.user().await;
    for (act, status) in [("captures", "captured"), ("cancellations", "canceled")] {
        let payment = ann.pay(100).await;
        let call = ann.post(&format!("{}/{act}", payment.path)).key(&fresh_key());
        let moved = call.await.expect(201).json();
        assert_eq!(moved["status"], status);
        if status == "captured" {
            let call = ann.post(&format!("{}/refunds", payment.path)).key(&fresh_key());
            assert_eq!(call.await.expect(201).json()["status"], "refunded");
        }
    }
    let payment = ann.pay(100).await;
    let call = ann.post(&format!("{}/captures", payment.path)).key(&fresh_key());
    call.body("text/plain", "{}")
        .await
        .expect_error(415, "unsupported_media_type");
}

async fn zero_and_excessive_amounts_are_rejected(world: SharedWorld) {
    let ann = world.user().await;
    let payment = ann.pay(100).await;
    for bad in [
        json!(101),
        json!(0),
        json!(-1),
        json!("100"),
        json!(1.5),
        Value::Null,
    ] {
        let call = ann.transition(&payment, "captures", &json!({ "amount": bad }));
        call.await.expect_validation_errors(&["/amount"]);
    }
    for (act, members, at) in [
        ("captures", json!({ "amont": 1 }), "/amont"),
        ("cancellations", json!({ "amount": 1 }), "/amount"),
    ] {
        ann.transition(&payment, act, &members)
            .await
            .expect_validation_errors(&[at]);
    }
    let captured = state_after(&ann, &payment, "captures", json!({ "amount": 100 })).await;
    assert_eq!(captured, state("captured", 100, 0));
    let refunded = state_after(&ann, &payment, "refunds", json!({ "amount": 60 })).await;
    assert_eq!(refunded, state("partially_refunded", 100, 60));
    for bad in [json!(41), json!(100), json!(0)] {
        let call = ann.transition(&payment, "refunds", &json!({ "amount": bad }));
        call.await.expect_validation_errors(&["/amount"]);
    }
}

async fn transitions_from_another_state_conflict(world: SharedWorld) {
    let ann = world.user().await;
    let mut in_state = Vec::new();
    for (name, acts, legal) in [
        ("created", vec![], vec!["captures", "cancellations"]),
        ("captured", vec![("captures", json!({}))], vec!["refunds"]),
        (
            "partially_refunded",
            vec![("captures", json!({})), ("refunds", json!({ "amount": 1 }))],
            vec!["refunds"],
        ),
        (
            "refunded",
            vec![("captures", json!({})), ("refunds", json!({}))],
            vec![],
        ),
        ("canceled", vec![("cancellations", json!({}))], vec![]),
        ("failed", vec![], vec![]),
    ] {
        let payment = ann.pay(100).await;
        for (act, members) in acts {
            ann.transition(&payment, act, &members).await.expect(201);
        }
        if name == "failed" {
            let fail = "UPDATE payments SET status = 'failed' WHERE public_id = $1";
            execute!(world.db().await.writer(), fail, payment.id.as_str()).unwrap();
        }
        in_state.push((name, payment, legal));
    }
    for (name, payment, legal) in in_state {
        let before = ann.get(&payment.path).await.expect(200).json();
        assert_eq!(before["status"], name);
        for act in ["captures", "cancellations", "refunds"] {
            if !legal.contains(&act) {
                let reply = ann.transition(&payment, act, &json!({})).await;
                reply.expect_error(409, "payment_state_conflict");
            }
        }
        assert_eq!(ann.get(&payment.path).await.expect(200).json(), before);
    }
}

on_every_shape!(
    captured_amounts_can_be_refunded_in_parts,
    refunds_are_limited_to_the_captured_amount,
    transitions_need_no_body,
    zero_and_excessive_amounts_are_rejected,
    transitions_from_another_state_conflict,
);
