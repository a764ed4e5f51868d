//! Headers that are added to a response after its request was handled.

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use foundation::sync::lock;
use std::sync::{Arc, Mutex};

/// The space that is reserved for a list of header values, in bytes. A longer list needs another allocation.
const MAX_USUAL_LIST: usize = 64;

/// Headers to add to the response in any case, even after an error, a timeout or a panic. The `request_log`
/// middleware adds this to the extensions of every request, and writes the headers when the response is
/// complete.
#[derive(Clone, Debug, Default)]
pub struct DeferredHeaders(Arc<Mutex<HeaderMap>>);

impl DeferredHeaders {
    /// Adds a header. If the response already has a header of this name, the values are joined into one list.
    pub fn add(&self, name: HeaderName, value: HeaderValue) {
        lock(&self.0).append(name, value);
    }

    /// Removes the headers of this name that were added so far.
    pub(crate) fn remove(&self, name: &HeaderName) {
        lock(&self.0).remove(name);
    }

    /// Moves the headers into a response.
    pub(crate) fn write_to(&self, headers: &mut HeaderMap) {
        let deferred = std::mem::take(&mut *lock(&self.0));
        for name in deferred.keys() {
            for value in deferred.get_all(name) {
                add_to_list(headers, name, value);
            }
        }
    }
}

/// Adds `value` to the list in the header `name`, and joins all lines of that header into one.
pub(crate) fn add_to_list(headers: &mut HeaderMap, name: &HeaderName, value: &HeaderValue) {
    let mut list = Vec::with_capacity(MAX_USUAL_LIST);
    for line in headers.get_all(name).iter().chain([value]) {
        if !list.is_empty() {
            list.extend_from_slice(b", ");
        }
        list.extend_from_slice(line.as_bytes());
    }
    if let Ok(list) = HeaderValue::from_maybe_shared(Bytes::from(list)) {
        headers.insert(name, list);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::header;

    #[test]
    fn deferred_values_join_existing_ones_in_one_line() {
        let deferred = DeferredHeaders::default();
        deferred.add(header::VARY, HeaderValue::from_static("Origin"));
        deferred.add(header::AGE, HeaderValue::from_static("1"));
        let mut headers = HeaderMap::new();
        headers.append(header::VARY, HeaderValue::from_static("Authorization, Cookie"));
        headers.append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
        deferred.write_to(&mut headers);
        let lines: Vec<_> = headers.get_all(header::VARY).iter().collect();
        assert_eq!(lines, ["Authorization, Cookie, Accept-Encoding, Origin"]);
        assert_eq!(headers[header::AGE], "1");
    }
}
