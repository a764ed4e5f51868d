//! `GET` and `POST /authorize` (RFC 6749 §4.1.1).

use super::browser::{AuthorizeParams, SignedIn, ensure_flow_secret, see_other};
use super::consent;
use super::describe::{AuthorizationRequest, NoRedirect};
use crate::flows::Flows;
use crate::grants::Grants;
use crate::grants::authorization::AuthorizationError;
use crate::pages;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use shared::events::Context;
use shared::http::{Error, Policy};
use std::sync::Arc;

/// Ask for an authorization code
///
/// Where an app sends the browser (RFC 6749 §4.1.1, RFC 7636). It goes on to sign-in and consent, and in the
/// end to the redirect URI with `code`, or `error`, and `state` and `iss`.
#[utoipa::path(
    get, path = "/authorize", operation_id = "authorize", tag = "OAuth", params(AuthorizationRequest),
    security((), ("session" = [])),
    responses(
        (status = 303, description = "On to sign-in, to consent, or back to the client.", headers(("Location"))),
        NoRedirect,
    )
)]
pub(crate) async fn authorize(
    State(grants): State<Arc<Grants>>,
    State(flows): State<Flows>,
    State(policy): State<Arc<Policy>>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
    SignedIn(session): SignedIn,
    AuthorizeParams(params): AuthorizeParams,
) -> Response {
    if let Err(error) = grants.check_request(params.clone()).await {
        return error_response(error);
    }
    let (secret, cookie) = ensure_flow_secret(&headers, &policy);
    let flow = flows.begin(params, &secret, context.now);
    let page = if session.is_some() {
        consent::PATH
    } else {
        super::signin::PATH
    };
    (
        AppendHeaders([(header::SET_COOKIE, cookie)]),
        see_other(&format!("{page}?flow={flow}")),
    )
        .into_response()
}

/// Ask for an authorization code by a form
///
/// The same request as a form, for parameters that should be in no URL.
#[utoipa::path(
    post, path = "/authorize", operation_id = "authorizeByForm", tag = "OAuth",
    request_body(content = AuthorizationRequest, content_type = "application/x-www-form-urlencoded"),
    security((), ("session" = [])),
    responses(
        (status = 303, description = "On to sign-in, to consent, or back to the client.", headers(("Location"))),
        NoRedirect, AuthorizeParams,
    )
)]
pub(crate) async fn authorize_by_form(
    grants: State<Arc<Grants>>,
    flows: State<Flows>,
    policy: State<Arc<Policy>>,
    context: Extension<Context>,
    headers: HeaderMap,
    session: SignedIn,
    params: AuthorizeParams,
) -> Response {
    authorize(grants, flows, policy, context, headers, session, params).await
}

/// Renders an error for the browser: a page, or a redirect to the client.
pub(crate) fn error_response(error: AuthorizationError) -> Response {
    match error {
        AuthorizationError::Page(message) => {
            pages::error(StatusCode::BAD_REQUEST, "This request cannot go on", &message)
        }
        AuthorizationError::Redirect(to) => see_other(&to),
        AuthorizationError::Database(error) => Error::from(error).into_response(),
        AuthorizationError::StateMachine => Error::internal(&error).into_response(),
    }
}
