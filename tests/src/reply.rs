//! HTTP responses.

use crate::http::Canaries;
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::collections::BTreeSet;

/// The headers of each request, and those that nginx adds to a response of a service.
const NOT_COMPARED: [&str; 5] = [
    "date",
    "x-correlation-id",
    "connection",
    "server",
    "strict-transport-security",
];

/// An HTTP response.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(crate) operation: String,
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Vec<u8>,
}

impl Reply {
    /// Fails the test unless the status is this one.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert!(self.status == status, "expected {status}: {self}");
        self
    }

    /// Fails the test unless it is this error with the complete JSON error body.
    #[track_caller]
    pub fn expect_error(self, status: u16, code: &str) -> Self {
        let reply = self.expect(status);
        let body = reply.json();
        let is_complete = body["message"].as_str().is_some_and(|text| !text.is_empty())
            && body["correlationId"] == reply.header("x-correlation-id")
            && reply.header("content-type") == "application/json";
        assert!(
            body["code"] == code && is_complete,
            "expected the error {code}: {reply}"
        );
        reply
    }

    /// Fails the test unless it is this error as problem details (RFC 9457).
    #[track_caller]
    pub fn expect_problem(self, status: u16, code: &str) -> Self {
        let reply = self.expect(status);
        let body = reply.json();
        let is_complete = reply.header("content-type") == "application/problem+json"
            && body["type"] == format!("urn:problem-type:latchkey:{code}")
            && body["title"].as_str().is_some_and(|title| !title.is_empty())
            && body["status"] == status
            && body["code"] == code
            && body["detail"].is_string()
            && body["detail"] == body["message"]
            && body["correlationId"] == reply.correlation_id();
        assert!(is_complete, "expected the problem {code}: {reply}");
        reply
    }

    /// Fails the test unless it is a 422 that reports exactly these members, in any order.
    #[track_caller]
    pub fn expect_validation_errors(self, pointers: &[&str]) -> Self {
        let reply = self.expect_error(422, "validation_failed");
        let body = reply.json();
        let reported: BTreeSet<&str> = body["errors"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|error| error["code"].is_string() && error["message"].is_string())
            .filter_map(|error| error["pointer"].as_str())
            .collect();
        assert!(
            reported == pointers.iter().copied().collect(),
            "expected validation errors at {pointers:?}: {reply}"
        );
        reply
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("invalid JSON ({error}): {self}"))
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The value of a header that must occur exactly once.
    #[track_caller]
    pub fn header(&self, name: &str) -> &str {
        let mut values = self.headers.get_all(name).iter();
        match (values.next(), values.next()) {
            (Some(value), None) => value.to_str().unwrap(),
            _ => panic!("expected exactly one header {name}: {self}"),
        }
    }

    /// Whether it has a header.
    pub fn has(&self, name: &str) -> bool {
        self.headers.contains_key(name)
    }

    /// The value of the `Set-Cookie` header of a cookie.
    pub fn set_cookie(&self, name: &str) -> Option<&str> {
        let mut lines = self
            .headers
            .get_all("set-cookie")
            .iter()
            .filter_map(|line| line.to_str().ok());
        lines.rfind(|line| line.split('=').next() == Some(name))
    }

    /// The value of a cookie that it sets.
    #[track_caller]
    pub fn cookie(&self, name: &str) -> String {
        let line = self
            .set_cookie(name)
            .unwrap_or_else(|| panic!("expected a cookie {name}: {self}"));
        let value = line.split_once('=').map_or("", |(_, rest)| rest);
        value.split(';').next().unwrap_or_default().to_owned()
    }

    /// The correlation id.
    pub fn correlation_id(&self) -> &str {
        self.header("x-correlation-id")
    }

    /// The status, the headers and the body without their per-request parts, which are the date and the
    /// correlation id, and without the headers of nginx. Responses that must be indistinguishable have equal
    /// parts.
    pub fn comparable_parts(&self) -> (u16, Vec<(String, String)>, String) {
        let id = self.correlation_id();
        let mut headers: Vec<_> = self
            .headers
            .iter()
            .filter(|(name, _)| !NOT_COMPARED.contains(&name.as_str()))
            .map(|(name, value)| {
                (
                    name.to_string(),
                    String::from_utf8_lossy(value.as_bytes()).into_owned(),
                )
            })
            .collect();
        headers.sort();
        (self.status, headers, self.text().replace(id, "…"))
    }

    /// Checks the invariants of every response, and records the secrets in it.
    pub(crate) fn check(&self, canaries: &Canaries) {
        let id = self.header("x-correlation-id");
        let is_trace_id = id.len() == 32 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        assert!(is_trace_id, "the correlation id is not a trace id: {self}");
        for line in self
            .headers
            .get_all("set-cookie")
            .iter()
            .filter_map(|line| line.to_str().ok())
        {
            let value = line.split([';', '=']).nth(1).unwrap_or_default();
            canaries.add(value);
        }
        if let Some(location) = self.headers.get("location").and_then(|value| value.to_str().ok()) {
            let code = location
                .split(['?', '&'])
                .find_map(|pair| pair.strip_prefix("code="));
            canaries.add(code.unwrap_or_default());
        }
        if let Ok(body) = serde_json::from_slice(&self.body) {
            canaries.add_members(&body);
        }
    }
}

impl std::fmt::Display for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = self.text();
        let shown: String = text.chars().take(2_000).collect();
        write!(
            f,
            "{} → {}\n{:#?}\n{shown}",
            self.operation, self.status, self.headers
        )
    }
}
