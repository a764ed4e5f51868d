//! Errors of reading and changing payments.

use super::fields::Status;
use crate::storage_use::Refusal;
use storage::db;

/// The reason why a payment was not read or changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The user has no such payment.
    #[error("there is no such payment")]
    NotFound,
    /// The payment's state does not allow the transition.
    #[error("the payment is {}", .0.as_str())]
    Conflict(Status),
    /// The amount exceeds what can be captured or refunded.
    #[error("more than the available amount of {available}")]
    AmountTooLarge {
        /// The largest possible amount, in the minor units of the currency.
        available: i64,
    },
    /// The user's credentials ended during the call, or the user would store more than the quota.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}
