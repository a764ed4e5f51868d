//! `GET` and `POST /signup`.

use super::browser::{self, present_user};
use super::documentation::{FlowErrors, FormErrors, SignUpErrors};
use super::extract::{PageForm, PageQuery};
use super::flow::{self, FlowCookie, FlowError, PageFlow};
use super::form_page::{self, FormError, FormRenderer};
use super::forms::{FlowQuery, SignUpForm};
use super::signin::signed_in;
use crate::app::App;
use crate::pages::{self, FormState};
use crate::paths;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::Response;
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::email::Email;
use foundation::secret::Secret;
use identity::Identity;
use identity::sessions::Session;
use identity::sign_up::sign_up_and_in;
use web::{Context, cookies};

/// Show the sign-up page
///
/// The page exists if users can create accounts.
#[utoipa::path(
    get, path = paths::SIGN_UP, operation_id = "showSignUp", tag = "Pages", params(FlowQuery), security(()),
    responses(
        (status = 200, description = "The form.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the same page on the host of the base URL.", headers(("Location"))),
        FlowErrors,
    )
)]
pub(crate) async fn show(
    State(app): State<App>,
    Context(context): Context,
    PageQuery(query): PageQuery<FlowQuery>,
    cookie: FlowCookie,
    headers: HeaderMap,
    renderer: FormRenderer,
) -> Result<Response, FlowError> {
    let identity = &app.identity;
    let flow = flow::find(&app, query.flow.as_deref(), cookie, context.now).await?;
    let session = browser::session_of(identity, &headers, context.now).await?;
    Ok(renderer.show(|form| page(identity, form, ("", &flow), session.as_ref(), context.now)))
}

fn page<'a>(
    identity: &Identity,
    form: FormState<'a>,
    (email, flow): (&'a str, &'a PageFlow<'a>),
    session: Option<&Session>,
    now: Timestamp,
) -> Response {
    let present = session.map(|session| present_user(session, flow, now));
    let (app, flow) = (flow.app(), flow.parameter);
    pages::sign_up(&pages::SignUpPage {
        form,
        app,
        flow,
        present: present.as_ref(),
        email,
        min_length: identity.passwords.min_length() as u64,
        terms: pages::terms(),
        sign_in: paths::sign_in(flow),
        forgot: paths::of_flow(paths::FORGOT, flow),
    })
}

/// Submit the sign-up form
///
/// Creates an account, mails a link that confirms its address, and starts a session. Within an authorization
/// flow, the consent page is next.
#[utoipa::path(
    post, path = paths::SIGN_UP, operation_id = "submitSignUp", tag = "Pages", security(()),
    request_body(content = SignUpForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Signed in. Redirect to the page on which the flow continues, or to the account outside a flow.",
         headers(("Location"), ("Set-Cookie"))),
        FormErrors, FlowErrors, SignUpErrors,
    )
)]
pub(crate) async fn submit(
    State(app): State<App>,
    Context(context): Context,
    headers: HeaderMap,
    cookie: FlowCookie,
    renderer: FormRenderer,
    PageForm(fields): PageForm<SignUpForm>,
) -> Result<Response, FlowError> {
    let identity = &app.identity;
    let flow = flow::find(&app, fields.flow.as_deref(), cookie, context.now).await?;
    let sid = match create(identity, &fields, &headers, &context).await {
        Ok(sid) => sid,
        Err(error) => {
            let session = browser::session_of(identity, &headers, context.now).await?;
            let input = (fields.email.as_str(), &flow);
            return Ok(renderer.show_again(error, |form| {
                page(identity, form, input, session.as_ref(), context.now)
            }));
        }
    };
    let mut response = signed_in(identity, &sid, flow.parameter);
    let cookie = flow::interrupted_cookie(flow.parameter, paths::VERIFY);
    response.headers_mut().append(header::SET_COOKIE, cookie);
    Ok(response)
}

/// Creates the account and signs in. Returns the identifier of the new session.
async fn create(
    identity: &Identity,
    fields: &SignUpForm,
    headers: &HeaderMap,
    context: &RequestContext,
) -> Result<Secret, FormError> {
    let email = Email::parse(&fields.email).map_err(|_| form_page::email_invalid())?;
    let passwords = &identity.passwords;
    let password = passwords.parse_new_for(&fields.password, email.as_str())?;
    let replaced = cookies::sid(headers).map_err(|error| FormError::Final(browser::rejection(error)))?;
    let session = sign_up_and_in(identity, email, password, replaced.as_ref(), context).await?;
    Ok(session.sid)
}
