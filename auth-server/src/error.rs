//! Errors of the token endpoint (RFC 6749 §5.2), and how they are written.

use crate::keys;
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use shared::db;
use shared::events::Context;
use std::time::Duration;

/// Why no token was given. The texts are for the client's developer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TokenError {
    /// A parameter is missing, repeated or malformed.
    #[error("{0}")]
    InvalidRequest(String),
    /// Unknown client, wrong or missing secret.
    #[error("the client is unknown, or its authentication failed")]
    InvalidClient,
    /// The code or refresh token is not good, for this client, now.
    #[error("{0}")]
    InvalidGrant(&'static str),
    /// Only `authorization_code` and `refresh_token`.
    #[error("grant_type must be authorization_code or refresh_token")]
    UnsupportedGrantType,
    /// More than was granted, or unknown.
    #[error("the scope is unknown or exceeds what was granted")]
    InvalidScope,
    /// The database does not answer.
    #[error("a part of the service does not answer; try again in a moment")]
    Database(#[from] db::Error),
    /// The signing key was thrown away, and the next one may not sign yet.
    #[error("no token can be signed at present; try again later")]
    NoSigningKey {
        /// How long that lasts, as far as can be told.
        wait: Duration,
    },
    /// Signing failed, or a state machine ended where it cannot.
    #[error("something went wrong on our side")]
    Internal(String),
}

impl TokenError {
    fn wire(&self) -> (StatusCode, &'static str) {
        match self {
            Self::InvalidRequest(_) => (StatusCode::BAD_REQUEST, "invalid_request"),
            Self::InvalidClient => (StatusCode::UNAUTHORIZED, "invalid_client"),
            Self::InvalidGrant(_) => (StatusCode::BAD_REQUEST, "invalid_grant"),
            Self::UnsupportedGrantType => (StatusCode::BAD_REQUEST, "unsupported_grant_type"),
            Self::InvalidScope => (StatusCode::BAD_REQUEST, "invalid_scope"),
            Self::Database(db::Error::Unavailable(_)) | Self::NoSigningKey { .. } => {
                (StatusCode::SERVICE_UNAVAILABLE, "temporarily_unavailable")
            }
            Self::Database(_) | Self::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, "server_error"),
        }
    }

    /// How long until the same request may succeed, in whole seconds.
    fn wait(&self) -> Duration {
        match self {
            Self::NoSigningKey { wait } => Duration::from_secs(wait.as_secs() + 1),
            _ => Duration::from_secs(1),
        }
    }

    /// The answer, with the correlation id of the request.
    pub(crate) fn answer(&self, context: &Context) -> Response {
        let (status, error) = self.wire();
        if let Self::Database(cause) = self {
            tracing::error!(%cause, "token endpoint: database");
        } else if let Self::Internal(cause) = self {
            tracing::error!(cause, "token endpoint");
        } else if let Self::NoSigningKey { wait } = self {
            tracing::error!(?wait, "token endpoint: no key signs");
        }
        let body = serde_json::json!({
            "error": error,
            "error_description": self.to_string(),
            "correlationId": context.trace_id,
        });
        let mut response = (status, Json(body)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::PRAGMA, HeaderValue::from_static("no-cache"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(
                header::WWW_AUTHENTICATE,
                HeaderValue::from_static("Basic realm=\"token\""),
            );
        }
        if status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(self.wait().as_secs()));
        }
        response
    }
}

impl From<keys::Error> for TokenError {
    fn from(error: keys::Error) -> Self {
        match error {
            keys::Error::NoneActive { wait } => Self::NoSigningKey { wait },
            other => Self::Internal(other.to_string()),
        }
    }
}
