//! The documented error responses. Each extractor declares the errors of its rejection by
//! [`error_responses!`](crate::error_responses). A handler lists its extractors among its responses, and its
//! own errors as types of the module [`code`].

use crate::error::body::{ErrorBody, JSON, PROBLEM, ProblemDetails};
use crate::error::{Code, FieldError};
use crate::openapi::headers;
use crate::openapi::operations::operations_mut;
use axum::http::StatusCode;
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::openapi::example::{Example, ExampleBuilder};
use utoipa::openapi::{Content, ContentBuilder, OpenApi, Ref, RefOr, Response, ResponseBuilder};

/// The correlation id in examples.
const EXAMPLE_CORRELATION_ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// Implements `utoipa::IntoResponses` for extractors from the error codes of their rejections, as in
/// `error_responses!(PathId: NotFound; Author: Unauthenticated, Forbidden;);`.
#[macro_export]
macro_rules! error_responses {
    ($($extractor:ty: $($code:ident),+;)+) => { $(
        impl utoipa::IntoResponses for $extractor {
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
        /// A type for each error code that handlers list among their responses.
        pub mod code {
            $(
                #[doc = concat!("The documented response of `", stringify!($code), "`.")]
                #[derive(Debug)]
                pub struct $code;
                $crate::error_responses!($code: $code;);
            )+
        }
    };
}

codes!(
    ClientIdTaken,
    CsrfMismatch,
    EmailTaken,
    Forbidden,
    InsufficientScope,
    KeyStateConflict,
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
    StorageQuotaExceeded,
    UnsupportedMediaType,
    ValidationFailed,
);

/// The key of an error response while routes are collected. Several errors of one operation can share a
/// status code, so the status alone does not identify a response. The text form, such as `403 csrf_mismatch`,
/// takes the place of the status code in utoipa's map of responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ErrorKey {
    pub(crate) status: StatusCode,
    pub(crate) code: Code,
}

impl ErrorKey {
    /// Parses a key. Returns `None` for a plain status code, which is the key of any other response.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (status, name) = text.split_once(' ')?;
        let status = status.parse().ok()?;
        let code = Code::ALL.into_iter().find(|code| code.name() == name)?;
        Some(Self { status, code })
    }

    /// Returns the text form of the key with an empty response. The documented one takes its place when the
    /// document is built, because the responses of all operations would take a third of the processor time of
    /// a start.
    fn undescribed(self) -> (String, RefOr<Response>) {
        let key = format!("{} {}", self.status.as_u16(), self.code.name());
        (key, Response::default().into())
    }

    /// Returns the documented response.
    pub(crate) fn response(self) -> Response {
        error_response(self.code, self.status)
    }
}

/// Returns the responses of these error codes by the text form of their `ErrorKey`. They are described when
/// the document is built.
pub fn error_responses(codes: &[Code]) -> BTreeMap<String, RefOr<Response>> {
    let mut responses = BTreeMap::new();
    for &code in codes {
        let status = code.status();
        responses.extend([ErrorKey { status, code }.undescribed()]);
        if code == Code::InvalidToken {
            // A repeated Authorization header is answered with 400 (RFC 6750 §3.1).
            let status = StatusCode::BAD_REQUEST;
            responses.extend([ErrorKey { status, code }.undescribed()]);
            // Wherever an access token is accepted, it may be one that is bound to a key (RFC 9449 §7.1).
            responses.extend(error_responses(&[Code::InvalidDpopProof, Code::UseDpopNonce]));
        }
    }
    responses
}

/// Adds the responses of these error codes to every operation of the document.
pub(crate) fn add_to_operations(document: &mut OpenApi, codes: &[Code]) {
    for (_, operation) in operations_mut(&mut document.paths) {
        operation.responses.responses.extend(error_responses(codes));
    }
}

