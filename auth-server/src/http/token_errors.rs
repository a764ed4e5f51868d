//! The failures of requests of clients, and the responses to them (RFC 6749 §5.2).

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use foundation::context::RequestContext;
use issuer::token_error::TokenError;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use storage::db;
use utoipa::openapi::example::ExampleBuilder;
use utoipa::openapi::{ContentBuilder, Header, RefOr, ResponseBuilder};
use utoipa::{IntoResponses, PartialSchema as _, ToSchema};
use web::dpop::NONCE;
use web::openapi::error_responses;
use web::{Code, Error};

/// The body of an error response (RFC 6749 §5.2, RFC 7591 §3.2.2).
#[derive(Serialize, ToSchema)]
pub(super) struct Body<'a> {
    /// The error code.
    pub(super) error: &'a str,
    /// The explanation, for the client's developer.
    pub(super) error_description: &'a str,
    /// The id of the request in the log.
    #[serde(rename = "correlationId")]
    pub(super) correlation_id: &'a str,
}

/// The reason why the request of a client failed. The body of the response is written by [`complete`], which
/// the router calls for all its routes.
pub(crate) enum TokenFailure {
    /// An error of the OAuth protocol, and the `Set-Cookie` value that removes the cookie of the request if
    /// that is useless.
    Token(TokenError, Option<HeaderValue>),
    /// The request relies on a cookie and may be forged, or the client is over its rate limit, or the body
    /// was not read.
    Refused(Error),
}

impl From<TokenError> for TokenFailure {
    fn from(error: TokenError) -> Self {
        Self::Token(error, None)
    }
}

