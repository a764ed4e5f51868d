//! Errors of verifying an access token.

use storage::db;

/// The reason why a token was not verified.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The token is invalid. The text names the failed check, such as "it has expired".
    #[error("The access token is not accepted: {0}.")]
    Invalid(String),
    /// No signing key of the issuer has been fetched yet.
    #[error("{0}")]
    NoKeys(String),
    /// The revocations cannot be read.
    #[error("the revocations cannot be read: {0}")]
    Revocations(#[source] db::Error),
}

impl Error {
    /// Returns the error for a token that is not a well-formed compact JWS.
    pub(crate) fn malformed() -> Self {
        Self::Invalid("it is not a compact JWS".to_owned())
    }
}

/// Fails with [`Error::Invalid`] and this reason unless the condition holds.
pub(crate) fn ensure(condition: bool, reason: &str) -> Result<(), Error> {
    if condition {
        Ok(())
    } else {
        Err(Error::Invalid(reason.to_owned()))
    }
}
