//! `/.well-known/oauth-authorization-server` (RFC 8414) and `/.well-known/jwks.json` (RFC 7517).

use crate::grants::Grants;
use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use shared::scope;
use std::sync::Arc;

/// The issuer's metadata.
pub(crate) async fn metadata(State(grants): State<Arc<Grants>>) -> impl IntoResponse {
    let issuer = &grants.issuer;
    let body = serde_json::json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "jwks_uri": format!("{issuer}/.well-known/jwks.json"),
        "scopes_supported": scope::ALL,
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
    });
    ([(header::CACHE_CONTROL, "public, max-age=3600")], Json(body))
}

/// The public keys.
pub(crate) async fn jwks(State(grants): State<Arc<Grants>>) -> impl IntoResponse {
    let set = grants.keys.set();
    let max_age = grants.lifetimes.jwks_max_age.as_secs();
    let common = [
        (header::CACHE_CONTROL, format!("public, max-age={max_age}")),
        (header::ETAG, set.etag().to_owned()),
    ];
    let content_type = [(header::CONTENT_TYPE, "application/json")];
    (common, content_type, set.jwks().to_owned())
}
