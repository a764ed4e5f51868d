//! `POST /token` (RFC 6749 §3.2).

use super::client_request;
use super::token_errors::TokenErrorResponses;
use axum::Json;
use axum::extract::{Request, State};
use axum::response::Response;
use foundation::context::RequestContext;
use identity::grants::clients::Client;
use issuer::grants::{Grants, TokenRequest, TokenResponse};
use issuer::token_error::TokenError;
use std::sync::Arc;
use web::Context;
use web::openapi::error_responses::code;

/// Exchange a code or a refresh token
///
/// Returns an access token and the next refresh token (RFC 6749 §4.1.3, §6). A code and a refresh token are
/// valid once. The reuse of either one revokes all tokens that were issued for it. Errors follow RFC 6749 §5.2.
#[utoipa::path(
    post, path = "/token", operation_id = "exchangeToken", tag = "OAuth",
    request_body(content(
        (TokenRequest = "application/x-www-form-urlencoded"),
        (TokenRequest = "application/json"),
    )),
    security((), ("client" = [])),
    responses(
        (status = 200, description = "The tokens.", body = TokenResponse, headers(("Cache-Control"))),
        TokenErrorResponses, code::PayloadTooLarge, code::RequestTimeout, code::MalformedJson,
    )
)]
pub(crate) async fn token(
    State(grants): State<Arc<Grants>>,
    Context(context): Context,
    request: Request,
) -> Response {
    client_request::respond(&grants, request, &context, async |client, request| {
        grant(&grants, client, request, &context).await.map(Json)
    })
    .await
}

/// Runs the grant that a token request names.
async fn grant(
    grants: &Grants,
    client: &Client,
    request: TokenRequest,
    context: &RequestContext,
) -> Result<TokenResponse, TokenError> {
    match request.grant_type.as_str() {
        "authorization_code" => grants.exchange_code(client, &request, context).await,
        "refresh_token" => grants.rotate(client, &request, context).await,
        "" => Err(TokenError::InvalidRequest("grant_type is required".to_owned())),
        _ => Err(TokenError::UnsupportedGrantType),
    }
}
