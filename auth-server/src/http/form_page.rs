//! Pages with a form: shown first, and shown again with an error message.

mod errors;

pub(super) use errors::flaw_in_words;

use crate::pages::text::{self, Text};
use crate::pages::{self, Field, FormState};
use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use identity::sessions::Session;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use web::error::retry_after;
use web::{Policy, cookies, csrf};

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
    /// Shows the page to the user of this session. Its forms have no effect if another user is signed in when
    /// they are submitted.
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
            reason: None,
            wrong_field: None,
        });
        (cookies::header_of(self.cookie), html).into_response()
    }

    /// Returns the page with its form again, with the status and the message of a correctable error. Returns
    /// the response of a final error instead.
    pub(crate) fn show_again(
        self,
        error: FormError,
        page: impl FnOnce(FormState<'_>) -> Response,
    ) -> Response {
        let correctable = match error {
            FormError::Correctable(correctable) => correctable,
            FormError::Final(response) => return response,
        };
        pages::show_form_again();
        let html = page(FormState {
            csrf: &self.csrf,
            user: self.user,
            error: Some(&correctable.message),
            reason: correctable.reason.as_deref(),
            wrong_field: correctable.field,
        });
        let mut response = (correctable.status, cookies::header_of(self.cookie), html).into_response();
        let delay = correctable.retry_after.map(retry_after);
        if let Some(Ok(delay)) = delay.map(HeaderValue::try_from) {
            response.headers_mut().insert(header::RETRY_AFTER, delay);
        }
        response
    }
}

/// Returns the error of a form whose e-mail address is malformed.
pub(super) fn email_invalid() -> FormError {
    FormError::invalid(&text::of("email-invalid")).about(Field::Email)
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
    /// The reason in English, which follows the message.
    reason: Option<String>,
    /// The field that the user has to correct, if it is one.
    field: Option<Field>,
    /// The delay before a retry makes sense.
    retry_after: Option<Duration>,
}

impl FormError {
    /// Shows the form again with this status and message.
    pub(crate) fn new(status: StatusCode, message: &Text<'_>) -> Self {
        Self::Correctable(Correctable {
            status,
            message: message.plain(),
            reason: None,
            field: None,
            retry_after: None,
        })
    }

    /// Names the field that the user has to correct.
    pub(crate) fn about(mut self, field: Field) -> Self {
        if let Self::Correctable(correctable) = &mut self {
            correctable.field = Some(field);
        }
        self
    }

    /// Names the reason in English, which follows the message.
    fn because(mut self, reason: String) -> Self {
        if let Self::Correctable(correctable) = &mut self {
            correctable.reason = Some(reason);
        }
        self
    }

    /// Names the delay before a retry makes sense.
    fn after(mut self, delay: Duration) -> Self {
        if let Self::Correctable(correctable) = &mut self {
            correctable.retry_after = Some(delay);
        }
        self
    }

    /// 422: the input is invalid.
    pub(crate) fn invalid(message: &Text<'_>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// 429: a limit was reached. The argument `wait` of the message is the time until a retry makes sense.
    fn too_many(message: Text<'_>, retry_after: Duration) -> Self {
        let message = message.with("wait", text::duration(retry_after));
        Self::new(StatusCode::TOO_MANY_REQUESTS, &message).after(retry_after)
    }

    /// 503: a retry in a moment may succeed.
    pub(super) fn unavailable(message: &Text<'_>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, message).after(RETRY_DELAY)
    }
}
