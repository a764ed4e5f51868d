//! Errors of reading and writing posts.

use crate::storage_use::Refusal;
use storage::db;

/// The reason why a post was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No such post exists, or the caller may not see it.
    #[error("the post does not exist or is not visible to the caller")]
    NotFound,
    /// The caller is neither the post's author nor a moderator.
    #[error("the caller may not change the post")]
    NotPermitted,
    /// The post changed since the caller read it.
    #[error("the post has another version")]
    Stale,
    /// The caller's credentials ended during the call, or the author would store more than the quota.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}
