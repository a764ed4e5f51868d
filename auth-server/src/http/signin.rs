//! `GET` and `POST /signin`: the address and the password, and after them the code on a page of its own.

pub(crate) mod passkey;
pub(crate) mod second_step;

use super::browser::{self, BrowserSession, present_user};
use super::documentation::{FlowErrors, FormErrors, SignInErrors};
use super::extract::{PageForm, PageQuery};
use super::flow::{self, FlowCookie, FlowError, PageFlow};
use super::form_page::{FormError, FormRenderer};
use super::forms::{FlowQuery, SignInForm};
use super::redirects::see_other;
use crate::app::App;
use crate::pages::{self, FormState};
use crate::paths;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::secret::Secret;
use identity::Identity;
use identity::credential_check::PresentedCredentials;
use identity::login::{self, NewSession, login};
use identity::passwords::Password;
use identity::sessions::{self, Session};
use identity::users::account;
use storage::db;
use web::{Context, cookies};

/// Show the sign-in page
///
/// Outside an authorization flow, a signed-in user comes to the account. Within a flow, the form suggests the
/// `login_hint` of the request. A signed-in user who must sign in again before a change of the account sees
/// the address of that account, and is asked for no password if the account has none. If the browser has the
/// cookie of a session that ended, the page says why it did.
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
    headers: HeaderMap,
    renderer: FormRenderer,
) -> Result<Response, FlowError> {
    let flow_parameter = query.flow.as_deref();
    if session.is_some() && flow_parameter.is_none() {
        return Ok(see_other(paths::ACCOUNT));
    }
    let end = match cookies::sid(&headers) {
        Ok(Some(sid)) if session.is_none() => sessions::find_end(&app.identity.db, &sid, context.now).await?,
        _ => None,
    };
    let flow = flow::find(&app, flow_parameter, cookie, context.now).await?;
    let request = flow.request.as_ref();
    let hint = request.and_then(|request| request.params.get("login_hint"));
    if let (Some(session), Some(page)) = (&session, flow_parameter.filter(|flow| paths::is_page(flow)))
        && session.has_recent_sign_in(context.now)
    {
        return Ok(see_other(&paths::continuation(page, &[])));
    }
    let signed_in = SignedIn::read(&app.identity, session.as_ref(), &flow, context.now).await?;
    let email = hint.unwrap_or_default();
    Ok(renderer.show(|form| {
        pages::sign_in(&pages::SignInPage {
            end: end.map(|(reason, at)| pages::EndText::new(reason, at, context.now)),
            ..page(&app, form, (email, &flow), &signed_in, &context)
        })
    }))
}

/// The user who is signed in in a browser that shows the page, as far as the page shows one.
enum SignedIn {
    Nobody,
    /// Only a more recent sign-in leads to the page that follows.
    MustSignInAgain(Returning),
    /// The user may continue, or another one may sign in.
    MayContinue(pages::PresentUser),
}

/// A user who must sign in again, because the page that follows requires a more recent sign-in.
struct Returning {
    email: String,
    has_password: bool,
    /// Whether the account can be seen meanwhile, which an initial password prevents.
    can_go_back: bool,
}

impl SignedIn {
    /// Reads the user of this session.
    async fn read(
        identity: &Identity,
        session: Option<&Session>,
        flow: &PageFlow<'_>,
        now: Timestamp,
    ) -> Result<Self, db::Error> {
        Ok(match session {
            None => Self::Nobody,
            Some(session) if !flow.parameter.is_some_and(paths::is_page) => {
                Self::MayContinue(present_user(session, flow, now))
            }
            Some(session) if session.has_recent_sign_in(now) => Self::Nobody,
            Some(session) => match account::find_enabled(&identity.db, session.user.id).await? {
                None => Self::Nobody,
                Some(account) => Self::MustSignInAgain(Returning {
                    email: account.user.email,
                    has_password: account.has_password,
                    can_go_back: !session.password_change_required,
                }),
            },
        })
    }
}

