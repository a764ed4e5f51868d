//! Responses with an entity tag.

use axum::http::header;
use axum::response::IntoResponse;
use serde::Serialize;

/// The capacity of the buffer of a record, in bytes.
const CAPACITY: usize = 1024;

/// Returns a response with a record and its entity tag.
pub(super) fn with_etag(etag: String, record: impl Serialize) -> impl IntoResponse {
    ([(header::ETAG, etag)], web::json_response(&record, CAPACITY))
}

/// Returns the response to a read of a record, which clients may cache but must revalidate before each use.
/// If the entity tag matches `If-None-Match`, a middleware turns the response into 304.
pub(super) fn with_revalidation(etag: String, record: impl Serialize) -> impl IntoResponse {
    let caching = [
        (header::CACHE_CONTROL, "private, no-cache"),
        (header::VARY, "Authorization, Cookie"),
    ];
    (caching, with_etag(etag, record))
}
