//! `Accept`: a header that excludes JSON prefers HTML to it, and a header that lists JSON does not exclude
//! it.

use crate::harness::headers;
use axum::http::{HeaderValue, header};
use web::content_negotiation::{excludes_json, prefers_to_json};

pub(super) fn check(input: &[u8]) {
    let mut accept = headers(&header::ACCEPT, input);
    assert!(!excludes_json(&accept, "text/html") || prefers_to_json(&accept, "text/html"));
    accept.append(header::ACCEPT, HeaderValue::from_static("application/json"));
    assert!(!excludes_json(&accept, "text/html"));
}
