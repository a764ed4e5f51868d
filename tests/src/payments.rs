//! Payments, and the keys that each write of them needs.

use crate::http::{Call, Caller};
use serde_json::{Value, json};

/// A payment that was made.
#[derive(Clone, Debug)]
pub struct Payment {
    /// `/payments/{id}`
    pub path: String,
    /// Its id.
    pub id: String,
}

/// An idempotency key that nobody else has.
pub fn fresh_key() -> String {
    foundation::random::uuid()
}

impl Caller {
    /// The making of a payment, under this key.
    pub fn payment(&self, key: &str, members: &Value) -> Call {
        self.post("/payments").key(key).json(members)
    }

    /// Makes a payment of this many cents.
    pub async fn pay(&self, amount: i64) -> Payment {
        let members = json!({ "amount": amount, "currency": "EUR" });
        let reply = self.payment(&fresh_key(), &members).await.expect(201);
        Payment {
            path: reply.header("location").to_owned(),
            id: reply.json()["id"].as_str().unwrap().to_owned(),
        }
    }

    /// One of `captures`, `cancellations` and `refunds` of a payment, under a key of its own.
    pub fn act(&self, payment: &Payment, act: &str, members: &Value) -> Call {
        let call = self.post(&format!("{}/{act}", payment.path));
        call.key(&fresh_key()).json(members)
    }
}
