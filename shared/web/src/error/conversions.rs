//! Conversions of the errors of the shared domain modules into error responses.

use crate::error::{Code, Error};
use axum::http::header::WWW_AUTHENTICATE;
use identity::mail_throttle::MailThrottled;
use identity::mailed_tokens::MailedToken;
use identity::{
    accounts, administrators, email_verifications, login, mfa, password_changes, password_resets, passwords,
    users,
};
use storage::{db, redis};

impl From<db::Error> for Error {
    fn from(error: db::Error) -> Self {
        match error {
            db::Error::Unavailable(_) => Self::unavailable(&error),
            db::Error::Full(_) => Self::storage_full(&error),
            db::Error::Conflict | db::Error::Failed(_) => Self::internal(&error),
        }
    }
}

impl From<redis::Unavailable> for Error {
    fn from(error: redis::Unavailable) -> Self {
        Self::unavailable(&error)
    }
}

impl From<passwords::Error> for Error {
    fn from(error: passwords::Error) -> Self {
        match error {
            passwords::Error::Overloaded => Self::unavailable(&error),
            passwords::Error::Failed(_) => Self::internal(&error),
        }
    }
}

impl From<login::Error> for Error {
    fn from(error: login::Error) -> Self {
        match error {
            login::Error::WrongCredentials => {
                Self::new(Code::Unauthenticated, "The e-mail or the password is wrong.")
            }
            login::Error::CodeMissing(_) => Self::new(
                Code::MfaRequired,
                "A one-time code is required too. Send one of your authenticator app, or a recovery code, as otp.",
            ),
            login::Error::NoPassword => reauthentication_error(error, "password"),
            login::Error::WrongCode => Self::new(
                Code::MfaRequired,
                "The one-time code is wrong or was used already.",
            ),
            login::Error::SignedOut => {
                signed_out("Nothing was changed: you were signed out during this call.")
            }
            login::Error::SignInTooOld => Self::flawed(
                "/password",
                "required",
                "is required: the last sign-in is over ten minutes old",
            ),
            login::Error::Locked { retry_after } => {
                Self::new(Code::LoginLocked, format!("Sign-in is blocked: {error}.")).retry_after(retry_after)
            }
            login::Error::CaptchaRequired => Self::flawed(
                "/captcha",
                "required",
                "is required after repeated failures: send the token of a newly solved captcha",
            ),
            login::Error::CaptchaUnavailable(error) => Self::unavailable(&error),
            login::Error::Passwords(error) => error.into(),
            login::Error::StoreUnavailable(error) => error.into(),
            login::Error::Seed(error) => Self::internal(&error),
            login::Error::Database(error) => error.into(),
        }
    }
}

/// Converts the error of an operation for which a signed-in user must enter the password again. `member` is
/// the member of the request body with the password. The session itself is valid, so a wrong password is an
/// invalid member (422), not a failed authentication (401).
pub fn reauthentication_error(error: login::Error, member: &str) -> Error {
    match error {
        login::Error::WrongCredentials => {
            Error::invalid_member(member, "is not the password of this account")
        }
        login::Error::NoPassword => Error::invalid_member(
            member,
            "cannot be verified: this account has no password; use its pages at /account, or set a password at \
             /password",
        ),
        error => error.into(),
    }
}

/// 401: the credentials of the caller ended after they had been checked.
fn signed_out(message: &'static str) -> Error {
    Error::new(Code::Unauthenticated, message).header(WWW_AUTHENTICATE, "Bearer")
}

impl From<mfa::Error> for Error {
    fn from(error: mfa::Error) -> Self {
        match error {
            mfa::Error::AlreadyEnabled => Self::new(
                Code::Forbidden,
                "Two-step sign-in is already on. Turn it off first to use another authenticator app.",
            ),
            mfa::Error::NotEnabled => Self::not_found(),
            mfa::Error::Credentials(error) => reauthentication_error(error, "password"),
        }
    }
}

impl From<password_changes::RemovalError> for Error {
    fn from(error: password_changes::RemovalError) -> Self {
        match error {
            password_changes::RemovalError::NoPassword => Self::not_found(),
            password_changes::RemovalError::NotReady
            | password_changes::RemovalError::Credentials(login::Error::SignInTooOld) => Self::new(
                Code::Forbidden,
                format!(
                    "The password stays: {error}. Sign in with a passkey at /signin, and repeat the call within ten \
                     minutes."
                ),
            ),
            password_changes::RemovalError::Credentials(error) => error.into(),
        }
    }
}

