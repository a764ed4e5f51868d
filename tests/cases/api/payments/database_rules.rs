//! Constraints that the database enforces for every writer.

use serde_json::json;
use storage::execute;
use tests::{SharedWorld, World, on_every_shape};

const FORWARD: &str = "only moves forward";
const AMOUNTS_IN_ORDER: &str = "refunded_at_most_captured_at_most_amount";
const AGREE: &str = "status_and_amounts_agree";

async fn the_database_enforces_amounts_and_states(world: World) {
    let ann = world.user().await;
    let (created, captured, partial) = (ann.pay(100).await, ann.pay(100).await, ann.pay(100).await);
    let (refunded, canceled) = (ann.pay(100).await, ann.pay(100).await);
    for payment in [&captured, &partial, &refunded] {
        let capture = ann.transition(payment, "captures", &json!({ "amount": 80 }));
        capture.await.expect(201);
    }
    ann.transition(&partial, "refunds", &json!({ "amount": 30 }))
        .await
        .expect(201);
    ann.transition(&refunded, "refunds", &json!({})).await.expect(201);
    ann.transition(&canceled, "cancellations", &json!({}))
        .await
        .expect(201);
    let db = world.db().await;
    for (payment, set, rule) in [
        (&created, "status = 'captured'", AGREE),
        (
            &created,
            "status = 'captured', amount_captured = 101",
            AMOUNTS_IN_ORDER,
        ),
        (
            &created,
            "status = 'captured', amount_captured = -1",
            AMOUNTS_IN_ORDER,
        ),
        (&created, "status = 'canceled', amount_captured = 1", AGREE),
        (
            &created,
            "status = 'refunded', amount_captured = 100, amount_refunded = 100",
            FORWARD,
        ),
        (
            &created,
            "status = 'partially_refunded', amount_captured = 2, amount_refunded = 1",
            FORWARD,
        ),
        (&created, "amount_captured = 1", FORWARD),
        (&created, "status = 'paid'", FORWARD),
        (&created, "amount = 99", FORWARD),
        (&created, "description = 'x'", FORWARD),
        (&captured, "status = 'created', amount_captured = 0", FORWARD),
        (&captured, "status = 'canceled', amount_captured = 0", FORWARD),
        (&captured, "status = 'failed', amount_captured = 0", FORWARD),
        (&captured, "amount_captured = 100", FORWARD),
        (
            &captured,
            "status = 'partially_refunded', amount_refunded = 81",
            AMOUNTS_IN_ORDER,
        ),
        (
            &captured,
            "status = 'partially_refunded', amount_refunded = 80",
            AGREE,
        ),
        (&captured, "status = 'partially_refunded'", AGREE),
        (&captured, "status = 'refunded', amount_refunded = 79", AGREE),
        (
            &captured,
            "status = 'refunded', amount_refunded = 70, amount_captured = 70",
            FORWARD,
        ),
        (&partial, "amount_refunded = 29", FORWARD),
        (&partial, "amount_refunded = 81", AMOUNTS_IN_ORDER),
        (&partial, "amount_refunded = 80", AGREE),
        (&partial, "status = 'captured', amount_refunded = 0", FORWARD),
        (&partial, "status = 'refunded'", AGREE),
        (&partial, "currency = 'USD'", FORWARD),
        (&partial, "user_id = user_id + 1", FORWARD),
        (&partial, "metadata = '{\"a\":\"b\"}'", FORWARD),
        (&partial, "public_id = 'pay_x'", FORWARD),
        (&partial, "created_at = created_at - 1", FORWARD),
        (&refunded, "amount_refunded = 0, status = 'captured'", FORWARD),
        (&refunded, "updated_at = 1", FORWARD),
        (&canceled, "status = 'created'", FORWARD),
        (&canceled, "status = 'captured', amount_captured = 100", FORWARD),
    ] {
        let update = format!("UPDATE payments SET {set} WHERE public_id = $1");
        let refused = execute!(db.writer(), sqlx::AssertSqlSafe(update), payment.id.as_str());
        let message = refused.unwrap_err().to_string();
        assert!(message.contains(rule), "{set}: {message}");
    }
    let delete = "DELETE FROM payments WHERE public_id = $1";
    let refused = execute!(db.writer(), delete, canceled.id.as_str());
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("cannot be deleted"), "{message}");
    let refund = "UPDATE payments SET amount_refunded = 31 WHERE public_id = $1";
    assert_eq!(execute!(db.writer(), refund, partial.id.as_str()).unwrap(), 1);
}

async fn the_database_enforces_the_initial_state(world: SharedWorld) {
    let ann = world.user().await;
    let db = world.db().await;
    let insert = "INSERT INTO payments (public_id, user_id, status, amount, amount_captured, amount_refunded, currency,
                                        metadata, created_at, updated_at)
                  VALUES ('pay_x', $1, $2, $3, $4, 0, $5, '{}', 0, 0)";
    for (status, amount, captured, currency, rule) in [
        (
            "captured",
            100_i64,
            100_i64,
            "EUR",
            "must have the status created",
        ),
        ("canceled", 100, 0, "EUR", "must have the status created"),
        ("created", 100, 1, "EUR", AGREE),
        ("created", 0, 0, "EUR", "amount"),
        ("created", 100_000_000_000, 0, "EUR", "amount"),
        ("created", 100, 0, "eur", "currency"),
        ("created", 100, 0, "EURO", "currency"),
    ] {
        let refused = execute!(db.writer(), insert, ann.id, status, amount, captured, currency);
        let message = refused.unwrap_err().to_string();
        assert!(message.contains(rule), "{status} {amount} {currency}: {message}");
    }
    let none = ann.get("/payments").await.expect(200).json();
    assert_eq!(none["items"], json!([]));
}

on_every_shape!(
    the_database_enforces_amounts_and_states,
    the_database_enforces_the_initial_state,
);
