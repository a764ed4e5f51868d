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
        let code = Code::named(name)?;
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
        message: code.description(),
        correlation_id: EXAMPLE_CORRELATION_ID,
        errors: if code == Code::ValidationFailed {
            &field_errors
        } else {
            &[]
        },
    };
    let example = |value: serde_json::Result<Value>| {
        let example = ExampleBuilder::new().summary(code.description());
        example.value(value.ok()).build()
    };
    let error = example(serde_json::to_value(body()));
    let problem = example(serde_json::to_value(ProblemDetails::new(status, body())));
    let mut response = ResponseBuilder::new()
        .description(format!("`{name}`: {}", code.description()))
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
