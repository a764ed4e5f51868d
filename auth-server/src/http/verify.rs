//! `GET` and `POST /verify`: the page behind the link that confirms an e-mail address.

use super::browser::BrowserSession;
use super::documentation::{FormErrors, VerifyErrors, VerifyLinkErrors};
use super::extract::{PageQuery, SessionForm};
use super::form_page::{FormError, FormRenderer};
use super::forms::{LinkQuery, VerifyForm};
use super::{flow, mailed_link, reauthentication};
use crate::app::App;
use crate::pages::{self, Field, FormState, text};
use crate::paths;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::secret::Secret;
use identity::email_verifications::{self, own_session};
use identity::mailed_tokens::MailedToken;
use identity::passwords::Password;
use identity::sessions::Session;
use identity::{Identity, login};
use web::{Context, Error, cookies};

/// Show the page to confirm an e-mail address
///
/// Opening the link confirms nothing, because mail programs open links too. The form asks for the password,
/// unless the browser has a session of the account. A user who does not know the password is led to a reset.
#[utoipa::path(
    get, path = paths::VERIFY, operation_id = "showVerify", tag = "Pages", params(LinkQuery),
    security((), ("session" = [])),
    responses(
        (status = 200, description = "The form.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the same page on the host of the base URL.", headers(("Location"))),
        VerifyLinkErrors,
    )
)]
pub(crate) async fn show(
    State(identity): State<Identity>,
    Context(context): Context,
    PageQuery(query): PageQuery<LinkQuery>,
    BrowserSession(session): BrowserSession,
    headers: HeaderMap,
    renderer: FormRenderer,
) -> Result<Response, Error> {
    let token = mailed_link::token(query, &headers);
    let link = email_verifications::find(&identity, &token, context.now).await?;
    Ok(match link {
        Some(link) => {
            let cookie = cookies::header_of(mailed_link::cookie(&token, paths::VERIFY));
            let page = renderer.show(|form| page(form, &token, &link, session.as_ref(), &context));
            (cookie, page).into_response()
        }
        None => invalid_link(StatusCode::BAD_REQUEST),
    })
}

fn page(
    form: FormState<'_>,
    token: &Secret,
    link: &MailedToken,
    session: Option<&Session>,
    context: &RequestContext,
) -> Response {
    let asks_password = own_session(link, session).is_none();
    pages::verify(&pages::VerifyPage {
        form,
        token: token.expose(),
        email: &link.mailed_to,
        is_change: link.is_change(),
        account: &link.user.email,
        created: link.user.created_at,
        now: context.now,
        asks_password,
        offers_reset: asks_password && !link.is_change() && !link.user.email_verified,
    })
}

/// Submit the form to confirm an e-mail address
///
/// Takes the password of the account, unless the browser has a session of it. If the address replaces another
/// one, all sessions of the user end. The page leads to the account, or to the authorization flow in which
/// the user signed up in this browser.
#[utoipa::path(
    post, path = paths::VERIFY, operation_id = "submitVerify", tag = "Pages", security((), ("session" = [])),
    request_body(content = VerifyForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The address is confirmed.", body = String, content_type = "text/html"),
        FormErrors, VerifyErrors,
    )
)]
pub(crate) async fn submit(
    State(app): State<App>,
    Context(context): Context,
    headers: HeaderMap,
    renderer: FormRenderer,
    SessionForm(session, fields): SessionForm<VerifyForm>,
) -> Result<Response, Error> {
    let (token, session) = (Secret::new(fields.token.as_str()), session.as_ref());
    let Err(error) = confirm(&app.identity, &token, session, &fields, &context).await else {
        return Ok(confirmed(&app, &headers, &fields, context.now).await);
    };
    let link = email_verifications::find(&app.identity, &token, context.now).await?;
    Ok(match link {
        Some(link) => renderer.show_again(error, |form| page(form, &token, &link, session, &context)),
        None => invalid_link(StatusCode::UNPROCESSABLE_ENTITY),
    })
}

/// Returns the page after the confirmation. It leads to the flow in which the user signed up in this browser,
/// or to the account. Without the session of the account the flow continues with a sign-in, because the
/// browser may have the session of another user.
async fn confirmed(app: &App, headers: &HeaderMap, fields: &VerifyForm, now: Timestamp) -> Response {
    let flow = flow::interrupted(app, headers, now).await;
    let done = match flow.as_deref() {
        Some(flow) => {
            let next = match fields.password {
                Some(_) => paths::sign_in(Some(flow)),
                None => paths::continuation(flow, &[]),
            };
            pages::notify(&text::of("verify-done-in-flow"), &next)
        }
        None => pages::notify(&text::of("verify-done"), paths::ACCOUNT),
    };
    mailed_link::finish(app, paths::VERIFY, headers, done, now).await
}

async fn confirm(
    identity: &Identity,
    token: &Secret,
    session: Option<&Session>,
    fields: &VerifyForm,
    context: &RequestContext,
) -> Result<(), FormError> {
    let password = fields.password.as_deref().filter(|password| !password.is_empty());
    let password = password.map(Password::parse).transpose();
    let password = password.map_err(|_| wrong_password())?;
    Ok(email_verifications::confirm(identity, token, session, password, context).await?)
}

/// Returns the page for a link whose token is missing or invalid.
fn invalid_link(status: StatusCode) -> Response {
    pages::error(status, &text::of("invalid-link"), paths::ACCOUNT)
}

/// Returns the error of a form whose password is wrong.
fn wrong_password() -> FormError {
    FormError::invalid(&text::of("verify-password-wrong")).about(Field::Password)
}

impl From<email_verifications::Error> for FormError {
    fn from(error: email_verifications::Error) -> Self {
        match error {
            email_verifications::Error::TokenInvalid => {
                Self::Final(invalid_link(StatusCode::UNPROCESSABLE_ENTITY))
            }
            email_verifications::Error::PasswordMissing(_) => {
                Self::invalid(&text::of("verify-password-missing")).about(Field::Password)
            }
            email_verifications::Error::Credentials(login::Error::WrongCredentials) => wrong_password(),
            email_verifications::Error::Credentials(error) => reauthentication::error(error, paths::ACCOUNT),
            email_verifications::Error::EmailTaken => Self::Final(pages::error(
                StatusCode::CONFLICT,
                &text::of("verify-taken"),
                paths::ACCOUNT,
            )),
            email_verifications::Error::Database(error) => Error::from(error).into(),
        }
    }
}