impl From<Error> for TokenFailure {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl IntoResponse for TokenFailure {
    fn into_response(self) -> Response {
        let (error, removal) = match self {
            Self::Token(error, removal) => (error, removal),
            Self::Refused(error) => return error.into_response(),
        };
        let removal = removal.map(|removal| [(header::SET_COOKIE, removal)]);
        log(&error);
        let (status, _) = status_and_code(&error);
        // The extension is for `complete`.
        (status, removal, Extension(Arc::new(error))).into_response()
    }
}

/// Completes the response to a failed request of a client. Returns every other response as it is.
/// `has_authorization` says whether the request has the header `Authorization`.
pub(crate) fn complete(
    mut response: Response,
    has_authorization: bool,
    context: &RequestContext,
) -> Response {
    let Some(error) = response.extensions_mut().remove::<Arc<TokenError>>() else {
        return response;
    };
    let (parts, _) = response.into_parts();
    (parts.headers, render(&error, has_authorization, context)).into_response()
}

/// Renders an error with its body. Only a client that used the header `Authorization` gets a challenge (RFC
/// 6749 §5.2), because a browser would open a password box for the request of a page.
fn render(error: &TokenError, has_authorization: bool, context: &RequestContext) -> Response {
    if let TokenError::TooManyRequests { retry_after } = error {
        // In the form of the other limits.
        let limited = Error::new(Code::RateLimited, error.to_string());
        return limited.retry_after(*retry_after).into_response();
    }
    let (status, code) = status_and_code(error);
    let body = Body {
        error: code,
        error_description: &error.to_string(),
        correlation_id: &context.trace_id,
    };
    let mut response = (status, Json(body)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::PRAGMA, HeaderValue::from_static("no-cache"));
    if status == StatusCode::UNAUTHORIZED && has_authorization {
        let challenge = HeaderValue::from_static("Basic realm=\"token\"");
        headers.insert(header::WWW_AUTHENTICATE, challenge);
    }
    if let TokenError::Proof(dpop::Error::UseNonce(nonce)) = error
        && let Ok(nonce) = HeaderValue::try_from(nonce)
    {
        headers.insert(NONCE, nonce);
    }
    if status == StatusCode::SERVICE_UNAVAILABLE {
        let seconds = HeaderValue::from(retry_after(error).as_secs());
        headers.insert(header::RETRY_AFTER, seconds);
    }
    response
}

/// Logs an error if the service, not the client, caused it.
fn log(failure: &TokenError) {
    match failure {
        TokenError::Database(error) => tracing::error!(%error, "token request failed: database"),
        TokenError::Unavailable(error) => tracing::error!(error, "token request failed: unavailable"),
        TokenError::Internal(error) => tracing::error!(error, "token request failed"),
        TokenError::NoSigningKey { wait } => {
            tracing::error!(?wait, "token request failed: no signing key is active");
        }
        _ => {}
    }
}

fn status_and_code(error: &TokenError) -> (StatusCode, &'static str) {
    match error {
        TokenError::InvalidRequest(_) => (StatusCode::BAD_REQUEST, "invalid_request"),
        TokenError::InvalidClient | TokenError::InvalidAssertion(_) | TokenError::OutdatedDocument => {
            (StatusCode::UNAUTHORIZED, "invalid_client")
        }
        TokenError::InvalidGrant(_) | TokenError::InvalidRefreshToken { .. } => {
            (StatusCode::BAD_REQUEST, "invalid_grant")
        }
        TokenError::UnauthorizedClient | TokenError::NoDeviceAuthorization => {
            (StatusCode::BAD_REQUEST, "unauthorized_client")
        }
        TokenError::UnsupportedGrantType => (StatusCode::BAD_REQUEST, "unsupported_grant_type"),
        TokenError::InvalidScope => (StatusCode::BAD_REQUEST, "invalid_scope"),
        TokenError::InvalidTarget(_) => (StatusCode::BAD_REQUEST, "invalid_target"),
        TokenError::Rejected { error, .. } => (StatusCode::BAD_REQUEST, error),
        TokenError::MissingProof
        | TokenError::Proof(dpop::Error::Invalid(_) | dpop::Error::OtherKey | dpop::Error::Off) => {
            (StatusCode::BAD_REQUEST, "invalid_dpop_proof")
        }
        TokenError::Proof(dpop::Error::UseNonce(_)) => (StatusCode::BAD_REQUEST, "use_dpop_nonce"),
        TokenError::Database(db::Error::Unavailable(_))
        | TokenError::Proof(dpop::Error::Full)
        | TokenError::Unavailable(_)
        | TokenError::NoSigningKey { .. } => (StatusCode::SERVICE_UNAVAILABLE, "temporarily_unavailable"),
        TokenError::Database(db::Error::Full(_)) => {
            (StatusCode::INSUFFICIENT_STORAGE, "temporarily_unavailable")
        }
        TokenError::Database(_) | TokenError::Internal(_) => {
            (StatusCode::INTERNAL_SERVER_ERROR, "server_error")
        }
        TokenError::AuthorizationPending => (StatusCode::BAD_REQUEST, "authorization_pending"),
        TokenError::SlowDown => (StatusCode::BAD_REQUEST, "slow_down"),
        TokenError::AccessDenied => (StatusCode::BAD_REQUEST, "access_denied"),
        TokenError::ExpiredToken => (StatusCode::BAD_REQUEST, "expired_token"),
        TokenError::TooManyRequests { .. } => (StatusCode::TOO_MANY_REQUESTS, "temporarily_unavailable"),
    }
}

/// Returns the time until the same request may succeed, in whole seconds.
fn retry_after(error: &TokenError) -> Duration {
    match error {
        TokenError::NoSigningKey { wait } => Duration::from_secs(wait.as_secs() + 1),
        _ => Duration::from_secs(1),
    }
}

/// Declares types that describe the error responses to a kind of request, with the example of an invalid one
/// and the errors of this kind, besides those of all kinds.
macro_rules! responses {
    ($($(#[$doc:meta])* $name:ident: $invalid:literal, [$($error:expr),* $(,)?];)+) => { $(
        $(#[$doc])*
        pub(crate) struct $name;

        impl IntoResponses for $name {
            fn responses() -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
                documented($invalid, [$($error),*])
            }
        }
    )+ };
}

responses! {
    /// The error responses of the token endpoint in the OpenAPI document.
    TokenErrorResponses: "grant_type is required", [
        TokenError::InvalidGrant("the code is unknown, used or too old"),
        TokenError::UnauthorizedClient,
        TokenError::UnsupportedGrantType,
        TokenError::InvalidScope,
        TokenError::InvalidTarget("the resource is unknown"),
        TokenError::Proof(dpop::Error::Invalid("it was used before")),
        TokenError::Proof(dpop::Error::UseNonce(String::new())),
        TokenError::AuthorizationPending,
        TokenError::SlowDown,
        TokenError::AccessDenied,
        TokenError::ExpiredToken,
    ];
    /// The error responses to revocation requests.
    RevocationErrorResponses: "token is required",
        [TokenError::InvalidGrant("the token was issued to another client")];
    /// The error responses to introspection requests.
    IntrospectionErrorResponses: "token is required", [];
    /// The error responses to device authorization requests.
    DeviceErrorResponses: "a parameter appears more than once", [
        TokenError::NoDeviceAuthorization,
        TokenError::InvalidScope,
        TokenError::InvalidTarget("the resource is unknown"),
    ];
    /// The error responses to pushed authorization requests.
    PushErrorResponses: "a pushed request has no request_uri", [
        TokenError::UnauthorizedClient,
        rejected("invalid_scope", "the scope is unknown or not registered"),
        rejected("invalid_target", "the resource is unknown"),
        rejected("unsupported_response_type", "response_type must be code"),
        rejected("request_not_supported", "send the parameters of the request in its query"),
        TokenError::Proof(dpop::Error::Invalid("it was used before")),
        TokenError::Proof(dpop::Error::UseNonce(String::new())),
    ];
}

const fn rejected(error: &'static str, description: &'static str) -> TokenError {
    TokenError::Rejected { error, description }
}

/// Returns the documentation of the responses with these errors, with those of every request of a client, and
/// of those to a body that cannot be read.
fn documented(
    invalid: &str,
    errors: impl IntoIterator<Item = TokenError>,
) -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
    let begin = [
        TokenError::InvalidRequest(invalid.to_owned()),
        TokenError::InvalidClient,
    ];
    let end = [
        TokenError::Database(db::Error::timed_out()),
        TokenError::Database(db::Error::disk_full()),
        TokenError::Internal(String::new()),
    ];
    let mut responses = BTreeMap::new();
    for error in begin.into_iter().chain(errors).chain(end) {
        add_example(&error, &mut responses);
    }
    let documented = responses.into_iter();
    let unreadable = [Code::PayloadTooLarge, Code::RequestTimeout, Code::MalformedJson];
    documented
        .map(|(status, response)| (status, response.into()))
        .chain(error_responses(&unreadable))
        .collect()
}

/// Adds the error as an example to the documented response of its status.
fn add_example(error: &TokenError, responses: &mut BTreeMap<String, utoipa::openapi::Response>) {
    let (status, code) = status_and_code(error);
    let body = Body {
        error: code,
        error_description: &error.to_string(),
        correlation_id: "4bf92f3577b34da6a3ce929d0e0e4736",
    };
    let response = responses.entry(status.as_str().to_owned()).or_insert_with(|| {
        let content = ContentBuilder::new().schema(Some(Body::schema()));
        ResponseBuilder::new()
            .description("The request was not fulfilled (RFC 6749 §5.2).")
            .header("Cache-Control", Header::default())
            .header("DPoP-Nonce", Header::default())
            .content("application/json", content.build())
            .build()
    });
    add_body(&body, response);
}

/// Adds an error body as an example to a documented response.
pub(super) fn add_body(body: &Body<'_>, response: &mut utoipa::openapi::Response) {
    let example = ExampleBuilder::new()
        .value(serde_json::to_value(body).ok())
        .build();
    if let Some(RefOr::T(content)) = response.content.get_mut("application/json") {
        content.examples.insert(body.error.to_owned(), example.into());
    }
}
