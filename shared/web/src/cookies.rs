//! Reading `Cookie` and writing `Set-Cookie` headers (RFC 6265).

use crate::error::{Code, Error};
use crate::headers::single as single_header;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::AppendHeaders;
use foundation::context::RequestContext;
use foundation::secret::Secret;
use identity::sessions::Session;
use std::time::Duration;

/// The name of the session cookie.
pub const SID: &str = "sid";
/// The name of the cookie with the anti-forgery token.
pub const CSRF: &str = "csrf";

/// The largest number of domains for which a repeated session cookie is removed.
const MAX_DOMAINS: usize = 8;

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

/// Returns the session id in the session cookie, if there is one. Fails with 401 if there are several: a page
/// of another host of the site can add one, and the order does not tell which is which.
pub fn sid(headers: &HeaderMap) -> Result<Option<Secret>, Error> {
    match all(headers, SID).as_slice() {
        [] => Ok(None),
        [sid] => Ok(Some(Secret::new(*sid))),
        _ => {
            let message = "The request has more than one sid cookie. Send only one.";
            let error = Error::new(Code::Unauthenticated, message);
            let removals = removals_of_sid(headers).into_iter();
            Err(removals.fold(error, |error, removal| {
                error.header(header::SET_COOKIE, removal.to_str().unwrap_or_default())
            }))
        }
    }
}

/// Returns the `Set-Cookie` values that remove the session cookie of this host, and those that another host
/// of its site may have set for both (RFC 6265 §5.3). A cookie with another path stays, because the request
/// does not tell the path.
fn removals_of_sid(headers: &HeaderMap) -> Vec<HeaderValue> {
    let host = single_header(headers, header::HOST.as_str()).and_then(|host| host.split(':').next());
    // Addresses and single labels have no parent. A browser ignores the removal for a public suffix.
    let host = host.filter(|host| host.ends_with(|last: char| last.is_ascii_alphabetic()));
    let mut domains: Vec<&str> = Vec::new();
    let mut domain = host.filter(|host| host.contains('.'));
    while let Some(name) = domain.filter(|_| domains.len() < MAX_DOMAINS) {
        domains.push(name);
        domain = name.split_once('.').map(|(_, parent)| parent);
        domain = domain.filter(|parent| parent.contains('.'));
    }
    let of_domains = domains.into_iter().map(|name| {
        let extra = format!("; Domain={name}; HttpOnly; Secure");
        set(SID, "", Some(Duration::ZERO), &extra)
    });
    [clear_sid()].into_iter().chain(of_domains).collect()
}

/// Returns a `Set-Cookie` value with `SameSite=Lax` and `Path=/`, for this host only. Without `max_age`, the
/// browser keeps the cookie until it closes. `extra` holds further attributes, such as `; HttpOnly`. Returns
/// an empty value if an argument contains a control character.
pub fn set(name: &str, value: &str, max_age: Option<Duration>, extra: &str) -> HeaderValue {
    let age = max_age.map(|age| format!("; Max-Age={}", age.as_secs()));
    let age = age.unwrap_or_default();
    HeaderValue::from_str(&format!("{name}={value}; Path=/; SameSite=Lax{age}{extra}"))
        .unwrap_or(HeaderValue::from_static(""))
}

/// Returns a `Set-Cookie` value with `SameSite=Strict`, `HttpOnly` and `Secure`, for requests of this host at
/// `path` and below. The browser keeps the cookie for the time `max_age`. Returns an empty value if an
/// argument contains a control character.
pub fn set_strict(name: &str, value: &str, path: &str, max_age: Duration) -> HeaderValue {
    let age = max_age.as_secs();
    let cookie = format!("{name}={value}; Path={path}; SameSite=Strict; Max-Age={age}; HttpOnly; Secure");
    HeaderValue::from_str(&cookie).unwrap_or(HeaderValue::from_static(""))
}

/// Returns a `Set-Cookie` value like [`set_strict`], but with `SameSite=Lax`, so that the browser also sends
/// the cookie when it opens the page from another site.
pub fn set_lax(name: &str, value: &str, path: &str, max_age: Duration) -> HeaderValue {
    let age = max_age.as_secs();
    let cookie = format!("{name}={value}; Path={path}; SameSite=Lax; Max-Age={age}; HttpOnly; Secure");
    HeaderValue::from_str(&cookie).unwrap_or(HeaderValue::from_static(""))
}

/// Returns the `Set-Cookie` value that sets the session cookie to the session id `sid`.
pub fn set_sid(sid: &Secret, lifetime: Duration) -> HeaderValue {
    set(SID, sid.expose(), Some(lifetime), "; HttpOnly; Secure")
}

/// Returns the header with the session cookie of a session that takes the place of `former`, whose absolute
/// lifetime goes on.
pub fn replacement_cookie(
    former: &Session,
    sid: &Secret,
    context: &RequestContext,
) -> AppendHeaders<[(HeaderName, HeaderValue); 1]> {
    header_of(set_sid(sid, former.expires_at.since(context.now)))
}

/// Returns the header with a `Set-Cookie` value, beside which a response may have others.
pub fn header_of(cookie: HeaderValue) -> AppendHeaders<[(HeaderName, HeaderValue); 1]> {
    AppendHeaders([(header::SET_COOKIE, cookie)])
}

/// Returns the `Set-Cookie` value that removes the session cookie.
pub fn clear_sid() -> HeaderValue {
    set(SID, "", Some(Duration::ZERO), "; HttpOnly; Secure")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_session_cookie_is_removed_for_the_host_and_its_parents() {
        let domains = |host: &str| -> Vec<String> {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            let removals = removals_of_sid(&headers);
            let domain = |line: &HeaderValue| {
                let attributes = line.to_str().unwrap().split("; ");
                attributes
                    .filter_map(|one| one.strip_prefix("Domain="))
                    .map(str::to_owned)
                    .next()
            };
            assert_eq!(domain(&removals[0]), None);
            removals.iter().filter_map(domain).collect()
        };
        assert_eq!(domains("id.example.org:8080"), ["id.example.org", "example.org"]);
        assert_eq!(domains("a.b.c.d.e.f.g.h.i.example.org").len(), MAX_DOMAINS);
        for host in ["localhost:8080", "127.0.0.1", "[::1]:8080"] {
            assert!(domains(host).is_empty(), "{host}");
        }
    }
}
