//! `GET` and `POST /authorize` (RFC 6749 §4.1.1).

use super::browser::BrowserSession;
use super::documentation::AuthorizationErrors;
use super::extract::FormOrQuery;
use super::flow::{FlowCookie, FlowError, language_cookie};
use super::posted;
use super::redirects::see_other;
use crate::app::App;
use crate::pages::{self, text};
use crate::paths;
use axum::extract::State;
use axum::http::header;
use axum::response::{AppendHeaders, IntoResponse, Response};
use foundation::context::RequestContext;
use identity::sessions::Session;
use issuer::clients::documents::Step;
use issuer::grants::interaction::MissingInteraction;
use issuer::grants::{AuthorizationError, AuthorizationRequest, ReceivedRequest};
use issuer::posted_requests;
use web::Context;

/// Request an authorization code
///
/// The client redirects the browser here (RFC 6749 §4.1.1, RFC 7636). After sign-in and consent, the browser
/// returns to the redirect URI with `code` or `error`, and with `state` and `iss`. With `prompt=none` it
/// returns at once. A pushed request has the parameters `client_id` and `request_uri` only (RFC 9126).
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
    let params = posted_requests::open(&app.flows, paths::AUTHORIZE, params, context.now).await?;
    let params = params.ok_or(FlowError::NotFound)?;
    let received = app.grants.receive(params, context.now).await?;
    let demands = &received.demands;
    if demands.interaction.is_silent {
        return answer_without_pages(&app, received, session, &context).await;
    }
    let page = match session {
        Some(session) if !demands.needs_sign_in(&session, context.now) => paths::CONSENT,
        _ => paths::SIGN_IN,
    };
    let request = received.request;
    let language = language_cookie(request.params.get("ui_locales"), &app.policy);
    let (secret, cookie) = cookie.or_new(&app.policy);
    let flow = app.flows.begin(request, &secret, &context).await?;
    let next = see_other(&paths::in_flow(page, &flow));
    let cookies = AppendHeaders([cookie, language].map(|cookie| (header::SET_COOKIE, cookie)));
    Ok((cookies, next).into_response())
}

/// Redirects the browser to the client at once: with a code, or with the error that names the page that would
/// be needed.
async fn answer_without_pages(
    app: &App,
    received: ReceivedRequest,
    session: Option<Session>,
    context: &RequestContext,
) -> Result<Response, FlowError> {
    let demands = received.demands;
    let session = session.filter(|session| !demands.needs_sign_in(session, context.now));
    let request = match (received.checked, &session) {
        (Some(request), _) => request,
        (None, Some(session)) => {
            let (params, user_id) = (&received.request.params, session.user.id);
            app.grants
                .check_request(params, Step::Show, user_id, context)
                .await?
        }
        (None, None) => return Err(nobody_signed_in()),
    };
    let refuse = |missing| Ok(see_other(&app.grants.refuse(&request, missing)));
    let Some(session) = session else {
        return refuse(MissingInteraction::SignIn);
    };
    if session.password_change_required {
        return refuse(MissingInteraction::PasswordChange);
    }
    let missing = app.grants.missing_consent(&request, session.user.id).await?;
    if missing.is_some() {
        return refuse(MissingInteraction::Consent);
    }
    let request_uri = received.request.request_uri.as_ref();
    match Box::pin(app.grants.allow(&request, None, request_uri, &session, context)).await {
        Err(AuthorizationError::SessionEnded) => refuse(MissingInteraction::SignIn),
        to => Ok(see_other(&to?)),
    }
}

/// Returns the error of a request without pages whose client is not known until somebody signs in: nothing
/// may be redirected to it, and no link may lead to it.
fn nobody_signed_in() -> FlowError {
    FlowError::Response(pages::error_of_app(
        &text::of("nobody-signed-in"),
        "The request has prompt=none, but the application describes itself by a document, which is fetched for signed-in users \
         only (login_required).",
        paths::SIGN_IN,
    ))
}

/// Request an authorization code by a form
///
/// The same request as a form. The browser then repeats it by GET, because browsers send no session cookie
/// with a form from another site. The URL has the request in sealed form only.
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
    Context(context): Context,
    FormOrQuery(params): FormOrQuery,
) -> Result<Response, FlowError> {
    app.grants.receive(params.clone(), context.now).await?;
    posted::repeat_by_get(&app, paths::AUTHORIZE, params, &context).await
}
