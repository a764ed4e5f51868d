//! `/email-verifications`: confirmation and change of the e-mail address.

use super::mailed_token::MailedToken;
use crate::error::ApiError;
use crate::extract::{OptionalSession, UnrestrictedSession};
use axum::extract::State;
use axum::http::StatusCode;
use foundation::email::Email;
use identity::credential_check::PresentedCredentials;
use identity::passwords::Password;
use identity::second_factor::Otp;
use identity::{Identity, email_verifications};
use utoipa::ToSchema;
use web::openapi::error_responses::code;
use web::{Authorized, Context, Error, JsonBody};

/// The address to confirm; by default the account's current address.
#[derive(ToSchema)]
#[schema(example = json!({"email": "ann@example.net", "current_password": "correct horse"}))]
struct EmailVerification {
    /// The new address.
    #[schema(nullable = false)]
    email: Option<Email>,
    /// Required for a new address.
    #[schema(nullable = false)]
    current_password: Option<Password>,
    /// Required for a new address if sign-in requires a code.
    #[schema(nullable = false)]
    otp: Option<Otp>,
}

/// The token from the mail.
#[derive(ToSchema)]
#[schema(example = json!({"token": "8Cr4-1S6hZzPuvq6Wn2BvXq0dX9dG3k0mX0b8z0yJ3c", "password": "correct horse"}))]
struct EmailConfirmation {
    token: MailedToken,
    /// The password of the account. Required without a session of the account.
    #[schema(nullable = false)]
    password: Option<Password>,
}

/// Request to confirm or change the e-mail address
///
/// Mails a link to the current address or to the new one. The new address becomes the account's when it is
/// confirmed with the link, and the old address is notified. A new link replaces the earlier ones. An address
/// gets at most two such mails an hour; a further request sends nothing.
#[utoipa::path(
    post, path = "/email-verifications", operation_id = "requestEmailVerification", tag = "Users",
    request_body = EmailVerification, security(("session" = [], "csrf" = [])),
    responses(
        (status = 202, description = "The mail is queued."),
        UnrestrictedSession, JsonBody, code::LoginLocked, code::MfaRequired,
    )
)]
pub(crate) async fn request(
    State(identity): State<Identity>,
    Context(context): Context,
    Authorized(UnrestrictedSession(session), body): Authorized<UnrestrictedSession, JsonBody>,
) -> Result<StatusCode, ApiError> {
    match read_request(&body)? {
        Some((email, presented)) => {
            let presented = Some(&presented);
            email_verifications::request_change(&identity, &session, &email, presented, &context).await?;
        }
        None => email_verifications::request(&identity, &session, &context).await?,
    }
    Ok(StatusCode::ACCEPTED)
}

/// Confirm or change the e-mail address
///
/// Takes the token from the mail, which works once, in a session of the account or with its password, because
/// anybody can enter an address for an account. An access token is neither. Who has neither resets the
/// password: that confirms the address too, and ends what was set up before. A change of the address ends all
/// sessions of the user and revokes the tokens of all apps.
#[utoipa::path(
    post, path = "/email-verifications/confirmations", operation_id = "confirmEmailVerification", tag = "Users",
    request_body = EmailConfirmation, security((), ("csrf" = []), ("session" = [], "csrf" = [])),
    responses(
        (status = 204, description = "The address is the account's and is confirmed."),
        OptionalSession, JsonBody, code::ResetTokenInvalid, code::EmailTaken, code::LoginLocked,
    )
)]
pub(crate) async fn confirm(
    State(identity): State<Identity>,
    Context(context): Context,
    Authorized(caller, body): Authorized<OptionalSession, JsonBody>,
) -> Result<StatusCode, ApiError> {
    let mut fields = body.fields()?;
    let token = fields.required("token", MailedToken::parse);
    let password = fields.optional("password", Password::parse);
    let confirmation = token.map(|token| EmailConfirmation { token, password });
    let EmailConfirmation { token, password } = fields.finish(confirmation)?;
    email_verifications::confirm(&identity, &token.0, caller.session(), password, &context).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Reads the new address and the credentials that the change requires; `None` to confirm the current address.
fn read_request(body: &JsonBody) -> Result<Option<(Email, PresentedCredentials)>, Error> {
    let mut fields = body.fields()?;
    let is_change = fields.has("email");
    let request = EmailVerification {
        email: fields.optional("email", Email::parse),
        current_password: match is_change {
            true => fields.required("current_password", Password::parse),
            false => fields.optional("current_password", Password::parse),
        },
        otp: fields.optional("otp", Otp::parse),
    };
    let EmailVerification {
        email,
        current_password,
        otp,
    } = fields.finish(Some(request))?;
    let presented = current_password.map(|password| PresentedCredentials { password, otp });
    Ok(email.zip(presented))
}