/// Returns the page with this address filled in. If it is empty, the address is that of the returning user. A
/// returning user whose account has no password is asked for a passkey only.
fn page<'a>(
    app: &App,
    form: FormState<'a>,
    (email, flow): (&'a str, &'a PageFlow<'a>),
    signed_in: &'a SignedIn,
    context: &RequestContext,
) -> pages::SignInPage<'a> {
    let (returning, present) = match signed_in {
        SignedIn::Nobody => (None, None),
        SignedIn::MustSignInAgain(user) => (Some(user), None),
        SignedIn::MayContinue(user) => (None, Some(user)),
    };
    let email = match returning {
        Some(returning) if email.is_empty() => returning.email.as_str(),
        _ => email,
    };
    let (client, flow) = (flow.app(), flow.parameter);
    pages::SignInPage {
        form,
        app: client,
        flow,
        end: None,
        present,
        sign_in_is_too_old: returning.is_some(),
        can_go_back: returning.is_some_and(|returning| returning.can_go_back),
        asks_password: returning.is_none_or(|returning| returning.has_password),
        email,
        captcha: None,
        passkey: passkey::challenge(app, form.csrf, flow, context),
        // A user who signs in again needs no other account.
        sign_up: sign_up_path(&app.identity, flow).filter(|_| returning.is_none()),
        forgot: paths::of_flow(paths::FORGOT, flow),
    }
}

/// Submit the sign-in form
///
/// Starts a session, or renews that of the same user: its cookie gets another value, and what it gave to apps
/// stays. Within an authorization flow, the consent page is next. A user who came to enter the code of a
/// device goes on there. If the account uses two-step sign-in, the page for the code comes first.
#[utoipa::path(
    post, path = paths::SIGN_IN, operation_id = "submitSignIn", tag = "Pages", security(()),
    request_body(content = SignInForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Redirect to the page for the code, to that on which the flow continues, or to the account.",
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
    let identity = &app.identity;
    let flow = flow::find(&app, fields.flow.as_deref(), cookie, context.now).await?;
    Ok(match sign_in(identity, &fields, &headers, &context).await {
        Ok(session) => signed_in(identity, &session.sid, flow.parameter),
        Err(Failure::Credentials(login::Error::CodeMissing(first))) => {
            second_step::begin(identity, &first, flow.parameter)
        }
        Err(Failure::Credentials(error)) => {
            let input = (fields.email.as_str(), &flow);
            show_again(&app, renderer, error.into(), input, &headers, &context).await?
        }
        Err(Failure::Response(response)) => response,
    })
}

/// Returns the page again, after an error in the browser that sent these headers.
async fn show_again(
    app: &App,
    renderer: FormRenderer,
    error: FormError,
    (email, flow): (&str, &PageFlow<'_>),
    headers: &HeaderMap,
    context: &RequestContext,
) -> Result<Response, FlowError> {
    let identity = &app.identity;
    let session = browser::session_of(identity, headers, context.now).await?;
    let signed_in = SignedIn::read(identity, session.as_ref(), flow, context.now).await?;
    Ok(renderer.show_again(error, |form| {
        pages::sign_in(&pages::SignInPage {
            // The first attempt hardly ever needs a captcha, so its script is loaded only after a failure.
            captcha: identity.captcha.as_ref().and_then(pages::CaptchaWidget::new),
            ..page(app, form, (email, flow), &signed_in, context)
        })
    }))
}

/// Returns the response to a user who has a new session: a redirect to the next page, with the session
/// cookie.
pub(super) fn signed_in(identity: &Identity, sid: &Secret, flow: Option<&str>) -> Response {
    let cookie = cookies::set_sid(sid, identity.session_lifetimes.absolute);
    let next = see_other(&paths::after_sign_in(flow));
    (cookies::header_of(cookie), next).into_response()
}

/// Returns the path of the sign-up page, if users can create accounts.
fn sign_up_path(identity: &Identity, flow: Option<&str>) -> Option<String> {
    identity
        .allows_sign_ups
        .then(|| paths::of_flow(paths::SIGN_UP, flow))
}

/// Verifies the credentials and returns the new session.
async fn sign_in(
    identity: &Identity,
    fields: &SignInForm,
    headers: &HeaderMap,
    context: &RequestContext,
) -> Result<NewSession, Failure> {
    let password = Password::parse(&fields.password).map_err(|_| login::Error::WrongCredentials)?;
    let (email, captcha) = (&fields.email, fields.captcha());
    let credentials = PresentedCredentials { password, otp: None };
    let former = former_session(headers)?;
    Ok(login(identity, email, captcha, credentials, former.as_ref(), context).await?)
}

/// Returns the `sid` of the browser's present session, which the new one replaces.
fn former_session(headers: &HeaderMap) -> Result<Option<Secret>, Response> {
    cookies::sid(headers).map_err(browser::rejection)
}

/// The reason why a form started no session.
enum Failure {
    /// The credentials were not verified, or not yet all of them.
    Credentials(login::Error),
    /// Another response takes the place of the page.
    Response(Response),
}

impl From<Response> for Failure {
    fn from(response: Response) -> Self {
        Self::Response(response)
    }
}

impl From<login::Error> for Failure {
    fn from(error: login::Error) -> Self {
        Self::Credentials(error)
    }
}
