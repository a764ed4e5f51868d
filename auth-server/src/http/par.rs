//! `POST /par` (RFC 9126 §2).

use super::client_request::{ClientRequest, NO_STORE};
use super::dpop_proof::accept_proof;
use super::token_errors::{PushErrorResponses, TokenFailure};
use crate::app::App;
use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::IntoResponse;
use issuer::grants::{AuthorizationRequest, PushedRequest};
use web::openapi::error_responses::code;
use web::{Context, Error};

/// Rejects with 404, before the body is read, if pushed requests are turned off.
pub(crate) struct PushedRequestsOn;

impl FromRequestParts<App> for PushedRequestsOn {
    type Rejection = Error;

    async fn from_request_parts(_: &mut Parts, app: &App) -> Result<Self, Error> {
        let is_on = app.grants.pushed_requests.is_on();
        is_on.then_some(Self).ok_or_else(Error::not_found)
    }
}

/// Push an authorization request
///
/// Takes the parameters of `/authorize` from the client itself, which authenticates as at `/token` (RFC
/// 9126). The client then sends the browser to `/authorize` with its `client_id` and the `request_uri` of the
/// response, within a minute. One code is issued for a pushed request.
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
pub(crate) async fn push(
    State(app): State<App>,
    Context(context): Context,
    _: PushedRequestsOn,
    call: ClientRequest<AuthorizationRequest>,
) -> Result<impl IntoResponse, TokenFailure> {
    let (grants, client) = (&app.grants, &call.client);
    grants.check_document(client, context.now).await?;
    let (key, next_nonce) = accept_proof(grants, "/par", &call.headers, context.now).await?;
    let pushed = grants.push(client, call.request, key, context.now).await?;
    Ok((StatusCode::CREATED, next_nonce, NO_STORE, Json(pushed)))
}
