//! The challenge in `WWW-Authenticate` (RFC 6750 §3), with the URL of the resource metadata (RFC 9728 §5.1).

use crate::resource_metadata;
use axum::http::{StatusCode, header};
use axum::response::Response;
use web::{Policy, challenges};

/// Adds the metadata URL to the challenge of a response, and a challenge to every 401 response.
pub(crate) fn add_metadata_url(policy: &Policy, mut response: Response) -> Response {
    let has_challenge = response.headers().contains_key(header::WWW_AUTHENTICATE);
    if has_challenge || response.status() == StatusCode::UNAUTHORIZED {
        let metadata = policy.url(resource_metadata::PATH);
        challenges::add_parameter(&mut response, &format!(r#"resource_metadata="{metadata}""#));
    }
    response
}