impl From<MailThrottled> for Error {
    fn from(error: MailThrottled) -> Self {
        match error {
            MailThrottled::TooMany { retry_after } => {
                let message = format!("No mail was sent: {error}.");
                Self::new(Code::RateLimited, message).retry_after(retry_after)
            }
            MailThrottled::StoreUnavailable(error) => error.into(),
            MailThrottled::Database(error) => error.into(),
        }
    }
}

impl From<users::Error> for Error {
    fn from(error: users::Error) -> Self {
        match error {
            users::Error::EmailTaken => Self::new(Code::EmailTaken, "An account with this e-mail exists."),
            users::Error::Database(error) => error.into(),
        }
    }
}

impl From<administrators::Error> for Error {
    fn from(error: administrators::Error) -> Self {
        match error {
            administrators::Error::SignedOut => {
                signed_out("Nothing was changed: you were signed out, or lost your role, during this call.")
            }
            administrators::Error::Database(error) => error.into(),
        }
    }
}

impl From<accounts::Error> for Error {
    fn from(error: accounts::Error) -> Self {
        match error {
            accounts::Error::LastAdministrator => Self::new(
                Code::Forbidden,
                "This is the last administrator. Make another user an administrator first.",
            ),
            accounts::Error::OwnAccount => Self::new(
                Code::Forbidden,
                "This is your own account. Change your password and two-step sign-in at /me or at /account; another administrator \
                 can do the rest.",
            ),
            accounts::Error::NotFound | accounts::Error::NoSecondFactor => Self::not_found(),
            accounts::Error::Administrator(error) => error.into(),
            accounts::Error::Creation(error) => error.into(),
            accounts::Error::Credentials(error) => reauthentication_error(error, "password"),
            accounts::Error::Database(error) => error.into(),
        }
    }
}

impl From<password_resets::Error> for Error {
    fn from(error: password_resets::Error) -> Self {
        match error {
            password_resets::Error::TokenInvalid => token_invalid(&error),
            password_resets::Error::Flawed(flaw) => Self::invalid_member("new_password", flaw.to_string()),
            password_resets::Error::Passwords(error) => error.into(),
            password_resets::Error::Database(error) => error.into(),
        }
    }
}

impl From<email_verifications::Error> for Error {
    fn from(error: email_verifications::Error) -> Self {
        match error {
            email_verifications::Error::TokenInvalid => token_invalid(&error),
            email_verifications::Error::PasswordMissing(mailed) => password_missing(&mailed),
            email_verifications::Error::Credentials(error) => reauthentication_error(error, "password"),
            email_verifications::Error::EmailTaken => {
                Self::new(Code::EmailTaken, "Another account has this e-mail address.")
            }
            email_verifications::Error::Database(error) => error.into(),
        }
    }
}

impl From<email_verifications::ChangeError> for Error {
    fn from(error: email_verifications::ChangeError) -> Self {
        match error {
            email_verifications::ChangeError::Credentials(error) => {
                reauthentication_error(error, "current_password")
            }
            email_verifications::ChangeError::Throttled(error) => error.into(),
        }
    }
}

/// Returns the 422 for the confirmation of an address with the link alone: what it would confirm, and how to
/// go on.
fn password_missing(mailed: &MailedToken) -> Error {
    let (email, created_at) = (&mailed.mailed_to, mailed.user.created_at);
    let account = format!("the account that was created at {created_at}");
    let (change, way_on) = match mailed.is_change() {
        true => (
            format!("{email} would become the address of {account}"),
            "whoever forgot the password resets it by POST /password-resets with the present address and requests \
             the change again",
        ),
        false => (
            format!("{email} would become a confirmed address of {account}"),
            "whoever does not know the password resets it by POST /password-resets, which confirms the address and \
             ends all former access",
        ),
    };
    let message = format!("is required without a session of the account: {change}; {way_on}");
    Error::flawed("/password", "required", message)
}

/// Returns the 422 for an invalid token of a mailed link.
fn token_invalid(error: &dyn std::fmt::Display) -> Error {
    Error::new(Code::ResetTokenInvalid, format!("Nothing was changed: {error}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{StatusCode, header};
    use axum::response::IntoResponse as _;

    #[test]
    fn a_full_disk_is_507_and_a_missing_database_503_with_a_delay() {
        let full = Error::from(db::Error::disk_full()).into_response();
        assert_eq!(full.status(), StatusCode::INSUFFICIENT_STORAGE);
        let missing = Error::from(db::Error::timed_out()).into_response();
        assert_eq!(missing.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(missing.headers().contains_key(header::RETRY_AFTER));
    }
}
