//! `GET /protected`: what the sent access token says, for whoever tries one out.

use crate::extract::BearerOnly;
use axum::Json;
use axum::response::IntoResponse;
use serde::Serialize;
use shared::scope::Scope;
use utoipa::ToSchema;

/// What an access token says here.
#[derive(Serialize, ToSchema)]
pub(crate) struct TokenFacts {
    /// The user, or the client that calls for itself.
    #[schema(required, example = "7")]
    sub: Option<String>,
    /// The client that the token was given to.
    #[schema(required, example = "demo")]
    client_id: Option<String>,
    /// What the token and its user's role both allow.
    scope: Scope,
}

/// Try an access token
///
/// Says whose token it is, and what it allows here. A session is not looked at.
#[utoipa::path(
    get, path = "/protected", operation_id = "readProtected", tag = "Sessions",
    security(("oauth2" = [])),
    responses((status = 200, description = "The token is accepted.", body = TokenFacts), BearerOnly)
)]
pub(crate) async fn read(BearerOnly(caller): BearerOnly) -> impl IntoResponse {
    let user_id = caller.user.map(|user| user.id.to_string());
    Json(TokenFacts {
        sub: user_id.or_else(|| caller.client_id.clone()),
        client_id: caller.client_id,
        scope: caller.scope,
    })
}
