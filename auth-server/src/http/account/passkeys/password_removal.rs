//! `POST /account/password/removal`: go without a password.

use super::show_again;
use crate::app::App;
use crate::http::documentation::{FormErrors, PasswordRemovalErrors};
use crate::http::extract::SessionForm;
use crate::http::flow::FlowError;
use crate::http::form_page::{FormError, FormRenderer};
use crate::http::forms::AccountForm;
use crate::http::reauthentication;
use crate::http::reauthentication::require_recent_sign_in;
use crate::http::redirects::{see_other, see_other_after};
use crate::pages::{Done, text};
use crate::paths;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use identity::password_changes::{RemovalError, remove_password};
use web::Context;
use web::cookies::replacement_cookie;

/// Remove the password
///
/// Passkeys alone sign in afterwards. Requires a sign-in with a passkey within the last ten minutes, and a
/// confirmed address, to which a reset can be mailed. Ends all other sessions of the user, and the tokens of
/// all apps.
#[utoipa::path(
    post, path = paths::ACCOUNT_PASSWORD_REMOVAL, operation_id = "removePasswordByForm", tag = "Pages",
    security((), ("session" = [])),
    request_body(content = AccountForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Redirect to the page of the passkeys, or to the sign-in page.",
         headers(("Location"), ("Set-Cookie"))),
        FormErrors, PasswordRemovalErrors,
    )
)]
pub(crate) async fn submit(
    State(app): State<App>,
    Context(context): Context,
    renderer: FormRenderer,
    SessionForm(session, _): SessionForm<AccountForm>,
) -> Result<Response, FlowError> {
    let session = require_recent_sign_in(session, paths::PASSKEYS, false, &context)?;
    let error = match remove_password(&app.identity, &session, &context).await {
        Ok(sid) => {
            let cookie = replacement_cookie(&session, &sid, &context);
            let next = see_other_after(Done::PasswordRemoved, paths::PASSKEYS);
            return Ok((cookie, next).into_response());
        }
        Err(RemovalError::NoPassword) => return Ok(see_other(paths::PASSKEYS)),
        Err(RemovalError::NotReady) => {
            FormError::new(StatusCode::CONFLICT, &text::of("password-removal-not-ready"))
        }
        Err(RemovalError::Credentials(error)) => reauthentication::error(error, paths::PASSKEYS),
    };
    show_again(&app, &session, renderer, error, (None, None), &context).await
}
