//! Reading `Cookie` and writing `Set-Cookie` headers (RFC 6265).

use crate::error::{Code, Error};
use axum::http::{HeaderMap, HeaderValue, header};
use foundation::secret::Secret;
use std::time::Duration;

/// The name of the session cookie.
pub const SID: &str = "sid";
/// The name of the cookie with the anti-forgery token.
pub const CSRF: &str = "csrf";

/// Returns the values of all cookies of this name. A browser sends several if their paths or domains differ
/// (RFC 6265 §5.4).
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

/// Returns the value of a cookie that must appear once; `None` if it is absent or repeated.
pub fn single<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    match all(headers, name).as_slice() {
        [value] => Some(value),
        _ => None,
    }
}

/// Returns the session id in the session cookie, if there is one. Fails with 401 if there are several: a page of
/// another host of the site can add one, and the order does not tell which is which.
pub fn sid(headers: &HeaderMap) -> Result<Option<Secret>, Error> {
    match all(headers, SID).as_slice() {
        [] => Ok(None),
        [sid] => Ok(Some(Secret::new(*sid))),
        _ => Err(Error::new(
            Code::Unauthenticated,
            "The request has more than one sid cookie. Send only one.",
        )),
    }
}

/// Returns a `Set-Cookie` value with `SameSite=Lax` and `Path=/`, for this host only. Without `max_age`, the browser
/// keeps the cookie until it closes. `extra` holds further attributes, such as `; HttpOnly`. Returns an empty value if
/// an argument contains a control character.
pub fn set(name: &str, value: &str, max_age: Option<Duration>, extra: &str) -> HeaderValue {
    let age = max_age
        .map(|age| format!("; Max-Age={}", age.as_secs()))
        .unwrap_or_default();
    HeaderValue::from_str(&format!("{name}={value}; Path=/; SameSite=Lax{age}{extra}"))
        .unwrap_or(HeaderValue::from_static(""))
}

/// Returns a `Set-Cookie` value with `SameSite=Strict`, `HttpOnly` and `Secure`, for requests of this host at `path` and below.
/// The browser keeps the cookie for the time `max_age`. Returns an empty value if an argument contains a control character.
pub fn set_strict(name: &str, value: &str, path: &str, max_age: Duration) -> HeaderValue {
    let age = max_age.as_secs();
    let cookie = format!("{name}={value}; Path={path}; SameSite=Strict; Max-Age={age}; HttpOnly; Secure");
    HeaderValue::from_str(&cookie).unwrap_or(HeaderValue::from_static(""))
}

/// Returns the `Set-Cookie` value that sets the session cookie to the session id `sid`.
pub fn set_sid(sid: &Secret, lifetime: Duration) -> HeaderValue {
    set(SID, sid.expose(), Some(lifetime), "; HttpOnly; Secure")
}

/// Returns the `Set-Cookie` value that removes the session cookie.
pub fn clear_sid() -> HeaderValue {
    set(SID, "", Some(Duration::ZERO), "; HttpOnly; Secure")
}
