//! `POST /token` (RFC 6749 §3.2).

use super::client_request::{ClientRequest, NO_STORE};
use super::dpop_proof::accept_proof;
use super::refresh_cookie;
use super::token_errors::{TokenErrorResponses, TokenFailure};
use crate::app::App;
use audit::figures::{COUNTERS, Figure};
use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use foundation::context::RequestContext;
use identity::clients::{Client, ClientType};
use issuer::grants::{DEVICE_CODE, Grants, TokenRequest, TokenResponse};
use issuer::token_error::TokenError;
use web::Context;
use web::openapi::error_responses::code;

/// Exchange a code, a refresh token, a device code or a service's credentials
///
/// Returns an access token and the next refresh token (RFC 6749 §4.1.3, §6). A code and a refresh token are
/// valid once. The reuse of either one revokes all tokens that were issued for it. A service gets an access
/// token for itself alone (§4.4). With a device code, the client repeats the request until the user has
/// decided (RFC 8628 §3.4). Errors follow RFC 6749 §5.2.
///
/// With a DPoP proof in the header `DPoP`, the access token is bound to the key of the proof, and so are the
/// refresh tokens of a public client (RFC 9449 §5).
///
/// An app that was registered with `--refresh-cookie` gets its refresh token in the cookie `refresh_`
/// followed by its `client_id`, and refreshes without `refresh_token`, with the header `x-csrf-token`.
#[utoipa::path(
    post, path = "/token", operation_id = "exchangeToken", tag = "OAuth",
    params(("DPoP" = Option<String>, Header, description = "A proof of possession of the key to which the tokens are bound.")),
    request_body(content(
        (TokenRequest = "application/x-www-form-urlencoded"),
        (TokenRequest = "application/json"),
    )),
    security((), ("client" = [])),
    responses(
        (status = 200, description = "The tokens.", body = TokenResponse, headers(("Cache-Control"), ("Set-Cookie"), ("DPoP-Nonce"))),
        TokenErrorResponses, code::CsrfMismatch,
    )
)]
pub(crate) async fn token(
    State(app): State<App>,
    Context(context): Context,
    mut call: ClientRequest<TokenRequest>,
) -> Result<impl IntoResponse, TokenFailure> {
    let (grants, client) = (&app.grants, &call.client);
    let replaced = refresh_cookie::prepare(&mut call.request, client, &call.headers, &app.policy)?;
    let (key, next_nonce) = accept_proof(grants, "/token", &call.headers, context.now).await?;
    if key.is_none() && client.dpop_bound_access_tokens {
        return Err(TokenError::MissingProof.into());
    }
    let granted = grant(grants, client, call.request, key.as_deref(), &context).await;
    let mut tokens = granted.map_err(|error| refresh_cookie::failure(error, client))?;
    if let Some(replaced) = replaced {
        grants.record_replaced(client, replaced.expose(), &context).await;
    }
    let cookie = refresh_cookie::move_from(&mut tokens, client, grants.lifetimes.refresh.idle);
    Ok((cookie, next_nonce, NO_STORE, Json(tokens)))
}

/// Runs the grant that a token request names. The tokens are bound to the key with the thumbprint `key`, if
/// it is set. A service may use the grant `client_credentials` alone, and no other client may use it.
async fn grant(
    grants: &Grants,
    client: &Client,
    request: TokenRequest,
    key: Option<&str>,
    context: &RequestContext,
) -> Result<TokenResponse, TokenError> {
    grants.check_document(client, context.now).await?;
    grants.check_resource(&request.resource)?;
    let is_service = client.kind == ClientType::Service;
    let (figure, tokens) = match request.grant_type.as_str() {
        "authorization_code" if !is_service => {
            let tokens = grants.exchange_code(client, &request, key, context).await?;
            (Figure::CodeGrants, tokens)
        }
        "refresh_token" if !is_service => {
            let tokens = grants.refresh(client, &request, key, context).await?;
            (Figure::RefreshGrants, tokens)
        }
        "client_credentials" if is_service => {
            let tokens = grants.issue_to_service(client, &request, key, context).await?;
            (Figure::ServiceGrants, tokens)
        }
        DEVICE_CODE => {
            let tokens = grants
                .exchange_device_code(client, &request, key, context)
                .await?;
            (Figure::DeviceGrants, tokens)
        }
        "authorization_code" | "refresh_token" | "client_credentials" => {
            return Err(TokenError::UnauthorizedClient);
        }
        "" => return Err(TokenError::InvalidRequest("grant_type is required".to_owned())),
        _ => return Err(TokenError::UnsupportedGrantType),
    };
    COUNTERS.count(figure, 1);
    Ok(tokens)
}
