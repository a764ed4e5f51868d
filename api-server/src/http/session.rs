//! Sign-in, sign-out and the account of the caller.

use crate::error::{self, ApiError};
use crate::extract::{CurrentSession, PublicWrite, UnrestrictedSession};
use crate::principal::{AuthenticationMethod, Principal};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use foundation::clock::Timestamp;
use foundation::scope::Scope;
use identity::credential_check::PresentedCredentials;
use identity::passwords::{Password, new_password_schema};
use identity::second_factor::Otp;
use identity::users::{User, account};
use identity::{Identity, captcha, login, password_changes};
use serde::Serialize;
use std::convert::Infallible;
use storage::db::Db;
use utoipa::ToSchema;
use web::error::{IntentionallyEmpty, reauthentication_error};
use web::openapi::error_responses::code;
use web::{Authorized, Context, Error, JsonBody, cookies};

/// The credentials of a sign-in.
#[derive(ToSchema)]
#[schema(example = json!({"email": "ann@example.org", "password": "correct horse"}))]
struct SignIn {
    /// The e-mail address of the account.
    #[schema(pattern = r"^[^\u0000]*$")]
    email: String,
    password: Password,
    /// A one-time code or a recovery code, if the account requires one.
    #[schema(nullable = false)]
    otp: Option<Otp>,
    /// The response of the captcha widget. Required after repeated failures if a captcha is configured.
    #[schema(value_type = String, required = false, max_length = 8192, pattern = r"^[^\u0000]*$")]
    captcha: Option<String>,
}

/// The current password and the new one.
#[derive(ToSchema)]
#[schema(example = json!({"current_password": "correct horse", "new_password": "battery staple"}))]
struct PasswordChange {
    current_password: Password,
    #[schema(schema_with = new_password_schema)]
    new_password: Password,
}

/// The caller.
#[derive(Serialize, ToSchema)]
pub(crate) struct Me {
    #[serde(flatten)]
    user: User,
    /// Whether the user has a password. Without one, passkeys alone sign in.
    has_password: bool,
    /// Whether sign-in with the password requires a one-time code.
    mfa_enabled: bool,
    /// The number of unused recovery codes.
    recovery_codes_left: i64,
    auth: Auth,
}

/// The authentication of the caller.
#[derive(Serialize, ToSchema)]
pub(crate) struct Auth {
    method: AuthenticationMethod,
    scope: Scope,
    /// The expiry of the access token, or of the session if it is not used until then.
    expires_at: Timestamp,
}

/// Sign in
///
/// Starts a session. A call with the session of the same user renews it: it gets another `sid`, and apps keep
/// what they got in it. One of another user ends. The response to an unknown e-mail address and to a wrong
/// password is the same and has no body. A missing or wrong code is reported only if the password is right.
/// Five failures block sign-in for a while.
#[utoipa::path(
    post, path = "/login", operation_id = "login", tag = "Sessions", request_body = SignIn,
    security((), ("csrf" = [])),
    responses(
        (status = 200, description = "The account, and the session's cookie.", body = User, headers(("Set-Cookie"))),
        (status = 401, description = "The e-mail or the password is wrong: there is no body.",
         extensions(("x-may-be-empty" = json!(true)))),
        PublicWrite, JsonBody, code::LoginLocked, code::MfaRequired,
    )
)]
pub(crate) async fn login(
    State(identity): State<Identity>,
    Context(context): Context,
    headers: HeaderMap,
    Authorized(_caller, body): Authorized<PublicWrite, JsonBody>,
) -> Result<Response, ApiError> {
    let sign_in = read_sign_in(&body)?;
    let (email, captcha) = (&sign_in.email, sign_in.captcha.as_deref());
    let presented = PresentedCredentials {
        password: sign_in.password,
        otp: sign_in.otp,
    };
    let former = cookies::sid(&headers)?;
    match login::login(&identity, email, captcha, presented, former.as_ref(), &context).await {
        Ok(signed_in) => {
            let cookie = cookies::set_sid(&signed_in.sid, identity.session_lifetimes.absolute);
            Ok((cookies::header_of(cookie), Json(signed_in.user)).into_response())
        }
        Err(login::Error::WrongCredentials) => {
            Ok((StatusCode::UNAUTHORIZED, Extension(IntentionallyEmpty)).into_response())
        }
        Err(error) => Err(error.into()),
    }
}

/// Sign out
///
/// Ends the session and revokes the tokens that first-party apps received in it.
#[utoipa::path(
    post, path = "/logout", operation_id = "logout", tag = "Sessions", security(("session" = [], "csrf" = [])),
    responses(
        (status = 204, description = "The session is ended and its cookie is cleared.", headers(("Set-Cookie"))),
        CurrentSession,
    )
)]
pub(crate) async fn logout(
    CurrentSession(session): CurrentSession,
    State(identity): State<Identity>,
    Context(context): Context,
) -> Result<impl IntoResponse, ApiError> {
    login::logout(&identity, &session, &context).await?;
    Ok(signed_out())
}

