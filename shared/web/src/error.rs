//! Errors: their codes, and what each is on the wire.
//!
//! A handler gives an [`Error`]; [`request_log`] writes the body, because only there the
//! correlation id is known, and does the same for the errors that the framework makes itself.

pub(crate) mod body;
mod conversions;
mod security_events;

pub use security_events::record_security_events;

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::any::Any;
use std::borrow::Cow;
use std::time::Duration;
use utoipa::ToSchema;

/// Every `code` of an error body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    /// Nobody is signed in.
    Unauthenticated,
    /// The access token is not accepted (RFC 6750 §3.1).
    InvalidToken,
    /// The access token lacks a scope (RFC 6750 §3.1).
    InsufficientScope,
    /// Not theirs to do.
    Forbidden,
    /// The anti-forgery token is missing or wrong.
    CsrfMismatch,
    /// A one-time code is missing or wrong.
    MfaRequired,
    /// The session may do nothing but choose another password.
    PasswordChangeRequired,
    /// No such thing, or not for this caller's eyes.
    NotFound,
    /// The path exists, the method does not.
    MethodNotAllowed,
    /// The request took too long to arrive.
    RequestTimeout,
    /// An account with this e-mail exists.
    EmailTaken,
    /// The payment is past the state that this move begins from.
    PaymentStateConflict,
    /// The header `Idempotency-Key` is missing.
    IdempotencyKeyMissing,
    /// The header `Idempotency-Key` holds no key.
    IdempotencyKeyInvalid,
    /// The key came before, with another body.
    IdempotencyKeyReused,
    /// The first call with this key is not done yet.
    IdempotencyInProgress,
    /// `If-Match` does not match (RFC 9110 §13.1.1).
    PreconditionFailed,
    /// `If-Match` is missing (RFC 6585 §3).
    PreconditionRequired,
    /// The body is over its limit.
    PayloadTooLarge,
    /// The body is not sent as JSON.
    UnsupportedMediaType,
    /// The body is not JSON.
    MalformedJson,
    /// JSON, but not what is asked for.
    ValidationFailed,
    /// The token of a mailed link is not good.
    ResetTokenInvalid,
    /// Too many failed sign-ins.
    LoginLocked,
    /// Too many requests (RFC 6585 §4).
    RateLimited,
    /// Something this service needs does not answer.
    DependencyUnavailable,
    /// A bug.
    InternalError,
}

impl Code {
    /// Every code, in the order of the documentation.
    pub(crate) const ALL: [Self; 27] = [
        Self::Unauthenticated,
        Self::InvalidToken,
        Self::InsufficientScope,
        Self::Forbidden,
        Self::CsrfMismatch,
        Self::MfaRequired,
        Self::PasswordChangeRequired,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::RequestTimeout,
        Self::EmailTaken,
        Self::PaymentStateConflict,
        Self::IdempotencyKeyMissing,
        Self::IdempotencyKeyInvalid,
        Self::IdempotencyKeyReused,
        Self::IdempotencyInProgress,
        Self::PreconditionFailed,
        Self::PreconditionRequired,
        Self::PayloadTooLarge,
        Self::UnsupportedMediaType,
        Self::MalformedJson,
        Self::ValidationFailed,
        Self::ResetTokenInvalid,
        Self::LoginLocked,
        Self::RateLimited,
        Self::DependencyUnavailable,
        Self::InternalError,
    ];

