//! `POST /revoke` (RFC 7009).

use super::client_request;
use super::token_errors::RevocationErrorResponses;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use issuer::grants::{Grants, PresentedTokenRequest};
use std::sync::Arc;
use web::Context;
use web::openapi::error_responses::code;

/// Revoke a token
///
/// Revokes a token of the client (RFC 7009). A refresh token ends its whole grant, with all access tokens; an access token ends
/// alone. The response is the same for a token that is not valid any more.
#[utoipa::path(
    post, path = "/revoke", operation_id = "revokeToken", tag = "OAuth",
    request_body(content(
        (PresentedTokenRequest = "application/x-www-form-urlencoded"),
        (PresentedTokenRequest = "application/json"),
    )),
    security((), ("client" = [])),
    responses(
        (status = 200, description = "The token is not valid any more.", headers(("Cache-Control"))),
        RevocationErrorResponses, code::PayloadTooLarge, code::RequestTimeout, code::MalformedJson,
    )
)]
pub(crate) async fn revoke(
    State(grants): State<Arc<Grants>>,
    Context(context): Context,
    request: Request,
) -> Response {
    client_request::respond(
        &grants,
        request,
        &context,
        async |client, request: PresentedTokenRequest| {
            grants.revoke(client, request.token()?, &context).await?;
            Ok(StatusCode::OK)
        },
    )
    .await
}
