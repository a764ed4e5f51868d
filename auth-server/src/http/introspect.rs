//! `POST /introspect` (RFC 7662).

use super::client_request;
use super::token_errors::IntrospectionErrorResponses;
use axum::Json;
use axum::extract::{Request, State};
use axum::response::Response;
use issuer::grants::{Grants, Introspection, PresentedTokenRequest};
use std::sync::Arc;
use web::Context;
use web::openapi::error_responses::code;

/// Read the state of a token
///
/// Returns whether a token can be used now, and what it permits (RFC 7662). Only for confidential clients. The answer for an
/// access token is that of the API. A refresh token is active only for the client that it was issued to.
#[utoipa::path(
    post, path = "/introspect", operation_id = "introspectToken", tag = "OAuth",
    request_body(content(
        (PresentedTokenRequest = "application/x-www-form-urlencoded"),
        (PresentedTokenRequest = "application/json"),
    )),
    security((), ("client" = [])),
    responses(
        (status = 200, description = "The state.", body = Introspection, headers(("Cache-Control"))),
        IntrospectionErrorResponses, code::PayloadTooLarge, code::RequestTimeout, code::MalformedJson,
    )
)]
pub(crate) async fn introspect(
    State(grants): State<Arc<Grants>>,
    Context(context): Context,
    request: Request,
) -> Response {
    client_request::respond(
        &grants,
        request,
        &context,
        async |client, _, request: PresentedTokenRequest| {
            let introspection = grants.introspect(client, request.token()?, context.now).await?;
            Ok(Json(introspection))
        },
    )
    .await
}
