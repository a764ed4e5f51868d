//! `/email-verifications`: an address is confirmed, or another one takes its place.

use super::mailed_token::MailedToken;
use crate::error::{ApiError, wrong_current_password};
use crate::extract::{PublicWrite, RequestContext, UnrestrictedSession};
use axum::extract::State;
use axum::http::StatusCode;
use shared::http::openapi::refusals::code;
use shared::http::{Error, JsonBody};
use shared::identity::Identity;
use shared::identity::email::Email;
use shared::identity::login::{self, Proof};
use shared::identity::mfa::Otp;
use shared::identity::passwords::Password;
use shared::identity::verifications::{self, ChangeError};
use utoipa::ToSchema;

/// Which address: the present one if none is named.
#[derive(ToSchema)]
#[schema(example = json!({"email": "ann@example.net", "current_password": "correct horse"}))]
struct EmailVerification {
    /// The address to be.
    #[schema(nullable = false)]
    email: Option<Email>,
    /// Needed for another address.
    #[schema(nullable = false)]
    current_password: Option<Password>,
    /// Needed too where sign-in asks for one.
    #[schema(nullable = false)]
    otp: Option<Otp>,
}

/// The proof that somebody reads the mail of the address.
#[derive(ToSchema)]
#[schema(example = json!({"token": "8Cr4-1S6hZzPuvq6Wn2BvXq0dX9dG3k0mX0b8z0yJ3c"}))]
struct EmailConfirmation {
    token: MailedToken,
}

/// Ask to confirm or to change one's e-mail
///
/// A link is mailed to the address: the present one, or one that shall take its place. That one becomes the
/// account's when the link is used, and the present one is told. A newer link replaces the older ones, and no
/// address gets more than three in a quarter of an hour.
#[utoipa::path(
    post, path = "/email-verifications", operation_id = "requestEmailVerification", tag = "Users",
    request_body = EmailVerification, security(("session" = [], "csrf" = [])),
    responses(
        (status = 202, description = "A mail is on its way."),
        UnrestrictedSession, JsonBody, code::LoginLocked, code::MfaRequired,
    )
)]
pub(crate) async fn request(
    UnrestrictedSession(session): UnrestrictedSession,
    State(identity): State<Identity>,
    RequestContext(context): RequestContext,
    body: JsonBody,
) -> Result<StatusCode, ApiError> {
    let Some((email, proof)) = read_request(&body)? else {
        verifications::request(&identity, &session, &context).await?;
        return Ok(StatusCode::ACCEPTED);
    };
    match verifications::request_change(&identity, &session, (&email, &proof), &context).await {
        Ok(()) => Ok(StatusCode::ACCEPTED),
        Err(ChangeError::Login(login::Error::Wrong)) => Err(wrong_current_password().into()),
        Err(error) => Err(error.into()),
    }
}

/// Confirm or change an e-mail
///
/// With the token from the mail, which works once. If the address takes another's place, every session of the user
/// ends and every app is cut off.
#[utoipa::path(
    post, path = "/email-verifications/confirmations", operation_id = "confirmEmailVerification", tag = "Users",
    request_body = EmailConfirmation, security((), ("csrf" = [])),
    responses(
        (status = 204, description = "It is the account's address, and confirmed."),
        PublicWrite, JsonBody, code::ResetTokenInvalid, code::EmailTaken,
    )
)]
pub(crate) async fn confirm(
    _: PublicWrite,
    State(identity): State<Identity>,
    RequestContext(context): RequestContext,
    body: JsonBody,
) -> Result<StatusCode, ApiError> {
    let mut fields = body.fields()?;
    let token = fields.required("token", MailedToken::parse);
    let EmailConfirmation { token } = fields.finish(token.map(|token| EmailConfirmation { token }))?;
    verifications::confirm(&identity, &token.0, &context).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The address to be and what allows it; `None` if the present one is to be confirmed.
fn read_request(body: &JsonBody) -> Result<Option<(Email, Proof)>, Error> {
    let mut fields = body.fields()?;
    let is_change = fields.has("email");
    let email = fields.optional("email", Email::parse);
    let current = match is_change {
        true => fields.required("current_password", Password::attempt),
        false => fields.optional("current_password", Password::attempt),
    };
    let read = EmailVerification {
        email,
        current_password: current,
        otp: fields.optional("otp", Otp::parse),
    };
    let EmailVerification {
        email,
        current_password,
        otp,
    } = fields.finish(Some(read))?;
    let proof = current_password.map(|password| Proof { password, otp });
    Ok(email.zip(proof))
}