/// Returns the documented response of an error code with this status: description, examples and headers.
fn error_response(code: Code, status: StatusCode) -> Response {
    let name = code.name();
    let field_error = FieldError {
        pointer: "/title".to_owned(),
        code: "required",
        message: "is required".to_owned(),
    };
    let field_errors = [field_error];
    let body = || ErrorBody {
        code: name,
        message: description(code),
        correlation_id: EXAMPLE_CORRELATION_ID,
        errors: if code == Code::ValidationFailed {
            &field_errors
        } else {
            &[]
        },
    };
    let example = |value: serde_json::Result<Value>| {
        let example = ExampleBuilder::new().summary(description(code));
        example.value(value.ok()).build()
    };
    let error = example(serde_json::to_value(body()));
    let problem = example(serde_json::to_value(ProblemDetails::new(status, body())));
    let mut response = ResponseBuilder::new()
        .description(format!("`{name}`: {}", description(code)))
        .content(PROBLEM, content("Problem", name, problem))
        .build();
    if !code.is_problem() {
        let error = content("Error", name, error);
        response.content.insert(JSON.to_owned(), error.into());
    }
    let headers: &[&str] = match (status, code) {
        (_, Code::RateLimited) => &["Retry-After", "RateLimit", "RateLimit-Policy"],
        (_, Code::UseDpopNonce) => &["WWW-Authenticate", "DPoP-Nonce"],
        (_, Code::InsufficientScope) | (StatusCode::UNAUTHORIZED, _) => &["WWW-Authenticate"],
        (
            _,
            Code::LoginLocked
            | Code::DependencyUnavailable
            | Code::IdempotencyInProgress
            | Code::KeyStateConflict,
        ) => &["Retry-After"],
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

/// Returns the description of an error code in the OpenAPI document.
const fn description(code: Code) -> &'static str {
    match code {
        Code::Unauthenticated => "The request is not authenticated.",
        Code::InvalidToken => "The access token is invalid or expired, or the request has more than one.",
        Code::InvalidDpopProof => "The DPoP proof is missing or used, or does not belong to the request.",
        Code::UseDpopNonce => "The DPoP proof needs the nonce of the header DPoP-Nonce.",
        Code::InsufficientScope => "The access token, or the role of its user, lacks a required scope.",
        Code::Forbidden => "The caller is not allowed to do this.",
        Code::CsrfMismatch => "The anti-forgery token is missing or wrong, or the origin is not allowed.",
        Code::MfaRequired => "A one-time code is required, and it is missing or wrong.",
        Code::PasswordChangeRequired => "The user must choose a new password before doing anything else.",
        Code::NotFound => "The resource does not exist, or the caller may not see it.",
        Code::MethodNotAllowed => "The path does not support the method.",
        Code::RequestTimeout => "The body took too long to arrive.",
        Code::EmailTaken => "Another account has this e-mail address.",
        Code::ClientIdTaken => "Another client has this id.",
        Code::PaymentStateConflict => "The payment is not in a state that allows this operation.",
        Code::KeyStateConflict => {
            "The state of the signing key does not allow this operation yet, or no more."
        }
        Code::IdempotencyKeyMissing => "The header Idempotency-Key is missing.",
        Code::IdempotencyKeyInvalid => "The header Idempotency-Key is malformed or repeated.",
        Code::IdempotencyKeyReused => "The idempotency key was used before, with a different body.",
        Code::IdempotencyInProgress => "The first request with this idempotency key is still in progress.",
        Code::PreconditionFailed => "If-Match does not match the current version.",
        Code::PreconditionRequired => "If-Match is missing.",
        Code::PayloadTooLarge => "The body is larger than the limit.",
        Code::UnsupportedMediaType => "The media type or the content coding of the body is not supported.",
        Code::MalformedJson => "The body is not valid JSON.",
        Code::ValidationFailed => "The body is JSON, but it breaks the rules of the operation.",
        Code::ResetTokenInvalid => {
            "The token of the mailed link is unknown, used or expired, or a newer one replaced it."
        }
        Code::LoginLocked => "Sign-in is locked after too many failed attempts.",
        Code::RateLimited => "The caller sent too many requests within a minute.",
        Code::DependencyUnavailable => "A dependency of the service does not answer.",
        Code::StorageFull => "The disk of the service is full.",
        Code::StorageQuotaExceeded => "The owner of the resource would store more than each user may.",
        Code::InternalError => "The server failed to handle the request.",
    }
}
