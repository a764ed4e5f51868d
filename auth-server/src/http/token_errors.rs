//! The error responses to requests of clients (RFC 6749 §5.2).

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use foundation::context::RequestContext;
use issuer::token_error::TokenError;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;
use storage::db;
use utoipa::openapi::example::ExampleBuilder;
use utoipa::openapi::{ContentBuilder, Header, RefOr, ResponseBuilder};
use utoipa::{IntoResponses, PartialSchema as _, ToSchema};
use web::Code;
use web::openapi::error_responses;

/// The error responses of the token endpoint in the OpenAPI document.
pub(crate) struct TokenErrorResponses;
/// The error responses to revocation requests.
pub(crate) struct RevocationErrorResponses;
/// The error responses to introspection requests.
pub(crate) struct IntrospectionErrorResponses;

/// The body of an error response (RFC 6749 §5.2).
#[derive(Serialize, ToSchema)]
struct Body<'a> {
    /// The error code.
    error: &'a str,
    /// The explanation, for the client's developer.
    error_description: &'a str,
    /// The id of the request in the log.
    #[serde(rename = "correlationId")]
    correlation_id: &'a str,
}

/// Returns the response to a failed token request. Logs the error if the service, not the client, caused it.
pub(crate) fn respond(error: &TokenError, context: &RequestContext) -> Response {
    log(error);
    let (status, code) = status_and_code(error);
    let body = Body {
        error: code,
        error_description: &error.to_string(),
        correlation_id: &context.trace_id,
    };
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
        let seconds = HeaderValue::from(retry_after(error).as_secs());
        headers.insert(header::RETRY_AFTER, seconds);
    }
    response
}

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
        TokenError::InvalidClient | TokenError::InvalidAssertion(_) => {
            (StatusCode::UNAUTHORIZED, "invalid_client")
        }
        TokenError::InvalidGrant(_) => (StatusCode::BAD_REQUEST, "invalid_grant"),
        TokenError::UnauthorizedClient => (StatusCode::BAD_REQUEST, "unauthorized_client"),
        TokenError::UnsupportedGrantType => (StatusCode::BAD_REQUEST, "unsupported_grant_type"),
        TokenError::InvalidScope => (StatusCode::BAD_REQUEST, "invalid_scope"),
        TokenError::InvalidTarget(_) => (StatusCode::BAD_REQUEST, "invalid_target"),
        TokenError::Database(db::Error::Unavailable(_))
        | TokenError::Unavailable(_)
        | TokenError::NoSigningKey { .. } => (StatusCode::SERVICE_UNAVAILABLE, "temporarily_unavailable"),
        TokenError::Database(db::Error::Full(_)) => {
            (StatusCode::INSUFFICIENT_STORAGE, "temporarily_unavailable")
        }
        TokenError::Database(_) | TokenError::Internal(_) => {
            (StatusCode::INTERNAL_SERVER_ERROR, "server_error")
        }
    }
}

/// Returns the time until the same request may succeed, in whole seconds.
fn retry_after(error: &TokenError) -> Duration {
    match error {
        TokenError::NoSigningKey { wait } => Duration::from_secs(wait.as_secs() + 1),
        _ => Duration::from_secs(1),
    }
}

impl IntoResponses for TokenErrorResponses {
    fn responses() -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
        documented(&[
            TokenError::InvalidRequest("grant_type is required".to_owned()),
            TokenError::InvalidClient,
            TokenError::InvalidGrant("the code is unknown, used or too old"),
            TokenError::UnauthorizedClient,
            TokenError::UnsupportedGrantType,
            TokenError::InvalidScope,
            TokenError::InvalidTarget("the resource is unknown"),
            TokenError::Database(db::Error::timed_out()),
            TokenError::Database(db::Error::disk_full()),
            TokenError::Internal(String::new()),
        ])
    }
}

impl IntoResponses for RevocationErrorResponses {
    fn responses() -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
        documented(&[
            TokenError::InvalidRequest("token is required".to_owned()),
            TokenError::InvalidClient,
            TokenError::InvalidGrant("the token was issued to another client"),
            TokenError::Database(db::Error::timed_out()),
            TokenError::Database(db::Error::disk_full()),
            TokenError::Internal(String::new()),
        ])
    }
}

impl IntoResponses for IntrospectionErrorResponses {
    fn responses() -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
        documented(&[
            TokenError::InvalidRequest("token is required".to_owned()),
            TokenError::InvalidClient,
            TokenError::Database(db::Error::timed_out()),
            TokenError::Database(db::Error::disk_full()),
            TokenError::Internal(String::new()),
        ])
    }
}

/// Returns the documentation of the responses with these errors, and of those to a body that cannot be read.
fn documented(errors: &[TokenError]) -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
    let mut responses = BTreeMap::new();
    for error in errors {
        add_example(error, &mut responses);
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
    let response = responses.entry(status.as_str().to_owned()).or_insert_with(|| {
        let content = ContentBuilder::new().schema(Some(Body::schema()));
        ResponseBuilder::new()
            .description("The request was not fulfilled (RFC 6749 §5.2).")
            .header("Cache-Control", Header::default())
            .content("application/json", content.build())
            .build()
    });
    let body = Body {
        error: code,
        error_description: &error.to_string(),
        correlation_id: "4bf92f3577b34da6a3ce929d0e0e4736",
    };
    let example = ExampleBuilder::new()
        .value(serde_json::to_value(body).ok())
        .build();
    if let Some(RefOr::T(content)) = response.content.get_mut("application/json") {
        content.examples.insert(code.to_owned(), example.into());
    }
}
