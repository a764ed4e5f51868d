//! The methods of a path: `Allow`, and the answer to `OPTIONS` (RFC 9110 §9.3.7, §10.2.1).

use crate::error::Error;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;

/// Completes the answer to a request whose path exists without its method. The router marks it by `Allow`,
/// whatever the layers around the route said: that the method is wrong comes before any refusal of theirs.
pub(crate) fn complete(response: &mut Response, method: &Method) {
    let Some(allow) = allow(response.headers()) else {
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

/// The router's `Allow`, and `OPTIONS`, which every path has.
fn allow(headers: &HeaderMap) -> Option<HeaderValue> {
    let named = headers.get(header::ALLOW)?.to_str().ok()?;
    let methods = named.split(',').map(str::trim);
    let methods: Vec<&str> = methods
        .filter(|name| !name.is_empty())
        .chain(["OPTIONS"])
        .collect();
    HeaderValue::try_from(methods.join(", ")).ok()
}
