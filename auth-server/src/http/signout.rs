//! `GET` and `POST /signout` (OpenID Connect RP-Initiated Logout 1.0): the user signs out, here and at the
//! client that asked.

use super::browser::BrowserSession;
use super::documentation::{FormErrors, SignOutErrors};
use super::extract::{FormOrQuery, SessionForm};
use super::flow::language_cookie;
use super::form_page::FormRenderer;
use super::forms::SignOutForm;
use super::posted;
use super::redirects::see_other;
use crate::app::App;
use crate::pages::{self, text};
use crate::paths;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use identity::login;
use identity::sessions::Session;
use issuer::grants::end_session::{CheckedLogout, EndSessionError};
use issuer::grants::{EndSessionRequest, Grants};
use issuer::params::Params;
use issuer::posted_requests;
use storage::db;
use web::{Context, Error, cookies};

/// Sign out
///
/// Ends the session of the browser and redirects it to the client, if the client names a registered
/// `post_logout_redirect_uri`. The user must confirm, unless the client sends an ID token of this session.
/// With an ID token that cannot be verified, the browser does not return to the client.
#[utoipa::path(
    get, path = paths::SIGN_OUT, operation_id = "signOut", tag = "OpenID Connect", params(EndSessionRequest),
    security((), ("session" = [])),
    responses(
        (status = 200, description = "The form to confirm, or the message that the session has ended.", body = String,
         content_type = "text/html"),
        (status = 303, description = "Redirect to the client.", headers(("Location"), ("Set-Cookie"))),
        SignOutErrors,
    )
)]
pub(crate) async fn show(
    State(app): State<App>,
    Context(context): Context,
    BrowserSession(session): BrowserSession,
    renderer: FormRenderer,
    FormOrQuery(params): FormOrQuery,
) -> Result<Response, Response> {
    let params = posted_requests::open(&app.flows, paths::SIGN_OUT, params, context.now).await;
    let params = params.map_err(failed)?.ok_or_else(posted_long_ago)?;
    let request = read(&params)?;
    let logout = check(&app.grants, &request, context.now).await?;
    match session {
        Some(session) if logout.names(&session) => end(&app, &session, &logout, &context).await,
        Some(session) => Ok(renderer.show(|form| {
            pages::sign_out(&pages::SignOutPage {
                form,
                email: &session.user.email,
                request: &request,
            })
        })),
        None => Ok(signed_out(&logout)),
    }
}

/// Sign out by a form
///
/// The same request as a form. The browser then repeats it by GET, because browsers send no session cookie
/// with a form from another site. The URL has the request in sealed form only.
#[utoipa::path(
    post, path = paths::SIGN_OUT, operation_id = "signOutByForm", tag = "OpenID Connect", security(()),
    request_body(content = EndSessionRequest, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Redirect to the same request by GET.", headers(("Location"), ("Set-Cookie"))),
        SignOutErrors, FormOrQuery,
    )
)]
pub(crate) async fn show_by_form(
    State(app): State<App>,
    Context(context): Context,
    FormOrQuery(params): FormOrQuery,
) -> Result<Response, Response> {
    let request = read(&params)?;
    check(&app.grants, &request, context.now).await?;
    let language = language_cookie(request.ui_locales.as_deref(), &app.policy);
    let repeated = posted::repeat_by_get(&app, paths::SIGN_OUT, params, &context).await;
    let repeated = repeated.map_err(IntoResponse::into_response)?;
    Ok((cookies::header_of(language), repeated).into_response())
}

/// Confirm the sign-out
///
/// Ends the session of the browser.
#[utoipa::path(
    post, path = paths::SIGN_OUT_CONFIRMATION, operation_id = "confirmSignOut", tag = "OpenID Connect",
    security((), ("session" = [])),
    request_body(content = SignOutForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The session has ended.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the client.", headers(("Location"), ("Set-Cookie"))),
        FormErrors, SignOutErrors,
    )
)]
pub(crate) async fn confirm(
    State(app): State<App>,
    Context(context): Context,
    SessionForm(session, fields): SessionForm<SignOutForm>,
) -> Result<Response, Response> {
    let logout = check(&app.grants, &fields.into_request(), context.now).await?;
    match session {
        Some(session) => end(&app, &session, &logout, &context).await,
        None => Ok(signed_out(&logout)),
    }
}

fn read(params: &Params) -> Result<EndSessionRequest, Response> {
    params.check_length().map_err(invalid)?;
    match params.flaw() {
        Some(flaw) => Err(invalid(&format!("The request cannot be read: {flaw}."))),
        None => params
            .read()
            .map_err(|error| Error::internal(&error).into_response()),
    }
}

async fn check(
    grants: &Grants,
    request: &EndSessionRequest,
    now: Timestamp,
) -> Result<CheckedLogout, Response> {
    let checked = grants.check_logout(request, now).await;
    checked.map_err(|error| match error {
        EndSessionError::Invalid(message) => invalid(message),
        EndSessionError::Database(error) => failed(error),
    })
}

fn posted_long_ago() -> Response {
    invalid(
        "The form that began this request was sent too long ago. Go back to the application and start again.",
    )
}

fn failed(error: db::Error) -> Response {
    Error::from(error).into_response()
}

fn invalid(message: &str) -> Response {
    pages::error_of_app(&text::of("invalid-sign-out"), message, paths::ACCOUNT)
}

/// Ends the session. Returns the response that follows, which removes the cookie.
async fn end(
    app: &App,
    session: &Session,
    logout: &CheckedLogout,
    context: &RequestContext,
) -> Result<Response, Response> {
    let ended = login::logout(&app.identity, session, context).await;
    ended.map_err(|error| Error::from(error).into_response())?;
    let cookie = cookies::header_of(cookies::clear_sid());
    Ok((cookie, signed_out(logout)).into_response())
}

fn signed_out(logout: &CheckedLogout) -> Response {
    match &logout.redirect {
        Some(to) => see_other(to),
        None => pages::notify(&text::of("signed-out"), paths::SIGN_IN),
    }
}
