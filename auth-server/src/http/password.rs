//! `GET` and `POST /password`: change or set the password, required after sign-in with an initial password.

pub(crate) mod verdict;

use super::browser::BrowserSession;
use super::documentation::{FormErrors, OtherUserErrors, PasswordErrors, SessionErrors};
use super::extract::{PageQuery, SessionForm};
use super::flow::FlowError;
use super::form_page::{FormError, FormRenderer};
use super::forms::{AfterSignInQuery, PasswordForm};
use super::reauthentication::{self, require_recent};
use super::redirects::{see_other, see_other_after};
use crate::pages::{self, Done, FormState};
use crate::paths;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use foundation::context::RequestContext;
use identity::Identity;
use identity::password_changes::change_password;
use identity::sessions::Session;
use web::{Context, cookies};

/// Show the page to change the password
///
/// For users who signed in within the last ten minutes, including those who must replace their initial
/// password. Within an authorization flow, a user who signs in again comes back if the password is an initial
/// one, and otherwise goes on without a change.
#[utoipa::path(
    get, path = paths::PASSWORD, operation_id = "showPassword", tag = "Pages", params(AfterSignInQuery),
    security((), ("session" = [])),
    responses(
        (status = 200, description = "The form.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the sign-in page, which leads back.", headers(("Location"))),
        SessionErrors,
    )
)]
pub(crate) async fn show(
    State(identity): State<Identity>,
    Context(context): Context,
    PageQuery(query): PageQuery<AfterSignInQuery>,
    BrowserSession(session): BrowserSession,
    renderer: FormRenderer,
) -> Result<Response, FlowError> {
    let (flow, just_signed_in) = (query.flow.as_deref(), query.signed_in.is_some());
    let session = require_recent(session, paths::PASSWORD, flow, just_signed_in, &context)?;
    Ok(renderer
        .for_user(&session)
        .show(|form| page(&identity, form, &session, flow)))
}

fn page(identity: &Identity, form: FormState<'_>, session: &Session, flow: Option<&str>) -> Response {
    // Outside an authorization flow, the sign-in page has nothing to ask a user who just signed in.
    let sign_in = match flow {
        Some(flow) if !paths::is_page(flow) => paths::sign_in(Some(flow)),
        _ => paths::SIGN_OUT.to_owned(),
    };
    pages::password(&pages::PasswordPage {
        form,
        email: &session.user.email,
        flow,
        other_user: session.password_change_required.then_some(sign_in),
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
/// Requires a sign-in within the last ten minutes. Ends all of the user's sessions, including this one, and
/// revokes their tokens. The user must sign in again.
#[utoipa::path(
    post, path = paths::PASSWORD, operation_id = "submitPassword", tag = "Pages", security((), ("session" = [])),
    request_body(content = PasswordForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Redirect to the sign-in page.", headers(("Location"))),
        FormErrors, PasswordErrors, OtherUserErrors,
    )
)]
pub(crate) async fn submit(
    State(identity): State<Identity>,
    Context(context): Context,
    renderer: FormRenderer,
    SessionForm(session, fields): SessionForm<PasswordForm>,
) -> Result<Response, FlowError> {
    let flow = fields.flow.as_deref();
    let session = require_recent(session, paths::PASSWORD, flow, false, &context)?;
    Ok(match change(&identity, &session, &fields, &context).await {
        Ok(()) => {
            let cookie = cookies::header_of(cookies::clear_sid());
            let next = see_other_after(Done::PasswordChanged, &paths::sign_in(flow));
            (cookie, next).into_response()
        }
        Err(error) => renderer
            .for_user(&session)
            .show_again(error, |form| page(&identity, form, &session, flow)),
    })
}

async fn change(
    identity: &Identity,
    session: &Session,
    fields: &PasswordForm,
    context: &RequestContext,
) -> Result<(), FormError> {
    let (passwords, email) = (&identity.passwords, &session.user.email);
    let new = passwords.parse_new_for(&fields.new_password, email)?;
    let changed = change_password(identity, session, None, new, context).await;
    changed.map_err(|error| reauthentication::error(error, paths::PASSWORD))
}
