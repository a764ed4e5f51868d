//! `GET` and `POST /signin/second-step`: the code that follows a right password.

use super::{Failure, former_session, show_again, signed_in};
use crate::app::App;
use crate::http::browser::BrowserSession;
use crate::http::documentation::{FlowErrors, FormErrors, SecondStepErrors};
use crate::http::extract::{PageForm, PageQuery};
use crate::http::flow::{self, FlowCookie, FlowError, PageFlow};
use crate::http::form_page::{FormError, FormRenderer};
use crate::http::forms::{FlowQuery, SecondStepForm};
use crate::http::redirects::see_other;
use crate::pages::{self, Field, FormState, text};
use crate::paths;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use identity::Identity;
use identity::first_step::FirstStep;
use identity::login::{self, NewSession, complete_login};
use identity::second_factor::Otp;
use std::time::Duration;
use web::{Context, cookies};

/// The cookie that keeps the first step. It is as good as the password, so the browser sends it to this page
/// alone.
const COOKIE: &str = "first_step";

/// Returns the redirect to this page, with the cookie of the first step.
pub(super) fn begin(identity: &Identity, first: &FirstStep, flow: Option<&str>) -> Response {
    let text = first.seal(&identity.account_key);
    let cookie = cookie(text.expose(), FirstStep::LIFETIME);
    let next = see_other(&paths::of_flow(paths::SECOND_STEP, flow));
    (cookies::header_of(cookie), next).into_response()
}

fn cookie(text: &str, lifetime: Duration) -> HeaderValue {
    cookies::set_strict(COOKIE, text, paths::SECOND_STEP, lifetime)
}

/// Returns the first step that the browser keeps, if it can still be followed by a code.
fn first_step(identity: &Identity, headers: &HeaderMap, now: Timestamp) -> Option<FirstStep> {
    let text = cookies::single(headers, COOKIE)?;
    FirstStep::open(&identity.account_key, text, now)
}

/// Show the page for the one-time code
///
/// The page follows the sign-in page if the account uses two-step sign-in. Without a right password in the
/// last five minutes, the browser gets the sign-in page, or outside a flow the account if it is signed in.
#[utoipa::path(
    get, path = paths::SECOND_STEP, operation_id = "showSecondStep", tag = "Pages", params(FlowQuery),
    security((), ("session" = [])),
    responses(
        (status = 200, description = "The form.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the account, or to the same page on the host of the base URL.", headers(("Location"))),
        FlowErrors, SecondStepErrors,
    )
)]
pub(crate) async fn show(
    State(app): State<App>,
    Context(context): Context,
    PageQuery(query): PageQuery<FlowQuery>,
    headers: HeaderMap,
    cookie: FlowCookie,
    BrowserSession(session): BrowserSession,
    renderer: FormRenderer,
) -> Result<Response, FlowError> {
    let flow = flow::find(&app, query.flow.as_deref(), cookie, context.now).await?;
    Ok(match first_step(&app.identity, &headers, context.now) {
        Some(first) => renderer.show(|form| page(form, &first, &flow, false)),
        // The browser went back after the sign-in.
        None if session.is_some() && flow.parameter.is_none() => see_other(paths::ACCOUNT),
        None => restart(&app, renderer, ("", &flow), &headers, &context).await?,
    })
}

fn page<'a>(
    form: FormState<'a>,
    first: &'a FirstStep,
    flow: &'a PageFlow<'a>,
    is_recovery_code: bool,
) -> Response {
    let (app, flow) = (flow.app(), flow.parameter);
    pages::second_step(&pages::SecondStepPage {
        form,
        app,
        flow,
        email: &first.email,
        user: first.user_id,
        sign_in: paths::sign_in(flow),
        forgot: paths::of_flow(paths::FORGOT, flow),
        is_recovery_code,
    })
}

/// Returns the sign-in page for a browser that has no first step, or one that has ended.
async fn restart(
    app: &App,
    renderer: FormRenderer,
    email_and_flow: (&str, &PageFlow<'_>),
    headers: &HeaderMap,
    context: &RequestContext,
) -> Result<Response, FlowError> {
    let ended = FormError::new(StatusCode::BAD_REQUEST, &text::of("second-step-ended"));
    show_again(app, renderer, ended, email_and_flow, headers, context).await
}

/// Submit the one-time code
///
/// Completes the sign-in, as the sign-in form does for an account without two-step sign-in.
#[utoipa::path(
    post, path = paths::SECOND_STEP, operation_id = "submitSecondStep", tag = "Pages", security(()),
    request_body(content = SecondStepForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Signed in. Redirect to the page on which the flow continues, or to the account outside a flow.",
         headers(("Location"), ("Set-Cookie"))),
        FormErrors, FlowErrors, SecondStepErrors,
    )
)]
pub(crate) async fn submit(
    State(app): State<App>,
    Context(context): Context,
    headers: HeaderMap,
    cookie: FlowCookie,
    renderer: FormRenderer,
    PageForm(fields): PageForm<SecondStepForm>,
) -> Result<Response, FlowError> {
    let identity = &app.identity;
    let flow = flow::find(&app, fields.flow.as_deref(), cookie, context.now).await?;
    let is_recovery_code = fields.is_recovery_code.is_some();
    let Some(first) = first_step(identity, &headers, context.now) else {
        return restart(&app, renderer, ("", &flow), &headers, &context).await;
    };
    if fields.user != first.user_id.to_string() {
        // Somebody entered the password of another account in another tab.
        let changed = FormError::new(StatusCode::CONFLICT, &text::of("second-step-user-changed"));
        return Ok(renderer.show_again(changed, |form| page(form, &first, &flow, is_recovery_code)));
    }
    let completed = complete(identity, &first, &fields, &headers, &context).await;
    Ok(match completed {
        Ok(session) => {
            let mut response = signed_in(identity, &session.sid, flow.parameter);
            let removal = self::cookie("", Duration::ZERO);
            response.headers_mut().append(header::SET_COOKIE, removal);
            response
        }
        // The password was changed since, for example.
        Err(Failure::Credentials(login::Error::WrongCredentials)) => {
            restart(&app, renderer, (&first.email, &flow), &headers, &context).await?
        }
        Err(Failure::Credentials(error)) => {
            let error = form_error(error, is_recovery_code);
            renderer.show_again(error, |form| page(form, &first, &flow, is_recovery_code))
        }
        Err(Failure::Response(response)) => response,
    })
}

/// Returns the error of the form for one-time codes, or of that for recovery codes.
fn form_error(error: login::Error, is_recovery_code: bool) -> FormError {
    match error {
        login::Error::WrongCode if is_recovery_code => {
            let wrong = text::of("wrong-recovery-code");
            FormError::new(StatusCode::UNAUTHORIZED, &wrong).about(Field::RecoveryCode)
        }
        error => error.into(),
    }
}

async fn complete(
    identity: &Identity,
    first: &FirstStep,
    fields: &SecondStepForm,
    headers: &HeaderMap,
    context: &RequestContext,
) -> Result<NewSession, Failure> {
    let otp = Otp::parse(fields.otp.trim()).map_err(|_| login::Error::WrongCode)?;
    let former = former_session(headers)?;
    Ok(complete_login(identity, first, &otp, former.as_ref(), context).await?)
}
