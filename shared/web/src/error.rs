//! The error type of both servers.
//!
//! A handler returns an [`Error`]. The `request_log` middleware writes the body, because only the middleware
//! knows the trace id, and writes the same body for errors that axum and tower create themselves.

pub(crate) mod body;
mod code;
mod conversions;

pub use code::Code;
pub use conversions::reauthentication_error;

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::any::Any;
use std::borrow::Cow;
use std::time::Duration;
use utoipa::ToSchema;

/// An error in one member of a request body.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct FieldError {
    /// The member, as a JSON pointer (RFC 6901).
    pub pointer: String,
    /// The kind of error, for programs.
    pub code: &'static str,
    /// The error, for people. It continues a sentence that begins with the pointer.
    pub message: String,
}

/// An error response. [`IntoResponse`] adds it to the response as an extension, from which the `request_log`
/// middleware writes the body.
#[derive(Clone, Debug)]
pub struct Error {
    code: Code,
    status: StatusCode,
    pub(crate) message: Cow<'static, str>,
    errors: Vec<FieldError>,
    headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) user_id: Option<i64>,
    pub(crate) client_id: Option<String>,
}

/// A response extension that marks an empty body as intended, such as that of a failed login. The
/// `request_log` middleware then adds no error body.
#[derive(Clone, Copy, Debug)]
pub struct IntentionallyEmpty;

impl Error {
    /// Creates an error with the status of its code. The message states the error and its remedy.
    pub fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            status: code.status(),
            message: message.into(),
            errors: Vec::new(),
            headers: Vec::new(),
            user_id: None,
            client_id: None,
        }
    }

    /// Creates a 404. The message is the same for a missing resource and a hidden one.
    pub fn not_found() -> Self {
        Self::new(Code::NotFound, "There is no such resource.")
    }

    /// Creates a 422 that lists the invalid members of the body.
    pub fn validation(errors: Vec<FieldError>) -> Self {
        let message = match errors.as_slice() {
            [one] => format!(
                "The body is not valid: {}.",
                format!("{} {}", one.pointer, one.message).trim_start()
            ),
            many => format!(
                "The body is not valid: {} members are invalid, see errors.",
                many.len()
            ),
        };
        Self {
            errors,
            ..Self::new(Code::ValidationFailed, message)
        }
    }

    /// Creates a 422 for a member that turned out to be invalid after the body was read. The message
    /// continues a sentence that begins with the member.
    pub fn invalid_member(member: &str, message: impl Into<String>) -> Self {
        Self::flawed(&format!("/{member}"), "invalid", message)
    }

    /// Creates a 422 for one flaw, in the part of the body with this JSON pointer.
    pub fn flawed(pointer: &str, code: &'static str, message: impl Into<String>) -> Self {
        Self::validation(vec![FieldError {
            pointer: pointer.to_owned(),
            code,
            message: message.into(),
        }])
    }

    /// Creates a 500 and logs its cause, which the response does not contain.
    pub fn internal(cause: &dyn std::fmt::Display) -> Self {
        tracing::error!(error = %cause, "internal error");
        let message = "The server failed to handle the request. Report the correlation id to the operator.";
        Self::new(Code::InternalError, message)
    }

    /// Creates a 503 and logs its cause, which the response does not contain.
    pub fn unavailable(cause: &dyn std::fmt::Display) -> Self {
        tracing::error!(error = %cause, "a dependency is unavailable");
        Self::dependency_unavailable()
    }

    /// Creates a 503 whose cause is in the log already.
    pub fn dependency_unavailable() -> Self {
        let message = "A part of the service does not answer. Try again in a moment.";
        Self::new(Code::DependencyUnavailable, message).retry_after(Duration::from_secs(1))
    }

    /// Creates a 507 and logs its cause, which the response does not contain. It has no `Retry-After`,
    /// because a client must not repeat the request by itself (RFC 4918 §11.5).
    pub fn storage_full(cause: &dyn std::fmt::Display) -> Self {
        tracing::error!(error = %cause, "the disk is full");
        Self::new(
            Code::StorageFull,
            "The service has no space left. Nothing was changed. Report the correlation id to the operator.",
        )
    }

    /// Adds a header. A value that contains a control character is ignored.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.push((name, value));
        }
        self
    }

    /// Adds a `Retry-After` header.
    #[must_use]
    pub fn retry_after(self, delay: Duration) -> Self {
        self.header(header::RETRY_AFTER, &retry_after(delay))
    }

    /// Sets the status code of the response. The default is that of the error code.
    #[must_use]
    pub fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// Sets the user and the client that sent the request, for the security event.
    #[must_use]
    pub fn with_caller(mut self, user_id: Option<i64>, client_id: Option<&str>) -> Self {
        self.user_id = user_id;
        self.client_id = client_id.map(str::to_owned);
        self
    }

    /// Returns the error code.
    pub const fn code(&self) -> Code {
        self.code
    }

    /// Creates the error for a response that axum or tower created with this status and without a body.
    pub fn from_status(status: StatusCode) -> Self {
        let error = match status {
            StatusCode::NOT_FOUND => Self::not_found(),
            StatusCode::METHOD_NOT_ALLOWED => Self::new(
                Code::MethodNotAllowed,
                "This path does not support the method. The Allow header lists the supported methods.",
            ),
            StatusCode::PAYLOAD_TOO_LARGE => Self::new(Code::PayloadTooLarge, "The body is too large."),
            StatusCode::UNSUPPORTED_MEDIA_TYPE => Self::new(
                Code::UnsupportedMediaType,
                "The media type of the body is not supported.",
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

/// Formats a delay as in `Retry-After`: whole seconds, rounded up, at least one.
pub fn retry_after(delay: Duration) -> String {
    let seconds = delay.as_secs() + u64::from(delay.subsec_nanos() > 0);
    seconds.max(1).to_string()
}

/// Creates the 500 response for a panic in a handler, and logs the panic message.
#[allow(clippy::needless_pass_by_value, reason = "the signature is tower-http's")]
pub(crate) fn from_panic(cause: Box<dyn Any + Send>) -> Response {
    let cause = cause
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| cause.downcast_ref::<&str>().copied())
        .unwrap_or("unknown");
    Error::internal(&format!("panic: {cause}")).into_response()
}
