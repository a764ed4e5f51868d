//! Payments and idempotency keys.

use crate::http::{Call, Caller};
use serde_json::{Value, json};

/// A created payment.
#[derive(Clone, Debug)]
pub struct Payment {
    /// `/payments/{id}`
    pub path: String,
    /// The id.
    pub id: String,
}

/// A unique idempotency key.
pub fn fresh_key() -> String {
    foundation::random::uuid()
}

impl Caller {
    /// Prepares the creation of a payment with this key.
    pub fn payment(&self, key: &str, members: &Value) -> Call {
        self.post("/payments").key(key).json(members)
    }

    /// Creates a payment of this amount in cents of EUR.
    pub async fn pay(&self, amount: i64) -> Payment {
        let members = json!({ "amount": amount, "currency": "EUR" });
        let reply = self.payment(&fresh_key(), &members).await.expect(201);
        Payment {
            path: reply.header("location").to_owned(),
            id: reply.json()["id"].as_str().unwrap().to_owned(),
        }
    }

    /// Prepares a transition of a payment, with a fresh key: `captures`, `cancellations` or `refunds`.
    pub fn transition(&self, payment: &Payment, transition: &str, members: &Value) -> Call {
        let call = self.post(&format!("{}/{transition}", payment.path));
        call.key(&fresh_key()).json(members)
    }
}
