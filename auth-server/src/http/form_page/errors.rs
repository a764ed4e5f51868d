//! The messages about the errors of the domain.

use super::FormError;
use crate::http::redirects::see_other;
use crate::pages::Field;
use crate::pages::text::{self, Text};
use crate::paths;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use foundation::clock;
use identity::passwords::PasswordFlaw;
use identity::{accounts, administrators, login, mail_throttle, passkeys, passwords, sign_up, users};
use issuer::grants::device_decision::UserCodeError;
use issuer::{clients, keys};
use web::Error;

impl From<Error> for FormError {
    fn from(error: Error) -> Self {
        Self::Final(error.into_response())
    }
}

impl From<accounts::Error> for FormError {
    fn from(error: accounts::Error) -> Self {
        let conflict = |text: Text<'_>| Self::new(StatusCode::CONFLICT, &text);
        match error {
            accounts::Error::LastAdministrator => conflict(text::of("user-last-administrator")),
            accounts::Error::OwnAccount => conflict(text::of("user-own-account")),
            accounts::Error::NoSecondFactor => conflict(text::of("user-no-second-factor")),
            accounts::Error::NotFound => conflict(text::of("user-changed-meanwhile")),
            accounts::Error::Administrator(administrators::Error::SignedOut) => {
                Self::Final(see_other(&paths::sign_in(Some(paths::ADMIN_USERS))))
            }
            error @ (accounts::Error::Administrator(_)
            | accounts::Error::Creation(_)
            | accounts::Error::Credentials(_)
            | accounts::Error::Database(_)) => Error::from(error).into(),
        }
    }
}

impl From<clients::Error> for FormError {
    fn from(error: clients::Error) -> Self {
        match error {
            clients::Error::Invalid(flaw) => {
                let error = Self::invalid(&text::of("client-invalid")).because(flaw.reason);
                match flaw.member.and_then(Field::of_client) {
                    Some(field) => error.about(field),
                    None => error,
                }
            }
            clients::Error::Taken(_) | clients::Error::NotFound(_) => {
                Self::new(StatusCode::CONFLICT, &text::of("client-changed-meanwhile"))
            }
            clients::Error::Administrator(administrators::Error::SignedOut) => {
                Self::Final(see_other(&paths::sign_in(Some(paths::ADMIN_CLIENTS))))
            }
            clients::Error::Administrator(error) => Error::from(error).into(),
            clients::Error::Database(error) => Error::from(error).into(),
        }
    }
}

impl From<login::Error> for FormError {
    fn from(error: login::Error) -> Self {
        let unauthorized = |message| Self::new(StatusCode::UNAUTHORIZED, &message);
        match error {
            login::Error::WrongCredentials | login::Error::NoPassword => {
                unauthorized(text::of("wrong-credentials"))
            }
            login::Error::CodeMissing(_) | login::Error::WrongCode => {
                unauthorized(text::of("wrong-code")).about(Field::Code)
            }
            login::Error::SignedOut | login::Error::SignInTooOld => unauthorized(text::of("session-ended")),
            login::Error::CaptchaRequired => Self::invalid(&text::of("captcha-required")),
            login::Error::Locked { retry_after } => Self::too_many(text::of("sign-in-locked"), retry_after),
            login::Error::StoreUnavailable(_) | login::Error::CaptchaUnavailable(_) => {
                tracing::error!(%error, "sign-in unavailable");
                Self::unavailable(&text::of("sign-in-unavailable"))
            }
            login::Error::Passwords(error) => error.into(),
            login::Error::Seed(_) | login::Error::Database(_) => Error::from(error).into(),
        }
    }
}

impl From<passkeys::Error> for FormError {
    fn from(error: passkeys::Error) -> Self {
        match error {
            passkeys::Error::Stale => Self::invalid(&text::of("passkey-stale")),
            passkeys::Error::Refused(_) | passkeys::Error::TooLarge | passkeys::Error::Unknown => {
                tracing::info!(%error, "a passkey was refused");
                Self::new(StatusCode::UNAUTHORIZED, &text::of("passkey-refused"))
            }
            passkeys::Error::AlreadyAdded => Self::new(StatusCode::CONFLICT, &text::of("passkey-exists")),
            passkeys::Error::TooMany => Self::new(StatusCode::CONFLICT, &text::of("passkey-too-many")),
            passkeys::Error::Corrupt(_) => Error::internal(&error).into(),
            passkeys::Error::Credentials(login::Error::Locked { retry_after }) => {
                Self::too_many(text::of("passkey-too-many-sign-ins"), retry_after)
            }
            passkeys::Error::Credentials(error) => error.into(),
        }
    }
}

