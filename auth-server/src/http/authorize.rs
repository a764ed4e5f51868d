//! `GET` and `POST /authorize` (RFC 6749 §4.1.1).

use super::browser::BrowserSession;
use super::consent::owner;
use super::documentation::AuthorizationErrors;
use super::extract::FormOrQuery;
use super::flow::{FlowCookie, FlowError};
use super::paths;
use super::redirects::see_other;
use crate::app::App;
use axum::extract::State;
use axum::http::header;
use axum::response::{AppendHeaders, IntoResponse, Response};
use foundation::context::RequestContext;
use identity::sessions::Session;
use issuer::flows::FlowRequest;
use issuer::grants::AuthorizationRequest;
use issuer::grants::authorization::CheckedRequest;
use issuer::grants::interaction::MissingInteraction;
use web::Context;

/// Request an authorization code
///
/// The client redirects the browser here (RFC 6749 §4.1.1, RFC 7636). After sign-in and consent, the browser
/// returns to the redirect URI with `code` or `error`, and with `state` and `iss`. With `prompt=none` it returns at once.
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
    FormOrQuery(params): FormOrQuery,
) -> Result<Response, FlowError> {
    let request = app.grants.check_request(&params).await?;
    if request.interaction.is_silent {
        return answer_without_pages(&app, request, session, &context).await;
    }
    let outdated = session
        .as_ref()
        .filter(|session| request.needs_sign_in(session.user.id, session.signed_in_at, context.now));
    let page = match (&session, outdated) {
        (Some(_), None) => paths::CONSENT,
        _ => paths::SIGN_IN,
    };
    let request = FlowRequest {
        params,
        outdated_session: outdated.map(|session| session.id),
    };
    let (secret, cookie) = cookie.or_new(&app.policy);
    let flow = app.flows.begin(request, &secret, context.now);
    let next = see_other(&paths::in_flow(page, &flow));
    Ok((AppendHeaders([(header::SET_COOKIE, cookie)]), next).into_response())
}

/// Redirects the browser to the client at once: with a code, or with the error that names the page that would be needed.
async fn answer_without_pages(
    app: &App,
    request: CheckedRequest,
    session: Option<Session>,
    context: &RequestContext,
) -> Result<Response, FlowError> {
    let refuse = |missing| Ok(see_other(&app.grants.refuse(&request, missing)));
    let session =
        session.filter(|session| !request.needs_sign_in(session.user.id, session.signed_in_at, context.now));
    let Some(session) = session else {
        return refuse(MissingInteraction::SignIn);
    };
    if session.password_change_required {
        return refuse(MissingInteraction::PasswordChange);
    }
    if app
        .grants
        .missing_consent(&request, session.user.id)
        .await?
        .is_some()
    {
        return refuse(MissingInteraction::Consent);
    }
    let to = Box::pin(app.grants.allow(request, owner(&session), context)).await?;
    Ok(see_other(&to))
}

/// Request an authorization code by a form
///
/// The same request as a form. The browser then repeats it by GET, because browsers send no session cookie with a form
/// from another site.
#[utoipa::path(
    post, path = paths::AUTHORIZE, operation_id = "authorizeByForm", tag = "OAuth",
    request_body(content = AuthorizationRequest, content_type = "application/x-www-form-urlencoded"),
    security(()),
    responses(
        (status = 303, description = "Redirect to the same request by GET, or to the client.", headers(("Location"))),
        AuthorizationErrors, FormOrQuery,
    )
)]
pub(crate) async fn authorize_by_form(
    State(app): State<App>,
    FormOrQuery(params): FormOrQuery,
) -> Result<Response, FlowError> {
    app.grants.check_request(&params).await?;
    Ok(see_other(&format!("{}?{}", paths::AUTHORIZE, params.to_form())))
}