    /// Returns the `code` member of the error body.
    pub(crate) const fn name(self) -> &'static str {
        self.wire().1
    }

    /// Returns the status code and the `code` member of the error body.
    pub(crate) const fn wire(self) -> (StatusCode, &'static str) {
        match self {
            Self::Unauthenticated => (StatusCode::UNAUTHORIZED, "unauthenticated"),
            Self::InvalidToken => (StatusCode::UNAUTHORIZED, "invalid_token"),
            Self::InsufficientScope => (StatusCode::FORBIDDEN, "insufficient_scope"),
            Self::Forbidden => (StatusCode::FORBIDDEN, "forbidden"),
            Self::CsrfMismatch => (StatusCode::FORBIDDEN, "csrf_mismatch"),
            Self::MfaRequired => (StatusCode::FORBIDDEN, "mfa_required"),
            Self::PasswordChangeRequired => (StatusCode::FORBIDDEN, "password_change_required"),
            Self::NotFound => (StatusCode::NOT_FOUND, "not_found"),
            Self::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
            Self::RequestTimeout => (StatusCode::REQUEST_TIMEOUT, "request_timeout"),
            Self::EmailTaken => (StatusCode::CONFLICT, "email_taken"),
            Self::PaymentStateConflict => (StatusCode::CONFLICT, "payment_state_conflict"),
            Self::IdempotencyKeyMissing => (StatusCode::BAD_REQUEST, "idempotency_key_missing"),
            Self::IdempotencyKeyInvalid => (StatusCode::BAD_REQUEST, "idempotency_key_invalid"),
            Self::IdempotencyKeyReused => (StatusCode::UNPROCESSABLE_ENTITY, "idempotency_key_reused"),
            Self::IdempotencyInProgress => (StatusCode::CONFLICT, "idempotency_in_progress"),
            Self::PreconditionFailed => (StatusCode::PRECONDITION_FAILED, "precondition_failed"),
            Self::PreconditionRequired => (StatusCode::PRECONDITION_REQUIRED, "precondition_required"),
            Self::PayloadTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "payload_too_large"),
            Self::UnsupportedMediaType => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type"),
            Self::MalformedJson => (StatusCode::BAD_REQUEST, "malformed_json"),
            Self::ValidationFailed => (StatusCode::UNPROCESSABLE_ENTITY, "validation_failed"),
            Self::ResetTokenInvalid => (StatusCode::UNPROCESSABLE_ENTITY, "reset_token_invalid"),
            Self::LoginLocked => (StatusCode::TOO_MANY_REQUESTS, "login_locked"),
            Self::RateLimited => (StatusCode::TOO_MANY_REQUESTS, "rate_limited"),
            Self::DependencyUnavailable => (StatusCode::SERVICE_UNAVAILABLE, "dependency_unavailable"),
            Self::InternalError => (StatusCode::INTERNAL_SERVER_ERROR, "internal_error"),
        }
    }

    /// Whether the body is a problem (RFC 9457) whatever the caller asked for: so are those of idempotency
    /// keys (draft-ietf-httpapi-idempotency-key-header §2.7).
    pub(crate) const fn is_problem(self) -> bool {
        matches!(
            self,
            Self::IdempotencyKeyMissing
                | Self::IdempotencyKeyInvalid
                | Self::IdempotencyKeyReused
                | Self::IdempotencyInProgress
        )
    }
}

/// What is wrong with one member of a body.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct FieldError {
    /// Where: a JSON pointer (RFC 6901).
    pub pointer: String,
    /// What, for programs.
    pub code: &'static str,
    /// What, for people.
    pub message: String,
}

/// An error answer. Made into a response, it carries itself as an extension for `request_log` to write.
#[derive(Clone, Debug)]
pub struct Error {
    code: Code,
    status: StatusCode,
    message: Cow<'static, str>,
    errors: Vec<FieldError>,
    headers: Vec<(HeaderName, HeaderValue)>,
    user_id: Option<i64>,
    client_id: Option<String>,
}

/// Marks a response whose body is meant to be empty (a refused login).
#[derive(Clone, Copy, Debug)]
pub struct BodyMeant;

