//! `/password-resets`: a new password for a user who forgot the old one.

use super::mailed_token::MailedToken;
use crate::error::ApiError;
use crate::extract::PublicWrite;
use axum::extract::State;
use axum::http::StatusCode;
use foundation::email::Email;
use identity::passwords::{Password, new_password_schema};
use identity::{Identity, password_resets};
use utoipa::ToSchema;
use web::openapi::error_responses::code;
use web::{Authorized, Context, Error, JsonBody};

/// The account whose password is forgotten.
#[derive(ToSchema)]
#[schema(example = json!({"email": "ann@example.org"}))]
struct PasswordReset {
    email: Email,
}

/// The new password and the token from the mail.
#[derive(ToSchema)]
#[schema(example = json!({"token": "8Cr4-1S6hZzPuvq6Wn2BvXq0dX9dG3k0mX0b8z0yJ3c", "new_password": "battery staple"}))]
struct PasswordResetConfirmation {
    token: MailedToken,
    #[schema(schema_with = new_password_schema)]
    new_password: Password,
}

/// Request a password reset
///
/// Mails a link to the account with this address. The response is the same if there is no such account. A new
/// link replaces the earlier ones. An address gets at most three mails with a link an hour; a further request
/// sends nothing.
#[utoipa::path(
    post, path = "/password-resets", operation_id = "requestPasswordReset", tag = "Users",
    request_body = PasswordReset, security((), ("csrf" = [])),
    responses((status = 202, description = "If the account exists, a mail is queued."), PublicWrite, JsonBody)
)]
pub(crate) async fn request(
    State(identity): State<Identity>,
    Context(context): Context,
    Authorized(_caller, body): Authorized<PublicWrite, JsonBody>,
) -> Result<StatusCode, ApiError> {
    let mut fields = body.fields()?;
    let email = fields.required("email", Email::parse);
    let PasswordReset { email } = fields.finish(email.map(|email| PasswordReset { email }))?;
    password_resets::request(&identity, &email, &context).await?;
    Ok(StatusCode::ACCEPTED)
}

/// Set a new password
///
/// Takes the token from the mail, which works once. Ends all sessions of the user, revokes the tokens of all
/// apps, and removes all passkeys. It does not sign in. Two-step sign-in stays on, unless the address was not
/// confirmed before: then it is turned off and all apps are disconnected, because somebody else may have
/// created the account. The address is confirmed then.
#[utoipa::path(
    post, path = "/password-resets/confirmations", operation_id = "confirmPasswordReset", tag = "Users",
    request_body = PasswordResetConfirmation, security((), ("csrf" = [])),
    responses(
        (status = 204, description = "The password is set."),
        PublicWrite, JsonBody, code::ResetTokenInvalid,
    )
)]
pub(crate) async fn confirm(
    State(identity): State<Identity>,
    Context(context): Context,
    Authorized(_caller, body): Authorized<PublicWrite, JsonBody>,
) -> Result<StatusCode, ApiError> {
    let PasswordResetConfirmation { token, new_password } = read_confirmation(&body, &identity)?;
    password_resets::confirm(&identity, &token.0, new_password, &context).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn read_confirmation(body: &JsonBody, identity: &Identity) -> Result<PasswordResetConfirmation, Error> {
    let mut fields = body.fields()?;
    let token = fields.required("token", MailedToken::parse);
    let new = fields.required("new_password", |text| identity.passwords.parse_new(text));
    let whole = token.zip(new);
    fields.finish(whole.map(|(token, new_password)| PasswordResetConfirmation { token, new_password }))
}
