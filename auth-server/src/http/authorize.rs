//! `GET` and `POST /authorize` (RFC 6749 §4.1.1).

use super::browser::BrowserSession;
use super::documentation::AuthorizationErrors;
use super::extract::AuthorizationParams;
use super::flow::{FlowCookie, FlowError};
use super::paths;
use super::redirects::see_other;
use crate::app::App;
use axum::extract::State;
use axum::http::header;
use axum::response::{AppendHeaders, IntoResponse, Response};
use issuer::grants::AuthorizationRequest;
use web::Context;

/// Request an authorization code
///
/// The client redirects the browser here (RFC 6749 §4.1.1, RFC 7636). After sign-in and consent, the browser
/// returns to the redirect URI with `code` or `error`, and with `state` and `iss`.
#[utoipa::path(
    get, path = paths::AUTHORIZE, operation_id = "authorize", tag = "OAuth", params(AuthorizationRequest),
    security((), ("session" = [])),
    responses(
        (status = 303, description = "Redirect to the sign-in page, to the consent page or to the client.",
         headers(("Location"))),
        AuthorizationErrors,
    )
)]
pub(crate) async fn authorize(
    State(app): State<App>,
    Context(context): Context,
    cookie: FlowCookie,
    BrowserSession(session): BrowserSession,
    AuthorizationParams(params): AuthorizationParams,
) -> Result<Response, FlowError> {
    app.grants.check_request(&params).await?;
    let (secret, cookie) = cookie.or_new(&app.policy);
    let flow = app.flows.begin(params, &secret, context.now);
    let page = match session {
        Some(_) => paths::CONSENT,
        None => paths::SIGN_IN,
    };
    let next = see_other(&paths::in_flow(page, &flow));
    Ok((AppendHeaders([(header::SET_COOKIE, cookie)]), next).into_response())
}

/// Request an authorization code by a form
///
/// The same request as a form, for parameters that must not appear in a URL.
#[utoipa::path(
    post, path = paths::AUTHORIZE, operation_id = "authorizeByForm", tag = "OAuth",
    request_body(content = AuthorizationRequest, content_type = "application/x-www-form-urlencoded"),
    security((), ("session" = [])),
    responses(
        (status = 303, description = "Redirect to the sign-in page, to the consent page or to the client.",
         headers(("Location"))),
        AuthorizationErrors, AuthorizationParams,
    )
)]
pub(crate) async fn authorize_by_form(
    app: State<App>,
    context: Context,
    cookie: FlowCookie,
    session: BrowserSession,
    params: AuthorizationParams,
) -> Result<Response, FlowError> {
    authorize(app, context, cookie, session, params).await
}
