//! What the errors of the domain modules of both services are on the wire.

use crate::error::{Code, Error, FieldError};
use identity::mail_throttle::MailThrottled;
use identity::{accounts, email_verifications, login, mfa, password_resets, passwords};
use storage::{db, redis};

impl From<db::Error> for Error {
    fn from(error: db::Error) -> Self {
        match error {
            db::Error::Unavailable(_) => Self::unavailable(&error),
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
            login::Error::CodeMissing => Self::new(
                Code::MfaRequired,
                "The password is right. Send a code of your authenticator app too, or a recovery code, as otp.",
            ),
            login::Error::WrongCode => Self::new(
                Code::MfaRequired,
                "The one-time code is wrong or was used already.",
            ),
            login::Error::Locked { retry_after } => {
                Self::new(Code::LoginLocked, format!("Sign-in is blocked: {error}.")).retry_after(retry_after)
            }
            login::Error::CaptchaRequired => Self::validation(vec![FieldError {
                pointer: "/captcha".to_owned(),
                code: "required",
                message: "is required after repeated failures: the answer of a captcha just solved"
                    .to_owned(),
            }]),
            login::Error::CaptchaUnavailable(error) => Self::unavailable(&error),
            login::Error::Passwords(error) => error.into(),
            login::Error::StoreUnavailable(error) => error.into(),
            login::Error::Seed(error) => Self::internal(&error),
            login::Error::Database(error) => error.into(),
        }
    }
}

/// Of somebody signed in who was to show once more who they are.
fn not_proven(error: login::Error) -> Error {
    match error {
        login::Error::WrongCredentials => Error::not_the_accounts("password", "the password of this account"),
        error => error.into(),
    }
}

impl From<mfa::Error> for Error {
    fn from(error: mfa::Error) -> Self {
        match error {
            mfa::Error::AlreadyEnabled => Self::new(
                Code::Forbidden,
                "Two-step sign-in is on already: turn it off first, to begin with another app.",
            ),
            mfa::Error::NotEnabled => Self::not_found(),
            mfa::Error::Credentials(error) => not_proven(error),
        }
    }
}

impl From<MailThrottled> for Error {
    fn from(refusal: MailThrottled) -> Self {
        match refusal {
            MailThrottled::TooMany { retry_after } => {
                let says = refusal.to_string();
                Self::new(Code::RateLimited, format!("No mail is sent: {says}.")).retry_after(retry_after)
            }
            MailThrottled::StoreUnavailable(error) => error.into(),
            MailThrottled::Database(error) => error.into(),
        }
    }
}

impl From<accounts::Error> for Error {
    fn from(error: accounts::Error) -> Self {
        match error {
            accounts::Error::LastAdministrator => Self::new(
                Code::Forbidden,
                "This is the last administrator: make another one first.",
            ),
            accounts::Error::Credentials(error) => not_proven(error),
            accounts::Error::Database(error) => error.into(),
        }
    }
}

impl From<password_resets::Error> for Error {
    fn from(error: password_resets::Error) -> Self {
        match error {
            password_resets::Error::TokenInvalid => token_invalid(&error),
            password_resets::Error::Passwords(error) => error.into(),
            password_resets::Error::Database(error) => error.into(),
        }
    }
}

impl From<email_verifications::Error> for Error {
    fn from(error: email_verifications::Error) -> Self {
        match error {
            email_verifications::Error::TokenInvalid => token_invalid(&error),
            email_verifications::Error::EmailTaken => {
                Self::new(Code::EmailTaken, "Another account has this e-mail.")
            }
            email_verifications::Error::Database(error) => error.into(),
        }
    }
}

impl From<email_verifications::ChangeError> for Error {
    fn from(error: email_verifications::ChangeError) -> Self {
        match error {
            email_verifications::ChangeError::Credentials(error) => error.into(),
            email_verifications::ChangeError::Throttled(error) => error.into(),
        }
    }
}

fn token_invalid(error: &dyn std::fmt::Display) -> Error {
    Error::new(Code::ResetTokenInvalid, format!("Nothing was changed: {error}."))
}
