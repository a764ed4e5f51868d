//! The challenge in `WWW-Authenticate` (RFC 6750 §3), with the URL of the resource metadata (RFC 9728 §5.1).

use crate::resource_metadata;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use web::Policy;

/// Adds the metadata URL to the challenge of a response, and a challenge to every 401 response.
pub(crate) fn add_metadata_url(policy: &Policy, mut response: Response) -> Response {
    let challenge = response.headers().get(header::WWW_AUTHENTICATE);
    let beginning = match challenge.map(HeaderValue::to_str) {
        Some(Ok(challenge)) => format!("{challenge}, "),
        _ if response.status() == StatusCode::UNAUTHORIZED => "Bearer ".to_owned(),
        _ => return response,
    };
    let metadata = policy.url(resource_metadata::PATH);
    if let Ok(challenge) = HeaderValue::try_from(format!(r#"{beginning}resource_metadata="{metadata}""#)) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}
