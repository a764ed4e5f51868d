//! `GET /.well-known/oauth-protected-resource` (RFC 9728).

use crate::resource_metadata::Metadata;
use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use std::sync::Arc;

/// Read the resource metadata
///
/// Returns the metadata that a client needs to call this API with an access token (RFC 9728). It is the same
/// for every caller.
#[utoipa::path(
    get, path = "/.well-known/oauth-protected-resource", operation_id = "readResourceMetadata", tag = "Discovery",
    responses((status = 200, description = "The metadata.", body = Metadata, headers(("Cache-Control"))))
)]
pub(crate) async fn read(State(metadata): State<Arc<Metadata>>) -> impl IntoResponse {
    let headers = [(header::CACHE_CONTROL, "public, max-age=3600")];
    (headers, Json(metadata)).into_response()
}
