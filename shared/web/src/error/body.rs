//! The error body: `{code, message, correlationId}`, and `errors` if members of the request body are invalid.
//! A caller that accepts `application/problem+json` at least as much as JSON gets the same members within
//! problem details (RFC 9457).

use crate::content_negotiation::prefers_to_json;
use crate::error::{Error, FieldError};
use axum::http::{HeaderMap, StatusCode};
use serde::Serialize;
use utoipa::ToSchema;

pub(crate) const JSON: &str = "application/json";
pub(crate) const PROBLEM: &str = "application/problem+json";

/// The format of an error body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorFormat {
    /// `application/json`
    Json,
    /// `application/problem+json`
    Problem,
}

/// The error body.
#[derive(Serialize, ToSchema)]
#[schema(as = Error)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ErrorBody<'a> {
    /// The error code, for programs.
    pub(crate) code: &'a str,
    /// The error and what to do about it, for people.
    pub(crate) message: &'a str,
    /// The trace id of the request, which identifies it in the log. Also sent as `X-Correlation-Id`.
    pub(crate) correlation_id: &'a str,
    /// The invalid members of the request body.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(required = false)]
    pub(crate) errors: &'a [FieldError],
}

/// Problem details (RFC 9457 §3.1), with the members of the error body as extensions.
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemDetails<'a> {
    /// The problem type, a URN.
    r#type: String,
    /// The problem type in words, the same for every occurrence.
    title: String,
    /// The status code.
    status: u16,
    /// The error and what to do about it, the same text as `message`.
    detail: &'a str,
    #[serde(flatten)]
    body: ErrorBody<'a>,
}

impl<'a> ProblemDetails<'a> {
    /// Creates the problem details of an error body.
    pub(crate) fn new(status: StatusCode, body: ErrorBody<'a>) -> Self {
        Self {
            r#type: format!("urn:problem-type:latchkey:{}", body.code),
            title: title(body.code),
            status: status.as_u16(),
            detail: body.message,
            body,
        }
    }
}

impl ErrorFormat {
    /// Reads `Accept`. Returns `Problem` if the caller lists its media type with at least the weight of JSON.
    pub(crate) fn negotiate(headers: &HeaderMap) -> Self {
        match prefers_to_json(headers, PROBLEM) {
            true => Self::Problem,
            false => Self::Json,
        }
    }

    /// Returns the media type.
    pub(crate) const fn media_type(self) -> &'static str {
        match self {
            Self::Json => JSON,
            Self::Problem => PROBLEM,
        }
    }
}

impl Error {
    /// Returns the serialized error body.
    pub(crate) fn body(&self, format: ErrorFormat, correlation_id: &str) -> Vec<u8> {
        let body = ErrorBody {
            code: self.code.name(),
            message: &self.message,
            correlation_id,
            errors: &self.errors,
        };
        let serialized = match format {
            ErrorFormat::Json => serde_json::to_vec(&body),
            ErrorFormat::Problem => serde_json::to_vec(&ProblemDetails::new(self.status, body)),
        };
        serialized.unwrap_or_default()
    }
}

/// Returns the title of a problem type: the code in words (RFC 9457 §3.1.3).
fn title(code: &str) -> String {
    let words = code.replace('_', " ");
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::header;
    use proptest::prelude::*;

    fn negotiated(accept: &str) -> ErrorFormat {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, accept.parse().unwrap());
        ErrorFormat::negotiate(&headers)
    }

    #[test]
    fn problem_details_are_sent_if_accepted_at_least_as_much_as_json() {
        for accept in [
            "application/problem+json",
            "APPLICATION/Problem+JSON",
            "application/problem+json; charset=utf-8",
            "application/json, application/problem+json",
            "application/problem+json;q=0.5, */*;q=0.1",
            "application/problem+json, application/json;q=0.9",
            r#"text/html;x="a,b", application/problem+json"#,
            "application/problem+json;q=0.2, application/json;q=0, */*",
        ] {
            assert_eq!(negotiated(accept), ErrorFormat::Problem, "{accept}");
        }
        for accept in [
            "",
            "*/*",
            "application/*",
            "application/json",
            "application/problem+json;q=0",
            "application/problem+json;q=0.000",
            "application/problem+json;q=0.5, application/json",
            "application/problem+json;q=0.5, */*",
            "application/problem+json;q=2",
            "application/problem+json;q=0.1234",
            "application/problem+xml",
            r#"text/html;x="a, application/problem+json""#,
        ] {
            assert_eq!(negotiated(accept), ErrorFormat::Json, "{accept}");
        }
        assert_eq!(ErrorFormat::negotiate(&HeaderMap::new()), ErrorFormat::Json);
    }

    proptest! {
        #[test]
        fn any_accept_header_is_handled(accept in r"(application/problem\+json|[ -~]){0,16}") {
            let _ = negotiated(&accept);
        }
    }

    #[test]
    fn a_title_is_the_code_in_words() {
        assert_eq!(title("not_found"), "Not found");
    }
}
