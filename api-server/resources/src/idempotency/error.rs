//! Errors of writes with an idempotency key.

use storage::db;

/// The reason why a write with a key was not executed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The key was used before with another body.
    #[error("the idempotency key was used with another body")]
    KeyReused,
    /// Another call with the key is still running, or has just ended. A retry gets its reply.
    #[error("the first call with this idempotency key is not done yet")]
    InProgress,
    /// The caller's credentials ended during the call.
    #[error("the credentials of the caller have ended")]
    SignedOut,
    /// The reply cannot be serialized as JSON.
    #[error("the reply cannot be serialized: {0}")]
    Serialization(#[from] serde_json::Error),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}
