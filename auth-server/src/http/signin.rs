//! `GET` and `POST /signin`.

use super::browser::{self, BrowserSession};
use super::documentation::{FlowErrors, FormErrors, SignInErrors};
use super::extract::{PageForm, PageQuery};
use super::flow::{self, FlowCookie, FlowError};
use super::form_page::{FormError, FormRenderer};
use super::forms::{FlowQuery, SignInForm};
use super::paths;
use super::redirects::see_other;
use crate::app::App;
use crate::pages;
use crate::pages::text;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use foundation::context::RequestContext;
use foundation::secret::Secret;
use identity::Identity;
use identity::credential_check::PresentedCredentials;
use identity::login;
use identity::login::{SignInRequest, login};
use identity::passwords::Password;
use identity::second_factor::Otp;
use web::Context;
use web::cookies;

/// Show the sign-in page
///
/// Outside an authorization flow, a signed-in user comes to the account. Within a flow, the form suggests the `login_hint` of the request.
#[utoipa::path(
    get, path = paths::SIGN_IN, operation_id = "showSignIn", tag = "Pages", params(FlowQuery),
    security((), ("session" = [])),
    responses(
        (status = 200, description = "The form.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the account, or to the same page on the host of the base URL.",
         headers(("Location"))),
        FlowErrors,
    )
)]
pub(crate) async fn show(
    State(app): State<App>,
    Context(context): Context,
    PageQuery(query): PageQuery<FlowQuery>,
    cookie: FlowCookie,
    BrowserSession(session): BrowserSession,
    renderer: FormRenderer,
) -> Result<Response, FlowError> {
    let flow = query.flow.as_deref();
    if session.is_some() && flow.is_none() {
        return Ok(see_other(paths::ACCOUNT));
    }
    let sign_up = sign_up_path(&app.identity, flow);
    let begun = flow::find(&app, flow, cookie, context.now).await?;
    let hint = begun.as_ref().and_then(|begun| begun.params.get("login_hint"));
    Ok(renderer.show(|form| {
        pages::sign_in(&pages::SignInPage {
            form,
            flow,
            email: hint.unwrap_or_default(),
            asks_code: false,
            captcha: None,
            sign_up,
        })
    }))
}

/// Submit the sign-in form
///
/// Starts a session, or renews that of the same user: its cookie gets another value, and what it gave to apps stays. Within an
/// authorization flow, the consent page is next. A user who came to enter the code of a device goes on there.
#[utoipa::path(
    post, path = paths::SIGN_IN, operation_id = "submitSignIn", tag = "Pages", security(()),
    request_body(content = SignInForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Signed in. Redirect to the page on which the flow continues, or to the account outside a flow.",
         headers(("Location"), ("Set-Cookie"))),
        FormErrors, FlowErrors, SignInErrors,
    )
)]
pub(crate) async fn submit(
    State(app): State<App>,
    Context(context): Context,
    headers: HeaderMap,
    cookie: FlowCookie,
    renderer: FormRenderer,
    PageForm(fields): PageForm<SignInForm>,
) -> Result<Response, FlowError> {
    let (identity, flow) = (&app.identity, fields.flow.as_deref());
    flow::find(&app, flow, cookie, context.now).await?;
    Ok(match sign_in(identity, &fields, &headers, &context).await {
        Ok(sid) => signed_in(identity, &sid, flow),
        Err(failure) => renderer.show_again(failure.error, |form| {
            pages::sign_in(&pages::SignInPage {
                form,
                flow,
                email: &fields.email,
                asks_code: failure.asks_code,
                // The first attempt hardly ever needs a captcha, so its script is loaded only after a failure.
                captcha: identity.captcha.as_ref().and_then(pages::CaptchaWidget::new),
                sign_up: sign_up_path(identity, flow),
            })
        }),
    })
}

/// Returns the response to a user who has a new session: a redirect to the next page, with the session cookie.
pub(super) fn signed_in(identity: &Identity, sid: &Secret, flow: Option<&str>) -> Response {
    let cookie = cookies::set_sid(sid, identity.session_lifetimes.absolute);
    let next = see_other(&paths::after_sign_in(flow));
    (AppendHeaders([(header::SET_COOKIE, cookie)]), next).into_response()
}

/// Returns the path of the sign-up page, if users can create accounts.
fn sign_up_path(identity: &Identity, flow: Option<&str>) -> Option<String> {
    identity
        .allows_sign_ups
        .then(|| paths::of_flow(paths::SIGN_UP, flow))
}

/// Verifies the credentials and returns the identifier of the new session.
async fn sign_in(
    identity: &Identity,
    fields: &SignInForm,
    headers: &HeaderMap,
    context: &RequestContext,
) -> Result<Secret, SignInFailure> {
    let password = Password::parse(&fields.password).map_err(|_| login::Error::WrongCredentials)?;
    let otp = fields.otp.as_deref().map(Otp::parse).transpose();
    let otp = otp.map_err(|_| SignInFailure {
        error: FormError::new(StatusCode::UNAUTHORIZED, &text::of("code-too-long")),
        asks_code: true,
    })?;
    let request = SignInRequest {
        email: &fields.email,
        captcha: fields.captcha(),
    };
    let credentials = PresentedCredentials { password, otp };
    let replaced = cookies::sid(headers).map_err(|error| FormError::Final(browser::rejection(error)))?;
    let session = login(identity, request, credentials, replaced.as_ref(), context).await?;
    Ok(session.sid)
}

struct SignInFailure {
    error: FormError,
    /// Whether the next attempt needs a one-time code.
    asks_code: bool,
}

impl From<FormError> for SignInFailure {
    fn from(error: FormError) -> Self {
        Self {
            error,
            asks_code: false,
        }
    }
}

impl From<login::Error> for SignInFailure {
    fn from(error: login::Error) -> Self {
        Self {
            asks_code: matches!(error, login::Error::CodeMissing | login::Error::WrongCode),
            error: error.into(),
        }
    }
}
