//! Pages with a form: shown first, and shown again with an error message.

use crate::pages::{self, FormState};
use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use identity::{login, mail_throttle, password_resets, passwords};
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
}

impl<S: Send + Sync> FromRequestParts<S> for FormRenderer
where
    Arc<Policy>: FromRef<S>,
{
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let (csrf, cookie) = csrf::token(&parts.headers, &Arc::<Policy>::from_ref(state));
        Ok(Self { csrf, cookie })
    }
}

impl FormRenderer {
    /// Returns the page with its form and no error message.
    pub(crate) fn show(self, page: impl FnOnce(FormState<'_>) -> Response) -> Response {
        let html = page(FormState {
            csrf: &self.csrf,
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
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self::Correctable(Correctable {
            status,
            message: message.into(),
            retry_after: None,
        })
    }

    /// 422: the input is invalid.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// 429: a limit was reached.
    fn too_many(message: String, retry_after: Duration) -> Self {
        Self::Correctable(Correctable {
            status: StatusCode::TOO_MANY_REQUESTS,
            message,
            retry_after: Some(retry_after),
        })
    }

    /// 503: a retry in a moment may succeed.
    fn unavailable(message: &str) -> Self {
        Self::Correctable(Correctable {
            status: StatusCode::SERVICE_UNAVAILABLE,
            message: message.to_owned(),
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
        let unauthorized = |message: &str| Self::new(StatusCode::UNAUTHORIZED, message);
        match error {
            login::Error::WrongCredentials => unauthorized("The e-mail or the password is wrong."),
            login::Error::CodeMissing => unauthorized(
                "Enter your password again, and the code from your authenticator app or a recovery code.",
            ),
            login::Error::WrongCode => unauthorized("The one-time code is wrong or was used already."),
            login::Error::SignedOut => unauthorized("You were signed out. Sign in again."),
            login::Error::CaptchaRequired => Self::invalid("Solve the captcha to continue."),
            login::Error::Locked { retry_after } => {
                Self::too_many(format!("Sign-in is blocked: {error}."), retry_after)
            }
            login::Error::StoreUnavailable(_) | login::Error::CaptchaUnavailable(_) => {
                tracing::error!(%error, "sign-in unavailable");
                Self::unavailable("Sign-in is not possible right now. Try again in a moment.")
            }
            login::Error::Passwords(error) => error.into(),
            login::Error::Seed(_) | login::Error::Database(_) => Error::from(error).into(),
        }
    }
}

impl From<passwords::Error> for FormError {
    fn from(error: passwords::Error) -> Self {
        match error {
            passwords::Error::Overloaded => {
                Self::unavailable("Many people are signing in right now. Try again in a moment.")
            }
            passwords::Error::Failed(_) => Error::from(error).into(),
        }
    }
}

impl From<mail_throttle::MailThrottled> for FormError {
    fn from(error: mail_throttle::MailThrottled) -> Self {
        match error {
            mail_throttle::MailThrottled::TooMany { retry_after } => {
                Self::too_many(format!("No mail was sent: {error}."), retry_after)
            }
            mail_throttle::MailThrottled::StoreUnavailable(error) => {
                tracing::error!(%error, "mail limits unavailable");
                Self::unavailable("No mail can be sent right now. Try again in a moment.")
            }
            mail_throttle::MailThrottled::Database(error) => Error::from(error).into(),
        }
    }
}

impl From<password_resets::Error> for FormError {
    fn from(error: password_resets::Error) -> Self {
        match error {
            password_resets::Error::TokenInvalid => {
                Self::Final(pages::invalid_link(StatusCode::UNPROCESSABLE_ENTITY))
            }
            password_resets::Error::Passwords(error) => error.into(),
            password_resets::Error::Database(error) => Error::from(error).into(),
        }
    }
}
