//! The errors of the token endpoint (RFC 6749 §5.2).

use crate::clients::assertions::AssertionError;
use crate::keys;
use std::time::Duration;
use storage::db;

/// The reason why no token was issued. The messages address the client's developer.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// A parameter is missing, repeated or malformed.
    #[error("{0}")]
    InvalidRequest(String),
    /// The client is unknown or disabled, or its secret is wrong or missing.
    #[error("the client is unknown or disabled, or its authentication failed")]
    InvalidClient,
    /// The signed assertion does not authenticate the client.
    #[error(transparent)]
    InvalidAssertion(AssertionError),
    /// The code or refresh token is not valid for this client at this time.
    #[error("{0}")]
    InvalidGrant(&'static str),
    /// The client is a service and the grant type another than `client_credentials`, or the other way round.
    #[error("a client of the type service uses the grant_type client_credentials, and no other client does")]
    UnauthorizedClient,
    /// The grant type is unknown.
    #[error("grant_type must be authorization_code, refresh_token or client_credentials")]
    UnsupportedGrantType,
    /// The scope is unknown, or exceeds the granted one or, for a service, the registered one.
    #[error("the scope is unknown or exceeds what was granted")]
    InvalidScope,
    /// The request is for another resource than the audience of this issuer's access tokens (RFC 8707 §2).
    #[error("{0}")]
    InvalidTarget(&'static str),
    /// The database failed or did not answer.
    #[error("a part of the service does not answer; try again in a moment")]
    Database(#[from] db::Error),
    /// The revocations or the keys cannot be read. The cause is for the log only.
    #[error("a part of the service does not answer; try again in a moment")]
    Unavailable(String),
    /// No signing key is active, or the keys were not read recently.
    #[error("no token can be signed at present; try again later")]
    NoSigningKey {
        /// The expected time until a key signs again.
        wait: Duration,
    },
    /// The service failed, for example at signing. The cause is for the log only.
    #[error("something went wrong on our side")]
    Internal(String),
}

impl From<access_tokens::Error> for TokenError {
    fn from(error: access_tokens::Error) -> Self {
        match error {
            access_tokens::Error::Invalid(reason) => Self::Internal(reason),
            other => Self::Unavailable(other.to_string()),
        }
    }
}

impl From<AssertionError> for TokenError {
    fn from(error: AssertionError) -> Self {
        match error {
            AssertionError::Database(error) => Self::Database(error),
            invalid @ (AssertionError::Invalid(_) | AssertionError::Keys(_)) => {
                Self::InvalidAssertion(invalid)
            }
        }
    }
}

impl From<keys::Error> for TokenError {
    fn from(error: keys::Error) -> Self {
        match error {
            keys::Error::CannotSign { wait } => Self::NoSigningKey { wait },
            other => Self::Internal(other.to_string()),
        }
    }
}
