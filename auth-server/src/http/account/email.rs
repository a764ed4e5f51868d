//! `GET` and `POST /account/email`: change the address of the account.

use crate::http::browser::BrowserSession;
use crate::http::consent::require_session;
use crate::http::documentation::{FormErrors, ReauthenticationErrors, SessionErrors};
use crate::http::extract::SessionForm;
use crate::http::flow::FlowError;
use crate::http::form_page::{FormError, FormRenderer};
use crate::http::forms::EmailForm;
use crate::http::{paths, reauthentication};
use crate::pages::{self, EmailPage, FormState, text};
use axum::extract::State;
use axum::response::Response;
use foundation::context::RequestContext;
use foundation::email::Email;
use identity::email_verifications::{self, ChangeError};
use identity::sessions::Session;
use identity::{Identity, second_factor};
use web::Context;

/// Show the page to change the e-mail address
///
/// If the last sign-in was over ten minutes ago, the form asks for the password and, if two-step sign-in is on, a code.
#[utoipa::path(
    get, path = paths::ACCOUNT_EMAIL, operation_id = "showEmail", tag = "Pages", security((), ("session" = [])),
    responses(
        (status = 200, description = "The form.", body = String, content_type = "text/html"),
        (status = 303, description = "Not signed in. Redirect to the sign-in page.", headers(("Location"))),
        SessionErrors,
    )
)]
pub(crate) async fn show(
    State(identity): State<Identity>,
    Context(context): Context,
    BrowserSession(session): BrowserSession,
    renderer: FormRenderer,
) -> Result<Response, FlowError> {
    let session = require_session(session, None, false)?;
    let has_code = second_factor::is_enabled(&identity.db, session.user.id).await?;
    Ok(renderer.show(|form| page(form, &session, "", has_code, &context)))
}

fn page(
    form: FormState<'_>,
    session: &Session,
    new_email: &str,
    has_code: bool,
    context: &RequestContext,
) -> Response {
    let asks_password = !session.has_recent_sign_in(context.now);
    pages::email(&EmailPage {
        form,
        email: &session.user.email,
        new_email,
        asks_password,
        asks_code: asks_password && has_code,
    })
}

/// Request a change of the e-mail address
///
/// Requires the password and, if two-step sign-in is on, a code, if the last sign-in was over ten minutes ago. Mails a link to the new
/// address, which confirms it, and a notice to the present one.
#[utoipa::path(
    post, path = paths::ACCOUNT_EMAIL, operation_id = "changeEmailByForm", tag = "Pages",
    security((), ("session" = [])),
    request_body(content = EmailForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The mail is on its way.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the sign-in page.", headers(("Location"))),
        FormErrors, ReauthenticationErrors,
    )
)]
pub(crate) async fn submit(
    State(identity): State<Identity>,
    Context(context): Context,
    renderer: FormRenderer,
    SessionForm(session, fields): SessionForm<EmailForm>,
) -> Result<Response, FlowError> {
    let session = require_session(session, None, false)?;
    let error = match change(&identity, &session, &fields, &context).await {
        Ok(()) => {
            let text = text::of("email-link-sent");
            return Ok(pages::notify_with_link(&text, paths::ACCOUNT));
        }
        Err(error) => error,
    };
    let has_code = second_factor::is_enabled(&identity.db, session.user.id).await?;
    Ok(renderer.show_again(error, |form| {
        page(form, &session, &fields.email, has_code, &context)
    }))
}

async fn change(
    identity: &Identity,
    session: &Session,
    fields: &EmailForm,
    context: &RequestContext,
) -> Result<(), FormError> {
    let to = Email::parse(&fields.email).map_err(|_| FormError::invalid(&text::of("email-invalid")))?;
    let (password, otp) = (fields.password.as_deref(), fields.otp.as_deref());
    let presented = reauthentication::presented_if_asked(password, otp)?;
    let presented = presented.as_ref();
    let requested = email_verifications::request_change(identity, session, &to, presented, context).await;
    requested.map_err(|error| match error {
        ChangeError::Credentials(error) => reauthentication::error(error),
        ChangeError::Throttled(error) => error.into(),
    })
}
