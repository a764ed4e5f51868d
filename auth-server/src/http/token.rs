//! `POST /token` (RFC 6749 §3.2).

use super::client_request;
use super::token_errors::TokenErrorResponses;
use axum::Json;
use axum::extract::{Request, State};
use axum::response::Response;
use foundation::context::RequestContext;
use identity::grants::clients::{Client, ClientType};
use issuer::grants::{Grants, TokenRequest, TokenResponse};
use issuer::token_error::TokenError;
use std::sync::Arc;
use web::Context;
use web::openapi::error_responses::code;

/// Exchange a code, a refresh token or a service's credentials
///
/// Returns an access token and the next refresh token (RFC 6749 §4.1.3, §6). A code and a refresh token are
/// valid once. The reuse of either one revokes all tokens that were issued for it. A service gets an access token for itself
/// alone (§4.4). Errors follow RFC 6749 §5.2.
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

/// Runs the grant that a token request names. A service acts for itself only, and no other client does.
async fn grant(
    grants: &Grants,
    client: &Client,
    request: TokenRequest,
    context: &RequestContext,
) -> Result<TokenResponse, TokenError> {
    let is_service = client.kind == ClientType::Service;
    match request.grant_type.as_str() {
        "authorization_code" if !is_service => grants.exchange_code(client, &request, context).await,
        "refresh_token" if !is_service => grants.rotate(client, &request, context).await,
        "client_credentials" if is_service => grants.issue_to_service(client, &request, context).await,
        "authorization_code" | "refresh_token" | "client_credentials" => Err(TokenError::UnauthorizedClient),
        "" => Err(TokenError::InvalidRequest("grant_type is required".to_owned())),
        _ => Err(TokenError::UnsupportedGrantType),
    }
}
