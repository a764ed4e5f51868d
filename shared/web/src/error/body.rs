//! The one error body: `{code, message, correlationId}`, with `errors` where fields are at fault; and the
//! same as a problem (RFC 9457) for those who ask for one.

use crate::content_negotiation::Preferences;
use crate::error::{Error, FieldError};
use axum::http::{HeaderMap, StatusCode, header};
use serde::Serialize;
use utoipa::ToSchema;

pub(crate) const JSON: &str = "application/json";
pub(crate) const PROBLEM: &str = "application/problem+json";

/// In which form the caller wants errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `application/json`
    Json,
    /// `application/problem+json`
    Problem,
}

/// What every error says.
#[derive(Serialize, ToSchema)]
#[schema(as = Error)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Body<'a> {
    /// What went wrong, for programs.
    pub(crate) code: &'a str,
    /// What went wrong and what to do, for people.
    pub(crate) message: &'a str,
    /// Finds the request in the log; also in `X-Correlation-Id`.
    pub(crate) correlation_id: &'a str,
    /// Which members of the body are at fault.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(required = false)]
    pub(crate) errors: &'a [FieldError],
}

/// The members of RFC 9457 §3.1, and the usual ones beside them.
#[derive(Serialize, ToSchema)]
pub(crate) struct Problem<'a> {
    /// Names the problem.
    r#type: String,
    /// The problem in words, the same at every occurrence.
    title: String,
    /// The status code.
    status: u16,
    /// What went wrong and what to do.
    detail: &'a str,
    #[serde(flatten)]
    body: Body<'a>,
}

impl<'a> Problem<'a> {
    /// The same as this body, answered with this status.
    pub(crate) fn new(status: StatusCode, body: Body<'a>) -> Self {
        Self {
            r#type: format!("urn:problem-type:latchkey:{}", body.code),
            title: title(body.code),
            status: status.as_u16(),
            detail: body.message,
            body,
        }
    }
}

impl Form {
    /// A problem for whoever names its media type and wants JSON no more than that.
    pub(crate) fn requested(headers: &HeaderMap) -> Self {
        let accept = Preferences::read(headers, &header::ACCEPT);
        let problem = accept.weight(&[PROBLEM]);
        if problem > 0 && problem >= accept.weight(&[JSON, "application/*", "*/*"]) {
            Self::Problem
        } else {
            Self::Json
        }
    }

    /// The media type.
    pub(crate) const fn media_type(self) -> &'static str {
        match self {
            Self::Json => JSON,
            Self::Problem => PROBLEM,
        }
    }
}

impl Error {
    /// The body's bytes.
    pub(crate) fn body(&self, form: Form, correlation_id: &str) -> Vec<u8> {
        let (_, code) = self.code.wire();
        let body = Body {
            code,
            message: &self.message,
            correlation_id,
            errors: &self.errors,
        };
        let written = match form {
            Form::Json => serde_json::to_vec(&body),
            Form::Problem => serde_json::to_vec(&Problem::new(self.status, body)),
        };
        written.unwrap_or_default()
    }
}

/// A code in words: the same at every occurrence (RFC 9457 §3.1.3).
fn title(code: &str) -> String {
    let words = code.replace('_', " ");
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn asked(accept: &str) -> Form {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, accept.parse().unwrap());
        Form::requested(&headers)
    }

    #[test]
    fn a_problem_is_for_those_who_name_it_and_want_json_no_more() {
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
            assert_eq!(asked(accept), Form::Problem, "{accept}");
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
            assert_eq!(asked(accept), Form::Json, "{accept}");
        }
        assert_eq!(Form::requested(&HeaderMap::new()), Form::Json);
    }

    proptest! {
        #[test]
        fn any_header_is_read(accept in r"(application/problem\+json|[ -~]){0,16}") {
            let _ = asked(&accept);
        }
    }

    #[test]
    fn a_title_is_the_code_in_words() {
        assert_eq!(title("not_found"), "Not found");
    }
}
