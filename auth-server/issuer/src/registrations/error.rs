//! The errors of registrations.

use crate::clients::MetadataError;
use foundation::duration;
use std::time::Duration;
use storage::{db, redis};

/// The reason why a client was not registered, read, changed or deleted. The messages address the client's
/// developer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The initial access token or the registration access token is not valid, or the client is unknown.
    #[error("the token is unknown, expired or used up, or it is not that of this client")]
    InvalidToken,
    /// An administrator has disabled the client.
    #[error("an administrator has disabled this client")]
    Disabled,
    /// The metadata are not acceptable.
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    /// Too many clients registered themselves from one network, or in all.
    #[error("{reason}; try again in {}", duration::in_words(*.retry_after))]
    Limited {
        /// The limit that was reached.
        reason: &'static str,
        /// The time until another registration may be accepted.
        retry_after: Duration,
    },
    /// The store that counts registrations is unavailable. None is accepted without it.
    #[error(transparent)]
    StoreUnavailable(#[from] redis::Unavailable),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}