impl Error {
    /// An error of this code; the message says what to do about it.
    pub fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            status: code.wire().0,
            message: message.into(),
            errors: Vec::new(),
            headers: Vec::new(),
            user_id: None,
            client_id: None,
        }
    }

    /// 404: no such thing, said in the same words whatever the reason.
    pub fn not_found() -> Self {
        Self::new(Code::NotFound, "There is nothing here.")
    }

    /// 422: these members are wrong.
    pub fn validation(errors: Vec<FieldError>) -> Self {
        let message = match errors.as_slice() {
            [one] => format!("The body is not valid: {} {}.", one.pointer, one.message),
            many => format!(
                "The body is not valid: {} members are wrong, see errors.",
                many.len()
            ),
        };
        Self {
            errors,
            ..Self::new(Code::ValidationFailed, message)
        }
    }

    /// 422: this member is not what the account knows.
    pub fn not_the_accounts(member: &str, what: &str) -> Self {
        Self::validation(vec![FieldError {
            pointer: format!("/{member}"),
            code: "invalid",
            message: format!("is not {what}"),
        }])
    }

    /// 500: logs the cause, which the caller is not told.
    pub fn internal(cause: &dyn std::fmt::Display) -> Self {
        tracing::error!(%cause, "internal error");
        Self::new(
            Code::InternalError,
            "Something went wrong on our side. The correlation id finds it in our log.",
        )
    }

    /// 503: logs the cause.
    pub fn unavailable(cause: &dyn std::fmt::Display) -> Self {
        tracing::error!(%cause, "a dependency is unavailable");
        Self::new(
            Code::DependencyUnavailable,
            "A part of the service does not answer. Try again in a moment.",
        )
        .retry_after(Duration::from_secs(1))
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.push((name, value));
        }
        self
    }

    /// Adds `Retry-After`, in whole seconds and at least one.
    #[must_use]
    pub fn retry_after(self, length: Duration) -> Self {
        self.header(header::RETRY_AFTER, &retry_after(length))
    }

    /// Uses another status than the code's own.
    #[must_use]
    pub fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// Says whose request it was, for the security event.
    #[must_use]
    pub fn by(mut self, user_id: Option<i64>, client_id: Option<&str>) -> Self {
        self.user_id = user_id;
        self.client_id = client_id.map(str::to_owned);
        self
    }

    /// The code.
    pub const fn code(&self) -> Code {
        self.code
    }

    /// What a status of the framework's own making means.
    pub(crate) fn of_status(status: StatusCode) -> Self {
        let error = match status {
            StatusCode::NOT_FOUND => Self::not_found(),
            StatusCode::METHOD_NOT_ALLOWED => Self::new(
                Code::MethodNotAllowed,
                "This path has other methods: see the Allow header.",
            ),
            StatusCode::PAYLOAD_TOO_LARGE => Self::new(Code::PayloadTooLarge, "The body is too large."),
            StatusCode::UNSUPPORTED_MEDIA_TYPE => Self::new(
                Code::UnsupportedMediaType,
                "The body's media type is not supported.",
            ),
            StatusCode::SERVICE_UNAVAILABLE => Self::new(
                Code::DependencyUnavailable,
                "The service is busy. Try again in a moment.",
            )
            .retry_after(Duration::from_secs(1)),
            status if status.is_client_error() => {
                Self::new(Code::MalformedJson, "The request could not be read.")
            }
            _ => Self::internal(&status),
        };
        error.status(status)
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        for (name, value) in &self.headers {
            response.headers_mut().append(name, value.clone());
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// A length of time as `Retry-After` writes it: whole seconds, rounded up, at least one.
pub fn retry_after(length: Duration) -> String {
    let seconds = length.as_secs() + u64::from(length.subsec_nanos() > 0);
    seconds.max(1).to_string()
}

/// A panic in a handler: a 500 like any other.
#[allow(clippy::needless_pass_by_value, reason = "the signature is tower-http's")]
pub(crate) fn from_panic(cause: Box<dyn Any + Send>) -> Response {
    let cause = cause
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| cause.downcast_ref::<&str>().copied())
        .unwrap_or("unknown");
    Error::internal(&format!("panic: {cause}")).into_response()
}
