//! The errors of the token endpoint (RFC 6749 §5.2).

use crate::clients::assertions::AssertionError;
use crate::keys;
use identity::end_reason::End;
use std::borrow::Cow;
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
    /// The client describes itself by a document that was last fetched too long ago.
    #[error(
        "the client ID metadata document of the client was last fetched over seven days ago, and cannot be fetched now"
    )]
    OutdatedDocument,
    /// The code is not valid for this client at this time.
    #[error("{0}")]
    InvalidGrant(&'static str),
    /// The refresh token is not valid for this client at this time.
    #[error("{}", invalid_refresh_token(*.end))]
    InvalidRefreshToken {
        /// The end of its family, if that was revoked.
        end: Option<End>,
        /// Whether the token is from the cookie of the client and can never be valid again, and no concurrent
        /// request has put a newer one there. The response then removes the cookie.
        is_useless: bool,
    },
    /// The client is a service and the grant type another than `client_credentials`, or the other way round.
    #[error("a client of the type service uses the grant_type client_credentials, and no other client does")]
    UnauthorizedClient,
    /// The grant type is unknown.
    #[error("the grant_type is none of grant_types_supported in the metadata")]
    UnsupportedGrantType,
    /// The scope is unknown, or exceeds the granted one or, for a service, the registered one.
    #[error("the scope is unknown or exceeds what was granted")]
    InvalidScope,
    /// The request is for another resource than the audience of this issuer's access tokens (RFC 8707 §2).
    #[error("{0}")]
    InvalidTarget(&'static str),
    /// A pushed authorization request has an error of the authorization endpoint (RFC 9126 §2.3).
    #[error("{description}")]
    Rejected {
        /// The value of `error`.
        error: &'static str,
        /// The value of `error_description`.
        description: &'static str,
    },
    /// The DPoP proof of the request is not accepted.
    #[error(transparent)]
    Proof(#[from] dpop::Error),
    /// The client must send a DPoP proof, and the request has none (RFC 9449 §5.2).
    #[error("this client gets access tokens only with a DPoP proof: send it in the header DPoP")]
    MissingProof,
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
    /// The client is not registered for the device authorization grant.
    #[error("this client is not registered for the device authorization grant")]
    NoDeviceAuthorization,
    /// The user has not decided about the request of the device (RFC 8628 §3.5).
    #[error("the user has not decided yet; ask again after the interval")]
    AuthorizationPending,
    /// The same, and the client did not keep the interval (RFC 8628 §3.5).
    #[error("the user has not decided yet; wait five seconds longer between two requests from now on")]
    SlowDown,
    /// The user denied the request of the device (RFC 8628 §3.5).
    #[error("the user denied the request")]
    AccessDenied,
    /// The device code has expired (RFC 8628 §3.5).
    #[error("the device_code has expired; begin again with a device authorization request")]
    ExpiredToken,
    /// Too many requests of this kind came from the client's network.
    #[error("too many requests; try again in {}", foundation::duration::in_words(*.retry_after))]
    TooManyRequests {
        /// The time until another request is accepted.
        retry_after: Duration,
    },
}

/// Returns the description of the error for a refresh token that is not valid.
fn invalid_refresh_token(end: Option<End>) -> Cow<'static, str> {
    let Some(End { reason, at }) = end else {
        return "the refresh token is unknown, expired or used, or is not for this client and DPoP key"
            .into();
    };
    let at = at.map(|at| format!(" at {at}")).unwrap_or_default();
    format!("the refresh token was revoked{at}: {}", reason.in_words()).into()
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
