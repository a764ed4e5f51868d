//! `POST /par` (RFC 9126 §2).

use super::client_request;
use super::token_errors::PushErrorResponses;
use crate::app::App;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use issuer::grants::{AuthorizationRequest, PushedRequest};
use issuer::token_error::TokenError;
use web::openapi::error_responses::code;
use web::{Context, Error, dpop};

/// Push an authorization request
///
/// Takes the parameters of `/authorize` from the client itself, which authenticates as at `/token` (RFC 9126). The client then sends
/// the browser to `/authorize` with its `client_id` and the `request_uri` of the response, within a minute. One code is issued for a
/// pushed request.
#[utoipa::path(
    post, path = "/par", operation_id = "pushAuthorizationRequest", tag = "OAuth",
    params(("DPoP" = Option<String>, Header, description = "A proof of possession of the key to which the code is bound, in place of `dpop_jkt`.")),
    request_body(content(
        (AuthorizationRequest = "application/x-www-form-urlencoded"),
        (AuthorizationRequest = "application/json"),
    )),
    security((), ("client" = [])),
    responses(
        (status = 201, description = "The reference to the request.", body = PushedRequest, headers(("Cache-Control"), ("DPoP-Nonce"))),
        PushErrorResponses, code::NotFound,
    )
)]
pub(crate) async fn push(State(app): State<App>, Context(context): Context, request: Request) -> Response {
    if !app.grants.pushed_requests.is_on() {
        return Error::not_found().into_response();
    }
    client_request::respond(
        &app,
        request,
        &context,
        async |client, headers, request: AuthorizationRequest| {
            app.grants.documents.check_usable(client, context.now).await?;
            let proof = dpop::proof(headers).map_err(TokenError::from)?;
            let proof = app.grants.accept_proof("/par", proof, context.now).await?;
            let (key, next_nonce) = proof.map(|proof| (proof.thumbprint, proof.next_nonce)).unzip();
            let pushed = app.grants.push(client, request, key, context.now).await?;
            let next_nonce = next_nonce.flatten().map(|nonce| [(dpop::NONCE, nonce)]);
            Ok((StatusCode::CREATED, next_nonce, Json(pushed)))
        },
    )
    .await
}
