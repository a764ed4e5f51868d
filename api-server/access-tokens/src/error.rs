//! Errors of verifying an access token.

use storage::db;

/// Why a token was not verified.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The token is invalid; the text completes a sentence and names the failed check.
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
    /// The token is not a well-formed compact JWS.
    pub(crate) fn malformed() -> Self {
        Self::Invalid("it is no compact JWS".to_owned())
    }
}

/// Fails with [`Error::Invalid`] and this text unless the condition holds.
pub(crate) fn ensure(holds: bool, otherwise: &str) -> Result<(), Error> {
    if holds {
        Ok(())
    } else {
        Err(Error::Invalid(otherwise.to_owned()))
    }
}
