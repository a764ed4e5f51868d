//! The errors of a start.

use foundation::settings::InvalidSetting;
use identity::passwords;
use std::io;
use storage::db;
use storage::settings::OpenError;

/// An error that keeps a program from starting, or ends it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A setting is invalid.
    #[error(transparent)]
    InvalidSetting(#[from] InvalidSetting),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
    /// A file or socket operation failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Argon2 rejected its parameters.
    #[error(transparent)]
    Passwords(#[from] passwords::Error),
    /// Any other error, as a message.
    #[error("{0}")]
    Other(String),
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::InvalidSetting(error) => Self::InvalidSetting(error),
            OpenError::Unavailable(error) => Self::Database(error),
        }
    }
}