impl From<passwords::Error> for FormError {
    fn from(error: passwords::Error) -> Self {
        match error {
            passwords::Error::Overloaded => Self::unavailable(&text::of("overloaded")),
            passwords::Error::Failed(_) => Error::from(error).into(),
        }
    }
}

impl From<PasswordFlaw> for FormError {
    fn from(flaw: PasswordFlaw) -> Self {
        Self::invalid(&flaw_in_words(flaw)).about(Field::NewPassword)
    }
}

/// Returns what is wrong with a new password.
pub(in crate::http) fn flaw_in_words(flaw: PasswordFlaw) -> Text<'static> {
    match flaw {
        PasswordFlaw::TooShort { min } => text::of("password-too-short").count("min", min as u64),
        PasswordFlaw::TooLong => text::of("password-too-long"),
        PasswordFlaw::Sequence => text::of("password-sequence"),
        PasswordFlaw::LikeEmail => text::of("password-like-address"),
        PasswordFlaw::TooCommon => text::of("password-too-common"),
    }
}

impl From<sign_up::Error> for FormError {
    fn from(error: sign_up::Error) -> Self {
        match error {
            sign_up::Error::Users(users::Error::EmailTaken) => {
                Self::new(StatusCode::CONFLICT, &text::of("sign-up-email-taken")).about(Field::Email)
            }
            sign_up::Error::Users(users::Error::Database(error)) => Error::from(error).into(),
            sign_up::Error::Passwords(error) => error.into(),
            sign_up::Error::TooMany { retry_after } => {
                Self::too_many(text::of("sign-up-too-many"), retry_after)
            }
            // Without sign-up there is no page.
            sign_up::Error::Off => Error::not_found().into(),
        }
    }
}

impl From<mail_throttle::MailThrottled> for FormError {
    fn from(error: mail_throttle::MailThrottled) -> Self {
        match error {
            mail_throttle::MailThrottled::TooMany { retry_after } => {
                Self::too_many(text::of("mail-too-many"), retry_after)
            }
            mail_throttle::MailThrottled::StoreUnavailable(error) => {
                tracing::error!(%error, "mail limits unavailable");
                Self::unavailable(&text::of("mail-unavailable"))
            }
            mail_throttle::MailThrottled::Database(error) => Error::from(error).into(),
        }
    }
}

impl From<keys::Error> for FormError {
    fn from(error: keys::Error) -> Self {
        let conflict = |text: Text<'_>| Self::new(StatusCode::CONFLICT, &text);
        match error {
            keys::Error::SignsLater { until, .. } => {
                let wait = text::duration(until.since(clock::now()));
                conflict(text::of("keys-rotation-later").with("time", wait))
            }
            keys::Error::NoneStaged => conflict(text::of("keys-none-staged")),
            keys::Error::Contended => conflict(text::of("keys-contended")),
            keys::Error::Unready { .. } => conflict(text::of("keys-unready")),
            keys::Error::Deleted { .. } => conflict(text::of("keys-retired-before")),
            keys::Error::Unknown(_) => Self::new(StatusCode::NOT_FOUND, &text::of("keys-unknown")),
            keys::Error::ClockDiffers(_) => Self::unavailable(&text::of("keys-clock-differs")),
            keys::Error::Administrator(administrators::Error::SignedOut) => {
                Self::Final(see_other(&paths::sign_in(Some(paths::ADMIN_KEYS))))
            }
            keys::Error::Administrator(error) => Error::from(error).into(),
            keys::Error::Database(error) => Error::from(error).into(),
            // The forms rotate, and retire as compromised.
            keys::Error::StillNeeded { .. }
            | keys::Error::Staged(_)
            | keys::Error::Sealed(_)
            | keys::Error::NoSecret
            | keys::Error::Rsa(_)
            | keys::Error::CannotSign { .. } => Error::internal(&error).into(),
        }
    }
}

impl From<UserCodeError> for FormError {
    fn from(error: UserCodeError) -> Self {
        let unavailable = || Self::unavailable(&text::of("device-code-unavailable"));
        match error {
            UserCodeError::Unknown => Self::invalid(&text::of("device-code-unknown")).about(Field::Code),
            UserCodeError::TooMany { retry_after } => {
                Self::too_many(text::of("device-code-too-many"), retry_after)
            }
            UserCodeError::Busy => unavailable(),
            UserCodeError::StoreUnavailable(error) => {
                tracing::error!(%error, "counts of wrong user codes unavailable");
                unavailable()
            }
            UserCodeError::Database(error) => Error::from(error).into(),
        }
    }
}
