//! `POST /revoke` (RFC 7009), and `POST /token/revoke`, which the cookies of refresh tokens reach.

use super::client_request::{ClientRequest, NO_STORE};
use super::refresh_cookie;
use super::token_errors::{RevocationErrorResponses, TokenFailure};
use crate::app::App;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use issuer::grants::PresentedTokenRequest;
use web::Context;
use web::openapi::error_responses::code;

/// Revoke a token
///
/// Revokes a token of the client (RFC 7009). A refresh token ends its whole grant, with all access tokens; an
/// access token ends alone, or with its grant if the client has revoked 1,000 others that have not expired.
/// The response is the same for a token that is not valid any more.
#[utoipa::path(
    post, path = "/revoke", operation_id = "revokeToken", tag = "OAuth",
    request_body(content(
        (PresentedTokenRequest = "application/x-www-form-urlencoded"),
        (PresentedTokenRequest = "application/json"),
    )),
    security((), ("client" = [])),
    responses(
        (status = 200, description = "The token is not valid any more.", headers(("Cache-Control"))),
        RevocationErrorResponses,
    )
)]
pub(crate) async fn revoke(
    State(app): State<App>,
    Context(context): Context,
    ClientRequest { client, request, .. }: ClientRequest<PresentedTokenRequest>,
) -> Result<impl IntoResponse, TokenFailure> {
    app.grants.revoke(&client, request.token()?, &context).await?;
    Ok(NO_STORE)
}

/// Revoke the refresh token in the cookie
///
/// Revokes the refresh token of an app that was registered with `--refresh-cookie`, with its whole grant, and
/// removes the cookie. Needs the header `x-csrf-token`. With the parameter `token`, the same as `/revoke`.
#[utoipa::path(
    post, path = "/token/revoke", operation_id = "revokeTokenInCookie", tag = "OAuth",
    request_body(content(
        (PresentedTokenRequest = "application/x-www-form-urlencoded"),
        (PresentedTokenRequest = "application/json"),
    )),
    security((), ("client" = [])),
    responses(
        (status = 200, description = "The token is not valid any more.", headers(("Cache-Control"), ("Set-Cookie"))),
        RevocationErrorResponses, code::CsrfMismatch,
    )
)]
pub(crate) async fn revoke_in_cookie(
    State(app): State<App>,
    Context(context): Context,
    call: ClientRequest<PresentedTokenRequest>,
) -> Result<impl IntoResponse, TokenFailure> {
    let client = &call.client;
    if !client.refresh_cookie || !call.request.token.is_empty() {
        app.grants.revoke(client, call.request.token()?, &context).await?;
        return Ok((None, NO_STORE));
    }
    if let Some(token) = refresh_cookie::read(client, &call.headers, &app.policy)? {
        app.grants.revoke(client, token.expose(), &context).await?;
    }
    let removal = [(header::SET_COOKIE, refresh_cookie::clear(client))];
    Ok((Some(removal), NO_STORE))
}
