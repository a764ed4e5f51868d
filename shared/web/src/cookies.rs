//! Cookies (RFC 6265): read without guessing, set with the attributes written out.

use axum::http::{HeaderMap, HeaderValue, header};
use std::time::Duration;

/// The session's cookie.
pub const SID: &str = "sid";
/// The anti-forgery token's cookie.
pub const CSRF: &str = "csrf";

/// Every value that cookies of this name have in the request.
pub fn all<'a>(headers: &'a HeaderMap, name: &str) -> Vec<&'a str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(found, _)| *found == name)
        .map(|(_, value)| value)
        .collect()
}

/// The value of the only cookie of this name; `None` if there is none or more than one.
pub fn only<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    match all(headers, name).as_slice() {
        [value] => Some(value),
        _ => None,
    }
}

/// A `Set-Cookie` for this origin alone, `SameSite=Lax`, `Path=/`. Attributes beyond that are `extra`,
/// such as `; HttpOnly`.
pub fn set(name: &str, value: &str, max_age: Option<Duration>, extra: &str) -> HeaderValue {
    let age = max_age
        .map(|age| format!("; Max-Age={}", age.as_secs()))
        .unwrap_or_default();
    HeaderValue::from_str(&format!("{name}={value}; Path=/; SameSite=Lax{age}{extra}"))
        .unwrap_or(HeaderValue::from_static(""))
}

/// The cookie of a new session.
pub fn set_sid(sid: &foundation::secret::Secret, lifetime: Duration) -> HeaderValue {
    set(SID, sid.expose(), Some(lifetime), "; HttpOnly; Secure")
}

/// Takes the session's cookie away.
pub fn clear_sid() -> HeaderValue {
    set(SID, "", Some(Duration::ZERO), "; HttpOnly; Secure")
}
