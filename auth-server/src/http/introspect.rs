//! `POST /introspect` (RFC 7662), with signed responses (RFC 9701).

use super::client_request::{ClientRequest, NO_STORE};
use super::token_errors::{IntrospectionErrorResponses, TokenFailure};
use crate::app::App;
use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use issuer::grants::{Introspection, PresentedTokenRequest};
use web::content_negotiation::prefers_to_json;
use web::{Context, Error};

/// The media type of a signed response (RFC 9701 §5).
const SIGNED: &str = "application/token-introspection+jwt";

/// Read the state of a token
///
/// Returns whether a token can be used now, and what it permits (RFC 7662). Only for confidential clients.
/// The answer for an access token is that of the API. A refresh token is active only for the client that it
/// was issued to. A request with `Accept: application/token-introspection+jwt` gets the response as a JWT
/// that the issuer has signed (RFC 9701).
#[utoipa::path(
    post, path = "/introspect", operation_id = "introspectToken", tag = "OAuth",
    request_body(content(
        (PresentedTokenRequest = "application/x-www-form-urlencoded"),
        (PresentedTokenRequest = "application/json"),
    )),
    security((), ("client" = [])),
    responses(
        (status = 200, description = "The state.", content(
            (Introspection = "application/json"),
            (String = "application/token-introspection+jwt"),
        ), headers(("Cache-Control"))),
        IntrospectionErrorResponses,
    )
)]
pub(crate) async fn introspect(
    State(app): State<App>,
    Context(context): Context,
    call: ClientRequest<PresentedTokenRequest>,
) -> Result<Response, TokenFailure> {
    let (grants, client) = (&app.grants, &call.client);
    grants.check_document(client, context.now).await?;
    let token = call.request.token()?;
    let introspection = grants.introspect(client, token, context.now).await?;
    let is_signed = prefers_to_json(&call.headers, SIGNED);
    // A process whose clock differs signs nothing, and cannot know that a token has not expired.
    if context.clock.differs() && (is_signed || introspection.is_active()) {
        return Err(Error::dependency_unavailable().into());
    }
    if !is_signed {
        return Ok((NO_STORE, Json(introspection)).into_response());
    }
    let signed = grants.sign_introspection(client, &introspection, context.now)?;
    Ok(([(header::CONTENT_TYPE, SIGNED)], NO_STORE, signed).into_response())
}
