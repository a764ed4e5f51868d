//! `GET /.well-known/oauth-protected-resource` (RFC 9728).

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use serde::Serialize;
use shared::http::Policy;
use shared::scope;
use std::sync::Arc;

/// Where it is, below the base URL.
pub(crate) const PATH: &str = "/.well-known/oauth-protected-resource";

/// What a client must know to call this API with a token (RFC 9728 §2).
#[derive(Debug, Serialize)]
pub(crate) struct Metadata {
    resource: String,
    authorization_servers: [String; 1],
    scopes_supported: [&'static str; scope::ALL.len()],
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

/// The metadata, the same for everyone.
pub(crate) async fn read(State(metadata): State<Arc<Metadata>>) -> impl IntoResponse {
    let headers = [(header::CACHE_CONTROL, "public, max-age=3600")];
    (headers, Json(metadata)).into_response()
}
