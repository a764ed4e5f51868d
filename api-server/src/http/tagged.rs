//! Records with an entity tag.

use axum::Json;
use axum::http::header;
use axum::response::IntoResponse;
use serde::Serialize;

/// A record and its entity tag.
pub(super) fn show(etag: String, record: impl Serialize) -> impl IntoResponse {
    ([(header::ETAG, etag)], Json(record))
}

/// The answer to a read of a record, which its reader may keep as long as it asks each time whether it is
/// still good; 304 is answered around the routes.
pub(super) fn revalidated(etag: String, record: impl Serialize) -> impl IntoResponse {
    let caching = [
        (header::CACHE_CONTROL, "private, no-cache"),
        (header::VARY, "Authorization, Cookie"),
    ];
    (caching, show(etag, record))
}