/// Read the caller's account
///
/// Returns the account and how the caller authenticated.
#[utoipa::path(
    get, path = "/me", operation_id = "readMe", tag = "Users",
    security(("session" = []), ("oauth2" = ["profile:read"])),
    responses(
        (status = 200, description = "The caller.", body = Me),
        Principal, code::InsufficientScope, code::Forbidden,
    )
)]
pub(crate) async fn me(caller: Principal, State(db): State<Db>) -> Result<Json<Me>, ApiError> {
    caller.require("profile:read")?;
    let account = account::find_enabled(&db, caller.user()?.id).await?;
    let account = account.ok_or_else(error::unauthenticated)?;
    let auth = Auth {
        method: caller.method(),
        expires_at: caller.expires_at,
        scope: caller.scope,
    };
    Ok(Json(Me {
        user: account.user,
        has_password: account.has_password,
        mfa_enabled: account.mfa_enabled,
        recovery_codes_left: account.recovery_codes_left,
        auth,
    }))
}

/// Change the caller's password
///
/// Ends all sessions of the user, including this one, and revokes the tokens of all apps. A user without a
/// password sets one at `/password`, the page of the issuer.
#[utoipa::path(
    put, path = "/me/password", operation_id = "changePassword", tag = "Users", request_body = PasswordChange,
    security(("session" = [], "csrf" = [])),
    responses(
        (status = 204, description = "The password is changed; sign in with the new one.", headers(("Set-Cookie"))),
        CurrentSession, JsonBody, code::LoginLocked,
    )
)]
pub(crate) async fn change_password(
    State(identity): State<Identity>,
    Context(context): Context,
    Authorized(CurrentSession(session), body): Authorized<CurrentSession, JsonBody>,
) -> Result<impl IntoResponse, ApiError> {
    let change = read_change(&body, &identity, &session.user.email)?;
    let (current, new) = (Some(change.current_password), change.new_password);
    password_changes::change_password(&identity, &session, current, new, &context)
        .await
        .map_err(|error| reauthentication_error(error, "current_password"))?;
    Ok(signed_out())
}

/// Remove the caller's password
///
/// Passkeys alone sign in afterwards. Requires that the last sign-in of the session was with a passkey and
/// within the last ten minutes, and a confirmed address, to which a reset can be mailed; otherwise nothing
/// changes. Gives this session a new cookie, ends all other sessions of the user, and revokes the tokens of
/// all apps.
#[utoipa::path(
    delete, path = "/me/password", operation_id = "removePassword", tag = "Users",
    security(("session" = [], "csrf" = [])),
    responses(
        (status = 204, description = "The password is removed.", headers(("Set-Cookie"))),
        UnrestrictedSession, code::NotFound,
    )
)]
pub(crate) async fn remove_password(
    UnrestrictedSession(session): UnrestrictedSession,
    State(identity): State<Identity>,
    Context(context): Context,
) -> Result<impl IntoResponse, ApiError> {
    let sid = password_changes::remove_password(&identity, &session, &context).await?;
    let cookie = cookies::replacement_cookie(&session, &sid, &context);
    Ok((StatusCode::NO_CONTENT, cookie))
}

fn read_sign_in(body: &JsonBody) -> Result<SignIn, Error> {
    let mut fields = body.fields()?;
    let email = fields.required("email", |text| Ok::<_, Infallible>(text.to_owned()));
    let password = fields.required("password", Password::parse);
    let otp = fields.optional("otp", Otp::parse);
    let captcha = fields.optional("captcha", parse_captcha);
    let whole = email.zip(password);
    fields.finish(whole.map(|(email, password)| SignIn {
        email,
        password,
        otp,
        captcha,
    }))
}

fn parse_captcha(text: &str) -> Result<String, &'static str> {
    match text.len() > captcha::MAX_LENGTH {
        true => Err("is longer than 8192 bytes"),
        false => Ok(text.to_owned()),
    }
}

fn read_change(body: &JsonBody, identity: &Identity, email: &str) -> Result<PasswordChange, Error> {
    let mut fields = body.fields()?;
    let current = fields.required("current_password", Password::parse);
    let new = fields.required("new_password", |text| {
        identity.passwords.parse_new_for(text, email)
    });
    let whole = current.zip(new);
    fields.finish(whole.map(|(current_password, new_password)| PasswordChange {
        current_password,
        new_password,
    }))
}

/// Returns a response with the status 204 that clears the session cookie.
pub(super) fn signed_out() -> impl IntoResponse {
    (StatusCode::NO_CONTENT, cookies::header_of(cookies::clear_sid()))
}
