//! The `Host` header (RFC 9110 §7.2).

use crate::error::{Code, Error};
use axum::extract::Request;
use axum::http::{HeaderValue, Version, header};
use std::net::Ipv6Addr;

/// Fails with 400 unless the request has exactly one `Host` header, with a valid host (RFC 9112 §3.2).
/// HTTP/1.0 has no such header, and HTTP/2 has `:authority` in its place, so there it may be missing.
pub(crate) fn check(request: &Request) -> Result<(), Error> {
    let mut lines = request.headers().get_all(header::HOST).iter();
    let is_valid = match (lines.next(), lines.next()) {
        (None, _) => request.version() != Version::HTTP_11,
        (Some(value), None) => is_host(value),
        (Some(_), Some(_)) => false,
    };
    match is_valid {
        true => Ok(()),
        false => Err(Error::new(
            Code::MalformedJson,
            "The header Host is missing, repeated or invalid. Send it once, with the host and the port of the URL.",
        )),
    }
}

/// Returns whether a value is a host and, optionally, a port: `uri-host [ ":" port ]`. An escape (`%`) is
/// refused, because names in the DNS have none.
fn is_host(value: &HeaderValue) -> bool {
    let Ok(text) = value.to_str() else {
        return false;
    };
    let (is_host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, port)) => (address.parse::<Ipv6Addr>().is_ok(), port),
        None => {
            let (name, port) = text.split_at(text.find(':').unwrap_or(text.len()));
            (!name.is_empty() && name.bytes().all(is_in_name), port)
        }
    };
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    is_host && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port))
}

/// Returns whether a byte is `unreserved` or one of the `sub-delims` (RFC 3986 §2.2, §2.3), of which a
/// `reg-name` consists.
fn is_in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_host_has_an_optional_port_and_nothing_else() {
        let is_host = |text: &str| is_host(&HeaderValue::from_str(text).unwrap());
        for text in [
            "localhost",
            "LOCALHOST:8080",
            "id.example.org",
            "id.example.org:",
            "192.0.2.1:80",
            "[::1]",
            "[2001:db8::1]:443",
            "under_score.example.org",
        ] {
            assert!(is_host(text), "{text}");
        }
        for text in [
            "", " ", ":80", "a b", "a:b", "a:+80", "a:1:2", "user@a", "a@a", "1:2@1", "a/b", "a?b", "a#b",
            "a,b c", "a%20b", "a\\b", "a\"b", "[::1", "[zz]", "[]", "[::1]x", "x[::1]", "x[1]", "::1",
            "http://a",
        ] {
            assert!(!is_host(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_value_is_judged(bytes: Vec<u8>) {
            if let Ok(value) = HeaderValue::from_bytes(&bytes) {
                let _ = is_host(&value);
            }
        }
    }
}
