//! A payment as it is stored and shown.

use super::fields::{Metadata, Status};
use super::id::PaymentId;
use foundation::clock::Timestamp;
use serde::{Deserialize, Serialize};
use storage::has_cursor;
use utoipa::ToSchema;

/// The columns of a [`Payment`], for `SELECT` and `RETURNING`.
macro_rules! columns {
    () => {
        "id, public_id, status, amount, amount_captured, amount_refunded, currency, description, metadata, \
         created_at, updated_at"
    };
}
pub(super) use columns;

/// A payment as the API shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema, sqlx::FromRow)]
pub struct Payment {
    /// The id of the row, by which payments of the same time are sorted.
    #[serde(skip)]
    #[sqlx(rename = "id")]
    row_id: i64,
    /// The id of the payment.
    #[sqlx(rename = "public_id", try_from = "String")]
    pub id: PaymentId,
    /// The state.
    #[sqlx(try_from = "String")]
    pub status: Status,
    /// The amount that may be captured, in the minor units of the currency.
    pub amount: i64,
    /// The captured amount. The rest is released.
    pub amount_captured: i64,
    /// The refunded part of the captured amount.
    pub amount_refunded: i64,
    /// The currency, by its code in ISO 4217.
    pub currency: String,
    /// The purpose.
    pub description: Option<String>,
    /// Data of the caller.
    #[sqlx(try_from = "String")]
    pub metadata: Metadata,
    /// The time of creation.
    pub created_at: Timestamp,
    /// The time of the last change.
    pub updated_at: Timestamp,
}

/// The members of a payment that its transitions change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    status: Status,
    amount_captured: i64,
    amount_refunded: i64,
    updated_at: Timestamp,
}

impl Payment {
    /// Returns the members that transitions change.
    pub fn state(&self) -> State {
        State {
            status: self.status,
            amount_captured: self.amount_captured,
            amount_refunded: self.amount_refunded,
            updated_at: self.updated_at,
        }
    }

    /// Returns the payment as it is or was in this state.
    pub fn in_state(self, state: State) -> Self {
        Self {
            status: state.status,
            amount_captured: state.amount_captured,
            amount_refunded: state.amount_refunded,
            updated_at: state.updated_at,
            ..self
        }
    }
}

has_cursor!(Payment: created_at, row_id);
