//! `GET` and `POST /consent`: the user decides, and the client receives the response.

use super::browser::BrowserSession;
use super::documentation::{ConsentErrors, FlowErrors, FormErrors};
use super::extract::{PageQuery, SessionForm};
use super::flow::{FlowCookie, FlowError};
use super::form_page::{FormError, FormRenderer};
use super::forms::{AfterSignInQuery, ConsentForm};
use super::redirects::see_other;
use crate::app::App;
use crate::pages::{self, FormState, text};
use crate::paths;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use foundation::context::RequestContext;
use foundation::scope::Scope;
use identity::passkeys;
use identity::sessions::Session;
use issuer::clients::documents::Step;
use issuer::flows::Flow;
use issuer::grants::AuthorizationError;
use issuer::grants::authorization::CheckedRequest;
use issuer::grants::interaction::MissingInteraction;
use storage::db;
use web::Context;

/// Show the consent page
///
/// If the client is first-party, or if it is confidential and the user consented before, the browser returns
/// to the client without a form.
#[utoipa::path(
    get, path = paths::CONSENT, operation_id = "showConsent", tag = "Pages", params(AfterSignInQuery),
    security((), ("session" = [])),
    responses(
        (status = 200, description = "The form.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the sign-in page or to the client.", headers(("Location"))),
        FlowErrors,
    )
)]
pub(crate) async fn show(
    State(app): State<App>,
    Context(context): Context,
    PageQuery(query): PageQuery<AfterSignInQuery>,
    cookie: FlowCookie,
    BrowserSession(session): BrowserSession,
    renderer: FormRenderer,
) -> Result<Response, FlowError> {
    let flow = query.flow.as_deref().unwrap_or_default();
    let begun = cookie.find(&app, flow, context.now).await?;
    let session = require_session(session, Some(flow), query.signed_in.is_some())?;
    let request = Box::pin(check(&app, &begun, Step::Show, flow, &session, &context)).await?;
    let user_id = session.user.id;
    let Some(missing) = app.grants.missing_consent(&request, user_id).await? else {
        let to = Box::pin(allow(&app, &request, &begun, &session, &context)).await?;
        return Ok(see_other(&to));
    };
    let logo = app.grants.documents.logo(&request.client).await?;
    let offers_passkey = offers_passkey(&app, &session, &context).await?;
    let (logo, granted) = (logo.as_deref(), missing.granted);
    Ok(renderer.show(|form| page(form, (flow, offers_passkey), &request, logo, granted, &session)))
}

/// Returns whether a page on the way to an app or a device offers a passkey to the user of this session.
pub(super) async fn offers_passkey(
    app: &App,
    session: &Session,
    context: &RequestContext,
) -> Result<bool, db::Error> {
    Ok(app.relying_party.is_some()
        && passkeys::should_be_offered(&app.identity.db, session, context.now).await?)
}

/// Checks the request of a flow again for the user of this session. Fails with a redirect to the sign-in page
/// if the user must sign in first, and to the client if it expects another user.
async fn check(
    app: &App,
    begun: &Flow,
    step: Step,
    flow: &str,
    session: &Session,
    context: &RequestContext,
) -> Result<CheckedRequest, FlowError> {
    let (grants, user_id) = (&app.grants, session.user.id);
    let checked = grants.check_request(&begun.request.params, step, user_id, context);
    let request = checked.await?;
    let demands = &request.demands;
    if !demands.admits(user_id) {
        let to = grants.refuse(&request, MissingInteraction::SignIn);
        return Err(FlowError::Response(see_other(&to)));
    }
    if demands.needs_sign_in_since(begun.request.received_at, session, context.now) {
        return Err(FlowError::Response(see_other(&paths::sign_in(Some(flow)))));
    }
    Ok(request)
}

/// Finishes the flow with a code. Returns the redirect to the client.
async fn allow(
    app: &App,
    request: &CheckedRequest,
    begun: &Flow,
    session: &Session,
    context: &RequestContext,
) -> Result<String, AuthorizationError> {
    let request_uri = begun.request.request_uri.as_ref();
    app.grants
        .allow(request, Some(begun), request_uri, session, context)
        .await
}

