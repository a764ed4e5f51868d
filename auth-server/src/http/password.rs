//! `GET` and `POST /password`: change the password, required after sign-in with an initial password.

use super::browser::BrowserSession;
use super::documentation::{FormErrors, PasswordErrors, SessionErrors};
use super::extract::{PageQuery, SessionForm};
use super::form_page::{FormError, FormRenderer};
use super::forms::{FlowQuery, PasswordForm};
use super::paths;
use super::reauthentication;
use super::redirects::see_other;
use crate::pages::{self, FormState};
use axum::extract::State;
use axum::http::header;
use axum::response::{AppendHeaders, IntoResponse, Response};
use foundation::context::RequestContext;
use identity::Identity;
use identity::login;
use identity::login::change_password;
use identity::passwords::Password;
use identity::sessions::Session;
use web::Context;
use web::cookies;

/// Show the page to change the password
///
/// For signed-in users, including those who must replace their initial password.
#[utoipa::path(
    get, path = paths::PASSWORD, operation_id = "showPassword", tag = "Pages", params(FlowQuery),
    security((), ("session" = [])),
    responses(
        (status = 200, description = "The form.", body = String, content_type = "text/html"),
        (status = 303, description = "Not signed in. Redirect to the sign-in page.", headers(("Location"))),
        SessionErrors,
    )
)]
pub(crate) async fn show(
    State(identity): State<Identity>,
    PageQuery(query): PageQuery<FlowQuery>,
    BrowserSession(session): BrowserSession,
    renderer: FormRenderer,
) -> Response {
    let flow = query.flow.as_deref();
    match session {
        Some(session) => renderer.show(|form| page(&identity, form, &session, flow)),
        None => see_other(&paths::sign_in(flow)),
    }
}

fn page(identity: &Identity, form: FormState<'_>, session: &Session, flow: Option<&str>) -> Response {
    pages::password(&pages::PasswordPage {
        form,
        email: &session.user.email,
        flow,
        is_required: session.password_change_required,
        min_length: identity.passwords.min_length() as u64,
    })
}

/// Lead to the page to change the password
///
/// The address at which password managers look for that page (W3C, A Well-Known URL for Changing Passwords).
#[utoipa::path(
    get, path = paths::CHANGE_PASSWORD, operation_id = "findPasswordPage", tag = "Pages", security(()),
    responses((status = 303, description = "Redirect to the page.", headers(("Location"))))
)]
pub(crate) async fn find_page() -> Response {
    see_other(paths::PASSWORD)
}

/// Submit the form to change the password
///
/// Ends all of the user's sessions, including this one, and revokes their tokens. The user must sign in again.
#[utoipa::path(
    post, path = paths::PASSWORD, operation_id = "submitPassword", tag = "Pages", security((), ("session" = [])),
    request_body(content = PasswordForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Redirect to the sign-in page.", headers(("Location"))),
        FormErrors, PasswordErrors,
    )
)]
pub(crate) async fn submit(
    State(identity): State<Identity>,
    Context(context): Context,
    renderer: FormRenderer,
    SessionForm(session, fields): SessionForm<PasswordForm>,
) -> Response {
    let flow = fields.flow.as_deref();
    let sign_in = see_other(&paths::sign_in(flow));
    let Some(session) = session else {
        return sign_in;
    };
    match change(&identity, &session, &fields, &context).await {
        Ok(()) => {
            let cookie = (header::SET_COOKIE, cookies::clear_sid());
            (AppendHeaders([cookie]), sign_in).into_response()
        }
        Err(error) => renderer.show_again(error, |form| page(&identity, form, &session, flow)),
    }
}

async fn change(
    identity: &Identity,
    session: &Session,
    fields: &PasswordForm,
    context: &RequestContext,
) -> Result<(), FormError> {
    let new = identity
        .passwords
        .parse_new_for(&fields.new_password, &session.user.email)?;
    // Text that cannot be any password is not the current one.
    let current =
        Password::parse(&fields.current_password).map_err(|_| reauthentication::wrong_password())?;
    match change_password(identity, session, current, new, context).await {
        Err(login::Error::WrongCredentials) => Err(reauthentication::wrong_password()),
        Ok(()) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
