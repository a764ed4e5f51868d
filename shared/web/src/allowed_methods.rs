//! The `Allow` header, `OPTIONS` and 405 (RFC 9110 §9.3.7, §10.2.1, §15.5.6), and `Accept-Patch` (RFC 5789
//! §3.1).

use crate::error::Error;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::Response;

/// The header with the media types that `PATCH` accepts at a path.
const ACCEPT_PATCH: HeaderName = HeaderName::from_static("accept-patch");

/// Turns the response into 405, or 204 for `OPTIONS`, if the path exists but does not support `method`. The
/// router marks such responses by `Allow`. A 405 takes precedence over a response of the route's middleware,
/// such as 429, and replaces it.
pub(crate) fn answer_unmatched_method(response: &mut Response, method: &Method) {
    let Some(allow) = allow_with_options(response.headers()) else {
        return;
    };
    let headers = response.headers_mut();
    if headers.contains_key(header::ACCESS_CONTROL_ALLOW_HEADERS) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, allow.clone());
    }
    headers.insert(header::ALLOW, allow);
    headers.remove(header::RETRY_AFTER);
    response.extensions_mut().remove::<Error>();
    *response.status_mut() = match *method {
        Method::OPTIONS => StatusCode::NO_CONTENT,
        _ => StatusCode::METHOD_NOT_ALLOWED,
    };
}

/// Names the media type of the bodies that `PATCH` accepts, in a response to `OPTIONS` at a path that
/// supports `PATCH`, and to a `PATCH` with another media type.
pub(crate) fn name_patch_type(response: &mut Response, method: &Method) {
    let headers = response.headers();
    let allow = headers.get(header::ALLOW).and_then(|value| value.to_str().ok());
    let supports_patch = allow.is_some_and(|methods| methods.split(", ").any(|name| name == Method::PATCH));
    let is_refused = *method == Method::PATCH && response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE;
    if is_refused || (*method == Method::OPTIONS && supports_patch) {
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(ACCEPT_PATCH, json);
    }
}

/// Returns the router's `Allow` header with `OPTIONS` added, which every path supports; `None` if the
/// response has no such header.
fn allow_with_options(headers: &HeaderMap) -> Option<HeaderValue> {
    let named = headers.get(header::ALLOW)?.to_str().ok()?;
    let methods = named.split(',').map(str::trim);
    let methods = methods.filter(|name| !name.is_empty());
    let methods: Vec<&str> = methods.chain(["OPTIONS"]).collect();
    HeaderValue::try_from(methods.join(", ")).ok()
}
