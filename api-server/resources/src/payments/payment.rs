//! A payment as it is stored and shown.

use super::fields::{Metadata, Status};
use super::id::PaymentId;
use crate::paging::{Cursor, HasCursor};
use serde::Serialize;
use shared::clock::Timestamp;
use utoipa::ToSchema;

macro_rules! columns {
    () => {
        "id, public_id, status, amount, amount_captured, amount_refunded, currency, description, metadata, \
         created_at, updated_at"
    };
}
pub(super) use columns;

/// A payment as the API shows one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema, sqlx::FromRow)]
pub struct Payment {
    #[serde(skip)]
    #[sqlx(rename = "id")]
    row_id: i64,
    /// Identifies the payment.
    #[sqlx(rename = "public_id", try_from = "String")]
    pub id: PaymentId,
    /// What became of it so far.
    #[sqlx(try_from = "String")]
    pub status: Status,
    /// What may be captured, in the minor units of the currency.
    pub amount: i64,
    /// What was captured; the rest was released.
    pub amount_captured: i64,
    /// What was given back of that.
    pub amount_refunded: i64,
    /// The currency, by its code in ISO 4217.
    pub currency: String,
    /// What it is for.
    pub description: Option<String>,
    /// What the caller notes of it.
    #[sqlx(try_from = "String")]
    pub metadata: Metadata,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last moved.
    pub updated_at: Timestamp,
}

impl HasCursor for Payment {
    fn cursor(&self) -> Cursor {
        Cursor {
            created_at: self.created_at,
            id: self.row_id,
        }
    }
}
