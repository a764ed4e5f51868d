//! Pages with a form: shown first, and shown again with an error message.

use super::redirects::see_other;
use super::{paths, reauthentication, reset, verify};
use crate::pages::text::{self, Text};
use crate::pages::{self, FormState};
use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use foundation::clock;
use identity::passwords::PasswordFlaw;
use identity::sessions::Session;
use identity::{
    email_verifications, login, mail_throttle, passkeys, password_resets, passwords, sign_up, users,
};
use issuer::grants::device_decision::UserCodeError;
use issuer::keys;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use web::error::retry_after;
use web::{Error, Policy, csrf};

/// The delay before a retry when the service is overloaded or a part of it does not answer.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Renders form pages for the browser that sent the request: with its anti-forgery token, and the cookie that
/// the token is compared with.
pub(crate) struct FormRenderer {
    csrf: String,
    cookie: HeaderValue,
    user: Option<i64>,
}

impl<S: Send + Sync> FromRequestParts<S> for FormRenderer
where
    Arc<Policy>: FromRef<S>,
{
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let (csrf, cookie) = csrf::token(&parts.headers, &Arc::<Policy>::from_ref(state));
        Ok(Self {
            csrf,
            cookie,
            user: None,
        })
    }
}

impl FormRenderer {
    /// Shows the page to the user of this session. Its forms have no effect if another user is signed in when they are submitted.
    pub(crate) fn for_user(mut self, session: &Session) -> Self {
        self.user = Some(session.user.id);
        self
    }

    /// Returns the anti-forgery token, which only this browser has.
    pub(crate) fn csrf(&self) -> &str {
        &self.csrf
    }

    /// Returns the page with its form and no error message.
    pub(crate) fn show(self, page: impl FnOnce(FormState<'_>) -> Response) -> Response {
        let html = page(FormState {
            csrf: &self.csrf,
            user: self.user,
            error: None,
        });
        (set_cookie(self.cookie), html).into_response()
    }

    /// Returns the page with its form again, with the status and the message of a correctable error. Returns the
    /// response of a final error instead.
    pub(crate) fn show_again(
        self,
        error: FormError,
        page: impl FnOnce(FormState<'_>) -> Response,
    ) -> Response {
        let correctable = match error {
            FormError::Correctable(correctable) => correctable,
            FormError::Final(response) => return response,
        };
        let html = page(FormState {
            csrf: &self.csrf,
            user: self.user,
            error: Some(&correctable.message),
        });
        let mut response = (correctable.status, set_cookie(self.cookie), html).into_response();
        let delay = correctable.retry_after.map(retry_after);
        if let Some(Ok(delay)) = delay.map(HeaderValue::try_from) {
            response.headers_mut().insert(header::RETRY_AFTER, delay);
        }
        response
    }
}

fn set_cookie(cookie: HeaderValue) -> AppendHeaders<[(header::HeaderName, HeaderValue); 1]> {
    AppendHeaders([(header::SET_COOKIE, cookie)])
}

/// The reason why a submitted form had no effect.
pub(crate) enum FormError {
    /// The user can correct the input or retry: the form is shown again.
    Correctable(Correctable),
    /// The form cannot succeed: this is the response.
    Final(Response),
}

/// An error that is shown above the form.
pub(crate) struct Correctable {
    status: StatusCode,
    message: String,
    /// The delay before a retry makes sense.
    retry_after: Option<Duration>,
}

impl FormError {
    /// Shows the form again with this status and message.
    pub(crate) fn new(status: StatusCode, message: &Text<'_>) -> Self {
        Self::Correctable(Correctable {
            status,
            message: message.plain(),
            retry_after: None,
        })
    }

    /// 422: the input is invalid.
    pub(crate) fn invalid(message: &Text<'_>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// 429: a limit was reached. The argument `wait` of the message is the time until a retry makes sense.
    fn too_many(message: Text<'_>, retry_after: Duration) -> Self {
        Self::Correctable(Correctable {
            status: StatusCode::TOO_MANY_REQUESTS,
            message: message.with("wait", text::duration(retry_after)).plain(),
            retry_after: Some(retry_after),
        })
    }

    /// 503: a retry in a moment may succeed.
    fn unavailable(message: &Text<'_>) -> Self {
        Self::Correctable(Correctable {
            status: StatusCode::SERVICE_UNAVAILABLE,
            message: message.plain(),
            retry_after: Some(RETRY_DELAY),
        })
    }
}

impl From<Error> for FormError {
    fn from(error: Error) -> Self {
        Self::Final(error.into_response())
    }
}

impl From<login::Error> for FormError {
    fn from(error: login::Error) -> Self {
        let unauthorized = |message| Self::new(StatusCode::UNAUTHORIZED, &message);
        match error {
            login::Error::WrongCredentials | login::Error::NoPassword => {
                unauthorized(text::of("wrong-credentials"))
            }
            login::Error::CodeMissing(_) | login::Error::WrongCode => unauthorized(text::of("wrong-code")),
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
        Self::invalid(&match flaw {
            PasswordFlaw::TooShort { min } => text::of("password-too-short").count("min", min as u64),
            PasswordFlaw::TooLong => text::of("password-too-long"),
            PasswordFlaw::TooCommon => text::of("password-too-common"),
        })
    }
}

impl From<sign_up::Error> for FormError {
    fn from(error: sign_up::Error) -> Self {
        match error {
            sign_up::Error::Users(users::Error::EmailTaken) => {
                Self::new(StatusCode::CONFLICT, &text::of("sign-up-email-taken"))
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
            keys::Error::Deleted { .. } => conflict(text::of("keys-retired-before")),
            keys::Error::Unknown(_) => Self::new(StatusCode::NOT_FOUND, &text::of("keys-unknown")),
            keys::Error::ClockDiffers(_) => Self::unavailable(&text::of("keys-clock-differs")),
            keys::Error::AdministratorSignedOut => {
                Self::Final(see_other(&paths::sign_in(Some(paths::ADMIN_KEYS))))
            }
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
            UserCodeError::Unknown => Self::invalid(&text::of("device-code-unknown")),
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

impl From<email_verifications::Error> for FormError {
    fn from(error: email_verifications::Error) -> Self {
        match error {
            email_verifications::Error::TokenInvalid => {
                Self::Final(verify::invalid_link(StatusCode::UNPROCESSABLE_ENTITY))
            }
            email_verifications::Error::PasswordMissing(_) => {
                Self::invalid(&text::of("verify-password-missing"))
            }
            email_verifications::Error::Credentials(login::Error::WrongCredentials) => {
                verify::wrong_password()
            }
            email_verifications::Error::Credentials(error) => reauthentication::error(error, paths::ACCOUNT),
            email_verifications::Error::EmailTaken => {
                Self::Final(pages::error(StatusCode::CONFLICT, &text::of("verify-taken")))
            }
            email_verifications::Error::Database(error) => Error::from(error).into(),
        }
    }
}

impl From<password_resets::Error> for FormError {
    fn from(error: password_resets::Error) -> Self {
        match error {
            password_resets::Error::TokenInvalid => {
                Self::Final(reset::invalid_link(StatusCode::UNPROCESSABLE_ENTITY))
            }
            password_resets::Error::Flawed(flaw) => flaw.into(),
            password_resets::Error::Passwords(error) => error.into(),
            password_resets::Error::Database(error) => Error::from(error).into(),
        }
    }
}
