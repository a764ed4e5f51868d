//! Errors of writes with an idempotency key.

use crate::storage_use::Refusal;
use storage::db;

/// The reason why a write with a key was not executed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The key was used before with another body.
    #[error("the idempotency key was used with another body")]
    KeyReused,
    /// Another call with the key is still running, or has just ended. A retry gets its response.
    #[error("the first call with this idempotency key is not done yet")]
    InProgress,
    /// The caller's credentials ended during the call, or the caller would store more than the quota.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The receipt cannot be converted to or from JSON.
    #[error("the receipt cannot be converted: {0}")]
    Receipt(#[from] serde_json::Error),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}
