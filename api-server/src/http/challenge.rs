//! `WWW-Authenticate` (RFC 6750 §3), with the pointer to the metadata (RFC 9728 §5.1).

use crate::resource_metadata;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use std::sync::Arc;
use web::Policy;

/// Middleware: adds the metadata URL to the challenge of a response, and a challenge to every 401 response.
pub(crate) async fn complete(State(policy): State<Arc<Policy>>, mut response: Response) -> Response {
    let given = response.headers().get(header::WWW_AUTHENTICATE);
    let begun = match given.map(HeaderValue::to_str) {
        Some(Ok(given)) => format!("{given}, "),
        _ if response.status() == StatusCode::UNAUTHORIZED => "Bearer ".to_owned(),
        _ => return response,
    };
    let metadata = policy.url(resource_metadata::PATH);
    if let Ok(challenge) = HeaderValue::try_from(format!(r#"{begun}resource_metadata="{metadata}""#)) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}
