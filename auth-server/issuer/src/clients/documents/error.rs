//! The errors of clients that describe themselves.

use std::time::Duration;
use storage::{db, redis};

/// The reason why a client is not known by its document.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The document cannot be fetched or is not acceptable. The message addresses the developer of the
    /// client.
    #[error("{0}")]
    Unusable(String),
    /// Too many documents were fetched for the user, or for users of the network.
    #[error("too many documents were fetched")]
    TooMany {
        /// The time until another fetch is allowed.
        retry_after: Duration,
    },
    /// The store that counts fetches does not answer. Nothing is fetched without it.
    #[error(transparent)]
    StoreUnavailable(#[from] redis::Unavailable),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}
