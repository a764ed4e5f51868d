//! `/me/mfa/…`: two-step sign-in and its recovery codes.

use super::reauthentication;
use crate::error::ApiError;
use crate::extract::UnrestrictedSession;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use identity::credential_check::PresentedCredentials;
use identity::passwords::Password;
use identity::second_factor::Otp;
use identity::{Identity, login, mfa};
use serde::Serialize;
use utoipa::ToSchema;
use web::cookies::replacement_cookie;
use web::openapi::error_responses::code;
use web::{Authorized, Context, Error, JsonBody};

/// The password of the caller.
#[derive(ToSchema)]
#[schema(example = json!({"password": "correct horse"}))]
struct PasswordAgain {
    password: Password,
}

/// The first one-time code.
#[derive(ToSchema)]
#[schema(example = json!({"otp": "123456"}))]
struct FirstCode {
    otp: Otp,
}

/// The secret of the authenticator app, which is shown only once.
#[derive(Serialize, ToSchema)]
struct TotpSeed {
    /// The secret for manual entry, in base32 (RFC 4648 §6).
    #[schema(example = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")]
    secret: String,
    /// The secret as a URL for a QR code.
    #[schema(example = "otpauth://totp/Latchkey:ann%40example.org?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")]
    otpauth_url: String,
}

/// Codes for a user who lost the authenticator app. They are shown only once, and each works once.
#[derive(Serialize, ToSchema)]
struct RecoveryCodes {
    /// Ten codes.
    #[schema(example = json!(["0h3k-8z5w-2m9x-tq7c"]))]
    recovery_codes: Vec<String>,
}

/// Begin to turn two-step sign-in on
///
/// Returns a secret for an authenticator app and replaces the secret of an earlier unconfirmed call. Sign-in
/// requires no code until a first code is confirmed.
#[utoipa::path(
    post, path = "/me/mfa/totp", operation_id = "beginTotp", tag = "Users", request_body = PasswordAgain,
    security(("session" = [], "csrf" = [])),
    responses(
        (status = 201, description = "The secret.", body = TotpSeed),
        UnrestrictedSession, JsonBody, code::LoginLocked,
    )
)]
pub(crate) async fn begin(
    State(identity): State<Identity>,
    Context(context): Context,
    Authorized(UnrestrictedSession(session), body): Authorized<UnrestrictedSession, JsonBody>,
) -> Result<impl IntoResponse, ApiError> {
    let mut fields = body.fields()?;
    let password = fields.required("password", Password::parse);
    let PasswordAgain { password } = fields.finish(password.map(|password| PasswordAgain { password }))?;
    let presented = PresentedCredentials { password, otp: None };
    let enrollment = mfa::enroll(&identity, &session, Some(&presented), &context).await?;
    let seed = TotpSeed {
        secret: enrollment.secret.expose().to_owned(),
        otpauth_url: enrollment.otpauth_url.expose().to_owned(),
    };
    Ok((StatusCode::CREATED, Json(seed)))
}

/// Turn two-step sign-in on
///
/// Takes a first code. Gives this session a new cookie, ends all other sessions of the user, and revokes the
/// tokens of all apps.
#[utoipa::path(
    post, path = "/me/mfa/totp/verifications", operation_id = "confirmTotp", tag = "Users",
    request_body = FirstCode, security(("session" = [], "csrf" = [])),
    responses(
        (status = 200, description = "Two-step sign-in is on.", body = RecoveryCodes, headers(("Set-Cookie"))),
        UnrestrictedSession, JsonBody, code::LoginLocked, code::NotFound,
    )
)]
pub(crate) async fn confirm(
    State(identity): State<Identity>,
    Context(context): Context,
    Authorized(UnrestrictedSession(session), body): Authorized<UnrestrictedSession, JsonBody>,
) -> Result<impl IntoResponse, ApiError> {
    let mut fields = body.fields()?;
    let otp = fields.required("otp", Otp::parse);
    let FirstCode { otp } = fields.finish(otp.map(|otp| FirstCode { otp }))?;
    let (recovery_codes, sid) = match mfa::confirm(&identity, &session, &otp, &context).await {
        Ok(enabled) => enabled,
        Err(mfa::Error::Credentials(login::Error::WrongCode)) => {
            return Err(Error::invalid_member("otp", "is not the code that the app shows now").into());
        }
        Err(error) => return Err(error.into()),
    };
    let cookie = replacement_cookie(&session, &sid, &context);
    Ok((cookie, Json(RecoveryCodes { recovery_codes })))
}

/// Turn two-step sign-in off
///
/// Requires the password and a code. Gives this session a new cookie, ends all other sessions of the user,
/// and revokes the tokens of all apps.
#[utoipa::path(
    delete, path = "/me/mfa/totp", operation_id = "disableTotp", tag = "Users", request_body = PresentedCredentials,
    security(("session" = [], "csrf" = [])),
    responses(
        (status = 204, description = "Two-step sign-in is off.", headers(("Set-Cookie"))),
        UnrestrictedSession, JsonBody, code::LoginLocked, code::MfaRequired, code::NotFound,
    )
)]
pub(crate) async fn disable(
    State(identity): State<Identity>,
    Context(context): Context,
    Authorized(UnrestrictedSession(session), body): Authorized<UnrestrictedSession, JsonBody>,
) -> Result<impl IntoResponse, ApiError> {
    let presented = reauthentication::read_credentials(&body)?;
    let sid = mfa::disable(&identity, &session, Some(&presented), &context).await?;
    let cookie = replacement_cookie(&session, &sid, &context);
    Ok((StatusCode::NO_CONTENT, cookie))
}

/// Renew the recovery codes
///
/// Requires the password and a code. Returns ten new recovery codes. The former ones no longer work.
#[utoipa::path(
    post, path = "/me/mfa/recovery-codes", operation_id = "renewRecoveryCodes", tag = "Users",
    request_body = PresentedCredentials, security(("session" = [], "csrf" = [])),
    responses(
        (status = 201, description = "The new recovery codes.", body = RecoveryCodes),
        UnrestrictedSession, JsonBody, code::LoginLocked, code::MfaRequired, code::NotFound,
    )
)]
pub(crate) async fn renew_recovery_codes(
    State(identity): State<Identity>,
    Context(context): Context,
    Authorized(UnrestrictedSession(session), body): Authorized<UnrestrictedSession, JsonBody>,
) -> Result<impl IntoResponse, ApiError> {
    let presented = reauthentication::read_credentials(&body)?;
    let recovery_codes = mfa::renew_recovery_codes(&identity, &session, Some(&presented), &context).await?;
    Ok((StatusCode::CREATED, Json(RecoveryCodes { recovery_codes })))
}
