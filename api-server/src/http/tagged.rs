//! Records with an entity tag.

use axum::Json;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use shared::http::etag::is_unchanged;

/// A record and its entity tag.
pub(super) fn show(etag: String, record: impl Serialize) -> impl IntoResponse {
    ([(header::ETAG, etag)], Json(record))
}

/// The answer to a read of a record: 304 if the caller holds this version (RFC 9110 §13.1.2).
pub(super) fn unless_held(headers: &HeaderMap, etag: String, record: impl Serialize) -> Response {
    let caching = [
        (header::CACHE_CONTROL, "private, no-cache"),
        (header::VARY, "Authorization, Cookie"),
    ];
    if is_unchanged(headers, &etag) {
        return (StatusCode::NOT_MODIFIED, caching, [(header::ETAG, etag)]).into_response();
    }
    (caching, show(etag, record)).into_response()
}
