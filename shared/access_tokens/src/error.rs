//! The error of the verification of an access token.

use storage::db;

/// The reason why a token was not verified.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The token failed a check. The text names the check, such as "it has expired".
    #[error("The access token is not accepted: {0}.")]
    Invalid(String),
    /// No key set of the issuer has been fetched yet. The text says why.
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
    condition
        .then_some(())
        .ok_or_else(|| Error::Invalid(reason.to_owned()))
}
