//! Creating and reading payments.

use serde_json::{Value, json};
use tests::{SharedWorld, fresh_key, on_every_shape};

async fn creating_returns_id_and_status_and_reading_returns_all_members(world: SharedWorld) {
    let ann = world.user().await;
    let members = json!({
        "amount": 1250,
        "currency": "EUR",
        "description": "Zwei Karten, \u{1f980}",
        "metadata": { "order": "1001", "": "" , "é": "x" },
    });
    let refused = ann.payment(&fresh_key(), &members).await;
    refused.expect_validation_errors(&["/metadata"]);
    let mut members = members;
    members["metadata"].as_object_mut().unwrap().remove("");
    let made = ann.payment(&fresh_key(), &members).await.expect(201);
    let id = made.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(made.json(), json!({ "id": id, "status": "created" }));
    assert_eq!(made.header("location"), format!("/payments/{id}"));
    let is_v7 = id.starts_with("pay_") && id.len() == 40 && id.as_bytes()[18] == b'7';
    assert!(is_v7 && !made.has("idempotent-replayed"), "{made}");
    let read = ann.get(made.header("location")).await.expect(200).json();
    for (name, value) in members.as_object().unwrap() {
        assert_eq!(&read[name], value, "{name}");
    }
    assert_eq!(
        (
            &read["id"],
            &read["status"],
            &read["amount_captured"],
            &read["amount_refunded"]
        ),
        (&json!(id), &json!("created"), &json!(0), &json!(0))
    );
    assert_eq!(read["created_at"], read["updated_at"]);
    assert_eq!(read.as_object().unwrap().len(), 10, "{read}");
}

async fn description_and_metadata_are_optional(world: SharedWorld) {
    let ann = world.user().await;
    let payment = ann.pay(1).await;
    let read = ann.get(&payment.path).await.expect(200).json();
    assert_eq!(
        (&read["description"], &read["metadata"]),
        (&Value::Null, &json!({}))
    );
}

/// A valid payment with these members added or replaced.
fn payment_with(members: &Value) -> Value {
    let mut body = json!({ "amount": 1, "currency": "EUR" });
    for (name, value) in members.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

async fn maximum_values_are_accepted(world: SharedWorld) {
    let ann = world.user().await;
    let pairs: Value = (0..20).map(|n| (format!("{n:é>40}"), "é".repeat(500))).collect();
    for good in [
        json!({ "amount": 99_999_999_999_i64 }),
        json!({ "currency": "JPY" }),
        json!({ "description": "é".repeat(500) }),
        json!({ "metadata": pairs }),
    ] {
        let made = ann.payment(&fresh_key(), &payment_with(&good)).await.expect(201);
        let read = ann.get(made.header("location")).await.expect(200).json();
        for (name, value) in good.as_object().unwrap() {
            assert_eq!(&read[name], value);
        }
    }
}

async fn every_invalid_member_is_reported(world: SharedWorld) {
    let ann = world.user().await;
    let pairs = |n: usize| (0..n).map(|n| (n.to_string(), "x")).collect::<Value>();
    for (members, at) in [
        (json!({ "amount": 0 }), "/amount"),
        (json!({ "amount": -1 }), "/amount"),
        (json!({ "amount": 100_000_000_000_i64 }), "/amount"),
        (json!({ "amount": 1.5 }), "/amount"),
        (json!({ "amount": 1e300 }), "/amount"),
        (json!({ "amount": u64::MAX }), "/amount"),
        (json!({ "amount": "1" }), "/amount"),
        (json!({ "amount": null }), "/amount"),
        (json!({ "currency": "eur" }), "/currency"),
        (json!({ "currency": "XXX" }), "/currency"),
        (json!({ "currency": "" }), "/currency"),
        (json!({ "currency": 978 }), "/currency"),
        (json!({ "description": "" }), "/description"),
        (json!({ "description": "x".repeat(501) }), "/description"),
        (json!({ "description": null }), "/description"),
        (json!({ "metadata": [] }), "/metadata"),
        (json!({ "metadata": null }), "/metadata"),
        (json!({ "metadata": { "a": 1 } }), "/metadata"),
        (json!({ "metadata": { "x".repeat(41): "" } }), "/metadata"),
        (json!({ "metadata": { "a": "x".repeat(501) } }), "/metadata"),
        (json!({ "metadata": pairs(21) }), "/metadata"),
        (json!({ "status": "captured" }), "/status"),
        (json!({ "amount_captured": 1 }), "/amount_captured"),
        (json!({ "id": "pay_1" }), "/id"),
    ] {
        let reply = ann.payment(&fresh_key(), &payment_with(&members)).await;
        reply.expect_validation_errors(&[at]);
    }
    let all = json!({ "amount": 0, "currency": "x", "description": 1, "metadata": 1, "more": 1 });
    let reply = ann.payment(&fresh_key(), &all).await;
    reply.expect_validation_errors(&["/amount", "/currency", "/description", "/metadata", "/more"]);
    let reply = ann.payment(&fresh_key(), &json!({})).await;
    reply.expect_validation_errors(&["/amount", "/currency"]);
    let nul = ann.payment(&fresh_key(), &payment_with(&json!({ "metadata": { "a": "\0" } })));
    nul.await.expect_validation_errors(&[""]);
    let none = ann.get("/payments").await.expect(200).json();
    assert_eq!(none["items"], json!([]));
}

async fn payments_of_other_users_look_missing(world: SharedWorld) {
    let ann = world.user().await;
    let payment = ann.pay(100).await;
    let missing = "/payments/pay_018bcfe5-6800-7c1e-9d55-2f1f6c0e8a11";
    for other in [
        world.user().await,
        world.user_with_role("editor").await,
        world.user_with_role("admin").await,
    ] {
        let hidden = other.get(&payment.path).await.expect_error(404, "not_found");
        let nothing = other.get(missing).await.expect_error(404, "not_found");
        assert_eq!(hidden.comparable_parts(), nothing.comparable_parts());
        assert_eq!(
            other.get("/payments").await.expect(200).json()["items"],
            json!([])
        );
        for act in ["captures", "cancellations", "refunds"] {
            let call = other.transition(&payment, act, &json!({}));
            call.await.expect_error(404, "not_found");
            // Errors in the body come later.
            let call = other.transition(&payment, act, &json!({ "x": 1 }));
            call.await.expect_error(404, "not_found");
        }
    }
    assert_eq!(ann.get(&payment.path).await.json()["status"], "created");
}

async fn payment_ids_have_one_spelling(world: SharedWorld) {
    let ann = world.user().await;
    let payment = ann.pay(100).await;
    let bare = &payment.id[4..];
    for id in [
        bare.to_owned(),
        format!("pay_{}", bare.to_uppercase()),
        format!("PAY_{bare}"),
        format!("{}%20", payment.id),
        format!("{}%00", payment.id),
        payment.id.replace('-', ""),
        payment.id[..39].to_owned(),
        "1".to_owned(),
        "pay_".to_owned(),
        "%FF".to_owned(),
    ] {
        let path = format!("/payments/{id}");
        ann.get(&path).await.expect_error(404, "not_found");
        let call = ann.post(&format!("{path}/captures")).key("k").json(&json!({}));
        call.await.expect_error(404, "not_found");
    }
}

on_every_shape!(
    creating_returns_id_and_status_and_reading_returns_all_members,
    description_and_metadata_are_optional,
    maximum_values_are_accepted,
    every_invalid_member_is_reported,
    payments_of_other_users_look_missing,
    payment_ids_have_one_spelling,
);
