//! Errors in the document. Extractors say what they refuse with, by [`refuses!`](crate::error_responses); a handler
//! names its extractors and, from [`code`], what it refuses with itself.

use crate::error::body::{Body, JSON, PROBLEM, Problem};
use crate::error::{Code, FieldError};
use crate::openapi::headers;
use axum::http::StatusCode;
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::openapi::example::{Example, ExampleBuilder};
use utoipa::openapi::{Content, ContentBuilder, OpenApi, Ref, RefOr, Response, ResponseBuilder};

/// The correlation id of examples.
const CORRELATION_ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// Says what extractors refuse with, so that operations can name them among their responses.
#[macro_export]
macro_rules! error_responses {
    ($($who:ty: $($code:ident),+;)+) => { $(
        impl utoipa::IntoResponses for $who {
            fn responses() -> std::collections::BTreeMap<
                String,
                utoipa::openapi::RefOr<utoipa::openapi::Response>,
            > {
                $crate::openapi::error_responses(&[$($crate::Code::$code),+])
            }
        }
    )+ };
}

macro_rules! codes {
    ($($code:ident),+ $(,)?) => {
        /// Codes as types, for handlers to name.
        pub mod code {
            $(
                #[doc = concat!("An operation may answer `", stringify!($code), "`.")]
                #[derive(Debug)]
                pub struct $code;
                $crate::error_responses!($code: $code;);
            )+
        }
    };
}

codes!(
    EmailTaken,
    Forbidden,
    InsufficientScope,
    LoginLocked,
    MalformedJson,
    MfaRequired,
    NotFound,
    PayloadTooLarge,
    PaymentStateConflict,
    PreconditionFailed,
    PreconditionRequired,
    RequestTimeout,
    ResetTokenInvalid,
    UnsupportedMediaType,
    ValidationFailed,
);

/// The key of an error response while routes are collected: several errors of one operation can share a status code, so
/// the status alone does not identify a response. Written as `403 csrf_mismatch`, which is the key that utoipa carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ErrorKey {
    pub(crate) status: StatusCode,
    pub(crate) code: Code,
}

impl ErrorKey {
    /// Parses a key; `None` for the status code of a response that is no error of the common form.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (status, name) = text.split_once(' ')?;
        let status = status.parse().ok()?;
        let code = Code::ALL.into_iter().find(|code| code.name() == name)?;
        Some(Self { status, code })
    }

    fn response(self) -> (String, RefOr<Response>) {
        let key = format!("{} {}", self.status.as_u16(), self.code.name());
        (key, error_response(self.code, self.status).into())
    }
}

/// Returns the documented responses of these error codes, keyed by [`ErrorKey`].
pub fn error_responses(codes: &[Code]) -> BTreeMap<String, RefOr<Response>> {
    let mut responses = BTreeMap::new();
    for &code in codes {
        let (status, _) = code.wire();
        responses.extend([ErrorKey { status, code }.response()]);
        if code == Code::InvalidToken {
            // A second Authorization header is refused with 400 (RFC 6750 §3.1).
            let status = StatusCode::BAD_REQUEST;
            responses.extend([ErrorKey { status, code }.response()]);
        }
    }
    responses
}

/// Adds the documented responses of these error codes to every operation of the document.
pub(crate) fn add_to_operations(document: &mut OpenApi, codes: &[Code]) {
    for item in document.paths.paths.values_mut() {
        let operations = [
            &mut item.get,
            &mut item.post,
            &mut item.put,
            &mut item.patch,
            &mut item.delete,
        ];
        for operation in operations.into_iter().flatten() {
            operation.responses.responses.extend(error_responses(codes));
        }
    }
}

fn error_response(code: Code, status: StatusCode) -> Response {
    let (_, name) = code.wire();
    let fault = FieldError {
        pointer: "/title".to_owned(),
        code: "required",
        message: "is required".to_owned(),
    };
    let faults = [fault];
    let body = || Body {
        code: name,
        message: explanation(code),
        correlation_id: CORRELATION_ID,
        errors: if code == Code::ValidationFailed {
            &faults
        } else {
            &[]
        },
    };
    let example = |value: serde_json::Result<Value>| {
        let example = ExampleBuilder::new().summary(explanation(code));
        example.value(value.ok()).build()
    };
    let error = example(serde_json::to_value(body()));
    let problem = example(serde_json::to_value(Problem::new(status, body())));
    let mut response = ResponseBuilder::new()
        .description(format!("`{name}`: {}", explanation(code)))
        .content(PROBLEM, content("Problem", name, problem))
        .build();
    if !code.is_problem() {
        let error = content("Error", name, error);
        response.content.insert(JSON.to_owned(), error.into());
    }
    let headers: &[&str] = match (status, code) {
        (_, Code::RateLimited) => &["Retry-After", "RateLimit", "RateLimit-Policy"],
        (_, Code::InsufficientScope) | (StatusCode::UNAUTHORIZED, _) => &["WWW-Authenticate"],
        (_, Code::LoginLocked | Code::DependencyUnavailable | Code::IdempotencyInProgress) => {
            &["Retry-After"]
        }
        _ => &[],
    };
    let named = headers.iter();
    response
        .headers
        .extend(named.map(|header| ((*header).to_owned(), headers::reference(header))));
    response
}

fn content(schema: &str, name: &str, example: Example) -> Content {
    ContentBuilder::new()
        .schema(Some(Ref::from_schema_name(schema)))
        .examples_from_iter([(name, example)])
        .build()
}

/// What a code means, for whoever reads the document.
const fn explanation(code: Code) -> &'static str {
    match code {
        Code::Unauthenticated => "Nobody is signed in.",
        Code::InvalidToken => "The access token is not accepted, or there are two of them.",
        Code::InsufficientScope => "The access token, or its user's role, lacks a scope.",
        Code::Forbidden => "The caller may not do this.",
        Code::CsrfMismatch => "The anti-forgery token is missing or wrong, or the origin is unknown.",
        Code::MfaRequired => "Sign-in asks for a one-time code too, and it is missing or wrong.",
        Code::PasswordChangeRequired => "The session may do nothing but choose another password.",
        Code::NotFound => "There is no such thing, or it is not for this caller's eyes.",
        Code::MethodNotAllowed => "The path has other methods.",
        Code::RequestTimeout => "The body took too long to arrive.",
        Code::EmailTaken => "An account with this e-mail exists.",
        Code::PaymentStateConflict => "The payment is past the state that this begins from.",
        Code::IdempotencyKeyMissing => "The header Idempotency-Key is missing.",
        Code::IdempotencyKeyInvalid => "The header Idempotency-Key holds no key, or there are two of them.",
        Code::IdempotencyKeyReused => "The idempotency key was used before, with another body.",
        Code::IdempotencyInProgress => "The first call with this idempotency key is still being answered.",
        Code::PreconditionFailed => "If-Match names another version than the present one.",
        Code::PreconditionRequired => "If-Match is missing.",
        Code::PayloadTooLarge => "The body is over its limit.",
        Code::UnsupportedMediaType => "The body is not of the media type that is read here.",
        Code::MalformedJson => "The body is not JSON.",
        Code::ValidationFailed => "The body is JSON, but not what is asked for.",
        Code::ResetTokenInvalid => {
            "The token from the mail is unknown, used, too old, or there is a newer one."
        }
        Code::LoginLocked => "Too many attempts failed.",
        Code::RateLimited => "Too many requests in this minute.",
        Code::DependencyUnavailable => "Something this service needs does not answer.",
        Code::InternalError => "Something went wrong on our side.",
    }
}