/// Renders the consent page of a flow, which may offer a passkey. It names the user of the session, and its
/// form is bound to this user.
fn page(
    form: FormState<'_>,
    (flow, offers_passkey): (&str, bool),
    request: &CheckedRequest,
    logo: Option<&str>,
    granted: Scope,
    session: &Session,
) -> Response {
    pages::consent(&pages::ConsentPage {
        form,
        flow,
        client: &request.client,
        logo,
        client_version: request.client_version(),
        scope: request.scope,
        granted,
        redirect_uri: request.redirect_uri(),
        user: &session.user,
        sign_in: paths::sign_in(Some(flow)),
        passkey_offer: offers_passkey.then(|| paths::in_flow(paths::PASSKEYS, flow)),
    })
}

/// Submit the consent form
///
/// The browser returns to the client, whether the user allowed or denied the request.
#[utoipa::path(
    post, path = paths::CONSENT, operation_id = "submitConsent", tag = "Pages", security((), ("session" = [])),
    request_body(content = ConsentForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Redirect to the sign-in page or to the client.", headers(("Location"))),
        ConsentErrors, FormErrors, FlowErrors,
    )
)]
pub(crate) async fn submit(
    State(app): State<App>,
    Context(context): Context,
    cookie: FlowCookie,
    renderer: FormRenderer,
    SessionForm(session, fields): SessionForm<ConsentForm>,
) -> Result<Response, FlowError> {
    let flow = fields.flow.as_deref().unwrap_or_default();
    let is_allowed = is_allowed(&fields.decision)?;
    let session = require_session(session, Some(flow), false)?;
    let begun = cookie.find(&app, flow, context.now).await?;
    let request = Box::pin(check(&app, &begun, Step::Decide, flow, &session, &context)).await?;
    if fields.user.as_deref() != Some(session.user.id.to_string().as_str()) {
        return show_to_another_user(&app, flow, &request, &session, renderer).await;
    }
    if request.client_version() != fields.client_version {
        let text = text::of("client-changed");
        let page = pages::error(StatusCode::BAD_REQUEST, &text, &paths::continuation(flow, &[]));
        return Err(FlowError::Response(page));
    }
    let to = match is_allowed {
        true => Box::pin(allow(&app, &request, &begun, &session, &context)).await?,
        false => app.grants.deny(&request, &begun, &session, &context).await?,
    };
    Ok(see_other(&to))
}

/// Returns the page again, for a form that it showed to another user than that of the session, who signed in
/// since.
async fn show_to_another_user(
    app: &App,
    flow: &str,
    request: &CheckedRequest,
    session: &Session,
    renderer: FormRenderer,
) -> Result<Response, FlowError> {
    let missing = app.grants.missing_consent(request, session.user.id).await?;
    let granted = missing.map_or(request.scope, |missing| missing.granted);
    let logo = app.grants.documents.logo(&request.client).await?;
    let changed = FormError::new(StatusCode::CONFLICT, &text::of("consent-user-changed"));
    Ok(renderer.show_again(changed, |form| {
        page(form, (flow, false), request, logo.as_deref(), granted, session)
    }))
}

/// Returns whether the user allows the request. Fails with a page if the form has no decision.
pub(super) fn is_allowed(decision: &str) -> Result<bool, FlowError> {
    match decision {
        "allow" => Ok(true),
        "deny" => Ok(false),
        _ => {
            let text = text::of("no-decision");
            let page = pages::error_of_form(StatusCode::BAD_REQUEST, &text, None);
            Err(FlowError::Response(page))
        }
    }
}

/// Returns the page for a browser that did not keep the cookie of its new session.
pub(super) fn cookie_dropped(flow: Option<&str>) -> Response {
    let text = text::of("cookie-dropped");
    pages::error(StatusCode::BAD_REQUEST, &text, &paths::sign_in(flow))
}

/// Returns the session. Fails with a redirect to the sign-in page or to the password page if that must come
/// first.
pub(super) fn require_session(
    session: Option<Session>,
    flow: Option<&str>,
    just_signed_in: bool,
) -> Result<Session, FlowError> {
    let response = match session {
        Some(session) if !session.password_change_required => return Ok(session),
        Some(_) => see_other(&paths::of_flow(paths::PASSWORD, flow)),
        None if just_signed_in => cookie_dropped(flow),
        None => see_other(&paths::sign_in(flow)),
    };
    Err(FlowError::Response(response))
}
