//! Headers that are promised before a request is handled.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use std::sync::{Arc, Mutex, PoisonError};

/// The headers that the answer will have whatever becomes of the request: a refusal, a time-out and a
/// panic have them too. An extension of every request; `observe` keeps the promise.
#[derive(Clone, Debug, Default)]
pub struct DeferredHeaders(Arc<Mutex<HeaderMap>>);

impl DeferredHeaders {
    /// Promises a header; one that is there already becomes a list.
    pub fn add(&self, name: HeaderName, value: HeaderValue) {
        let mut headers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        headers.append(name, value);
    }

    /// Writes them into an answer.
    pub(crate) fn write_to(&self, headers: &mut HeaderMap) {
        let promised = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for name in promised.keys() {
            for value in promised.get_all(name) {
                add_to_list(headers, name, value);
            }
        }
    }
}

/// Adds a member to a header that is a list, kept in one line.
pub(crate) fn add_to_list(headers: &mut HeaderMap, name: &HeaderName, value: &HeaderValue) {
    let lines = headers.get_all(name).iter().chain([value]);
    let members: Vec<&str> = lines.filter_map(|line| line.to_str().ok()).collect();
    if let Ok(line) = HeaderValue::try_from(members.join(", ")) {
        headers.insert(name, line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::header;

    #[test]
    fn what_is_promised_joins_what_is_there_in_one_line() {
        let promised = DeferredHeaders::default();
        promised.add(header::VARY, HeaderValue::from_static("Origin"));
        promised.add(header::AGE, HeaderValue::from_static("1"));
        let mut headers = HeaderMap::new();
        headers.append(header::VARY, HeaderValue::from_static("Authorization, Cookie"));
        headers.append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
        promised.write_to(&mut headers);
        let lines: Vec<_> = headers.get_all(header::VARY).iter().collect();
        assert_eq!(lines, ["Authorization, Cookie, Accept-Encoding, Origin"]);
        assert_eq!(headers[header::AGE], "1");
    }
}
