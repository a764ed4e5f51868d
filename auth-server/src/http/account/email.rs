//! `GET` and `POST /account/email`: change the address of the account.

use crate::http::browser::BrowserSession;
use crate::http::documentation::{FormErrors, LinkRequestErrors, OtherUserErrors, SessionErrors};
use crate::http::extract::{PageQuery, SessionForm};
use crate::http::flow::FlowError;
use crate::http::form_page::{self, FormError, FormRenderer};
use crate::http::forms::{AccountQuery, EmailForm};
use crate::http::reauthentication;
use crate::http::reauthentication::require_recent_sign_in;
use crate::pages::{self, EmailPage, FormState, text};
use crate::paths;
use axum::extract::State;
use axum::response::Response;
use foundation::context::RequestContext;
use foundation::email::Email;
use identity::Identity;
use identity::email_verifications::{self, ChangeError};
use identity::sessions::Session;
use web::Context;

/// Show the page to change the e-mail address
///
/// Requires a sign-in within the last ten minutes.
#[utoipa::path(
    get, path = paths::ACCOUNT_EMAIL, operation_id = "showEmail", tag = "Pages", params(AccountQuery),
    security((), ("session" = [])),
    responses(
        (status = 200, description = "The form.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the sign-in page, which leads back.", headers(("Location"))),
        SessionErrors,
    )
)]
pub(crate) async fn show(
    Context(context): Context,
    PageQuery(query): PageQuery<AccountQuery>,
    BrowserSession(session): BrowserSession,
    renderer: FormRenderer,
) -> Result<Response, FlowError> {
    let just_signed_in = query.signed_in.is_some();
    let session = require_recent_sign_in(session, paths::ACCOUNT_EMAIL, just_signed_in, &context)?;
    let renderer = renderer.for_user(&session);
    Ok(renderer.show(|form| page(form, &session, "")))
}

fn page(form: FormState<'_>, session: &Session, new_email: &str) -> Response {
    pages::email(&EmailPage {
        form,
        email: &session.user.email,
        new_email,
    })
}

/// Request a change of the e-mail address
///
/// Requires a sign-in within the last ten minutes. Mails a link to the new address, which confirms it, and a
/// notice to the present one.
#[utoipa::path(
    post, path = paths::ACCOUNT_EMAIL, operation_id = "changeEmailByForm", tag = "Pages",
    security((), ("session" = [])),
    request_body(content = EmailForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The mail is on its way.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the sign-in page.", headers(("Location"))),
        FormErrors, LinkRequestErrors, OtherUserErrors,
    )
)]
pub(crate) async fn submit(
    State(identity): State<Identity>,
    Context(context): Context,
    renderer: FormRenderer,
    SessionForm(session, fields): SessionForm<EmailForm>,
) -> Result<Response, FlowError> {
    let session = require_recent_sign_in(session, paths::ACCOUNT_EMAIL, false, &context)?;
    let error = match change(&identity, &session, &fields, &context).await {
        Ok(()) => {
            let text = text::of("email-link-sent").with("email", fields.email.trim());
            return Ok(pages::notify(&text, paths::ACCOUNT));
        }
        Err(error) => error,
    };
    let renderer = renderer.for_user(&session);
    Ok(renderer.show_again(error, |form| page(form, &session, &fields.email)))
}

async fn change(
    identity: &Identity,
    session: &Session,
    fields: &EmailForm,
    context: &RequestContext,
) -> Result<(), FormError> {
    let to = Email::parse(&fields.email).map_err(|_| form_page::email_invalid())?;
    let requested = email_verifications::request_change(identity, session, &to, None, context).await;
    requested.map_err(|error| match error {
        ChangeError::Credentials(error) => reauthentication::error(error, paths::ACCOUNT_EMAIL),
        ChangeError::Throttled(error) => error.into(),
    })
}
