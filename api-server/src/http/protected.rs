//! `GET /protected`: what the sent access token says, for whoever tries one out.

use crate::extract::BearerOnly;
use axum::Json;
use axum::response::IntoResponse;
use serde_json::json;

/// Whose token it is, and what it allows here.
pub(crate) async fn read(BearerOnly(caller): BearerOnly) -> impl IntoResponse {
    let user_id = caller.user.map(|user| user.id.to_string());
    Json(json!({
        "sub": user_id.as_ref().or(caller.client_id.as_ref()),
        "client_id": caller.client_id,
        "scope": caller.scope,
    }))
}
