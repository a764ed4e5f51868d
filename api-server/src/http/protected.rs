//! `GET /protected`: the contents of the access token, for tests of a client.

use crate::extract::BearerOnly;
use axum::Json;
use axum::response::IntoResponse;
use foundation::scope::Scope;
use serde::Serialize;
use utoipa::ToSchema;

/// The contents of an access token.
#[derive(Serialize, ToSchema)]
pub(crate) struct TokenFacts {
    /// The user, or the client that calls on its own behalf.
    #[schema(required, example = "7")]
    sub: Option<String>,
    /// The client that the token was issued to.
    #[schema(required, example = "demo")]
    client_id: Option<String>,
    /// The scopes that both the token and its user's role allow.
    scope: Scope,
}

/// Try an access token
///
/// Returns the subject and the scopes of the access token. Session cookies are ignored.
#[utoipa::path(
    get, path = "/protected", operation_id = "readProtected", tag = "Sessions",
    security(("oauth2" = [])),
    responses((status = 200, description = "The token is accepted.", body = TokenFacts), BearerOnly)
)]
pub(crate) async fn read(BearerOnly(caller): BearerOnly) -> impl IntoResponse {
    let user_id = caller.user.map(|user| user.id.to_string());
    let client_id = caller.client_id().map(str::to_owned);
    Json(TokenFacts {
        sub: user_id.or_else(|| client_id.clone()),
        client_id,
        scope: caller.scope,
    })
}
