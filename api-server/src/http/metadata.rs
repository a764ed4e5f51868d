//! `GET /.well-known/oauth-protected-resource` (RFC 9728).

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use serde::Serialize;
use shared::http::Policy;
use shared::scope;
use std::sync::Arc;
use utoipa::ToSchema;

/// Where it is, below the base URL.
pub(crate) const PATH: &str = "/.well-known/oauth-protected-resource";

/// What a client must know to call this API with a token (RFC 9728 §2).
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ResourceMetadata)]
pub(crate) struct Metadata {
    /// The resource identifier.
    #[schema(format = "uri")]
    resource: String,
    /// The issuer whose tokens are accepted.
    #[schema(value_type = Vec<String>)]
    authorization_servers: [String; 1],
    /// Every scope there is.
    #[schema(value_type = Vec<String>)]
    scopes_supported: [&'static str; scope::ALL.len()],
    /// How a token is sent: in the header alone.
    #[schema(value_type = Vec<String>)]
    bearer_methods_supported: [&'static str; 1],
}

impl Metadata {
    /// The metadata of the API at this origin, with this issuer.
    pub(crate) fn new(policy: &Policy, issuer: &str) -> Self {
        Self {
            resource: policy.url(""),
            authorization_servers: [issuer.to_owned()],
            scopes_supported: scope::ALL,
            bearer_methods_supported: ["header"],
        }
    }
}

/// What clients must know to call with a token
///
/// The protected resource metadata (RFC 9728), the same for everyone.
#[utoipa::path(
    get, path = "/.well-known/oauth-protected-resource", operation_id = "readResourceMetadata", tag = "Discovery",
    responses((status = 200, description = "The metadata.", body = Metadata, headers(("Cache-Control"))))
)]
pub(crate) async fn read(State(metadata): State<Arc<Metadata>>) -> impl IntoResponse {
    let headers = [(header::CACHE_CONTROL, "public, max-age=3600")];
    (headers, Json(metadata)).into_response()
}
