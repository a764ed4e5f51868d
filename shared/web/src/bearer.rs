//! Access tokens in requests and the errors about them (RFC 6750). The servers verify the tokens.

use crate::error::{Code, Error};
use axum::http::{HeaderMap, StatusCode, header};
use std::borrow::Cow;

/// The access token of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresentedToken<'a> {
    /// The token, which may be empty.
    pub token: &'a str,
    /// Whether its scheme is `DPoP`, and not `Bearer`.
    pub is_dpop: bool,
}

/// Returns the token of an `Authorization` header with the scheme `Bearer` (RFC 6750 §2.1) or `DPoP` (RFC
/// 9449 §7.1). Other schemes are ignored. Fails with 400 for several `Authorization` headers.
pub fn token(headers: &HeaderMap) -> Result<Option<PresentedToken<'_>>, Error> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(invalid_request(
            "The request has more than one Authorization header. Send only one.",
        ));
    }
    let value = value.as_bytes();
    let scheme_length = value.iter().position(|byte| *byte == b' ').unwrap_or(value.len());
    let (scheme, token) = value.split_at(scheme_length);
    // Tokens are ASCII, so other bytes are no token, and neither is an empty text.
    let token = std::str::from_utf8(token).unwrap_or_default();
    let is_dpop = scheme.eq_ignore_ascii_case(b"dpop");
    let is_token = is_dpop || scheme.eq_ignore_ascii_case(b"bearer");
    Ok(is_token.then(|| PresentedToken {
        token: token.trim_start_matches(' '),
        is_dpop,
    }))
}

/// 401: the request has no credentials (RFC 6750 §3). The message names those to send.
pub fn unauthenticated(message: &'static str) -> Error {
    Error::new(Code::Unauthenticated, message).header(header::WWW_AUTHENTICATE, "Bearer")
}

/// 401: the token failed a check (RFC 6750 §3.1). The message names the check.
pub fn invalid_token(message: String) -> Error {
    Error::new(Code::InvalidToken, message)
        .header(header::WWW_AUTHENTICATE, r#"Bearer error="invalid_token""#)
}

/// 403: the token lacks `scope` (RFC 6750 §3.1).
pub fn insufficient_scope(scope: &str) -> Error {
    Error::new(
        Code::InsufficientScope,
        format!("This call needs the scope {scope}, which the access token or its user does not have."),
    )
    .header(
        header::WWW_AUTHENTICATE,
        &format!(r#"Bearer error="insufficient_scope", scope="{scope}""#),
    )
}

/// 403: the route requires a user, and the subject of the access token is a client.
pub fn user_required() -> Error {
    let message = "This call needs a user, and the access token was issued to a client on its own behalf.";
    Error::new(Code::Forbidden, message)
}

/// 400: the request has several access tokens, or repeats a parameter (RFC 6750 §2, §3.1).
pub fn invalid_request(message: impl Into<Cow<'static, str>>) -> Error {
    Error::new(Code::InvalidToken, message)
        .status(StatusCode::BAD_REQUEST)
        .header(header::WWW_AUTHENTICATE, r#"Bearer error="invalid_request""#)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[&[u8]]) -> Result<Option<String>, Code> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(
                header::AUTHORIZATION,
                axum::http::HeaderValue::from_bytes(value).unwrap(),
            );
        }
        token(&headers)
            .map(|presented| presented.map(|presented| presented.token.to_owned()))
            .map_err(|error| error.code())
    }

    #[test]
    fn the_bearer_scheme_is_case_insensitive() {
        for value in ["Bearer a.b.c", "bearer a.b.c", "BEARER   a.b.c"] {
            assert_eq!(read(&[value.as_bytes()]), Ok(Some("a.b.c".to_owned())), "{value}");
        }
        assert_eq!(read(&[b"Bearer"]), Ok(Some(String::new())));
        assert_eq!(read(&[b"Bearer \xff"]).map(|token| token.is_some()), Ok(true));
    }

    #[test]
    fn the_schemes_are_told_apart() {
        for (value, is_dpop) in [("Bearer a", false), ("DPoP a", true), ("dpop a", true)] {
            let headers = HeaderMap::from_iter([(header::AUTHORIZATION, value.parse().unwrap())]);
            let presented = PresentedToken { token: "a", is_dpop };
            assert_eq!(token(&headers).ok().flatten(), Some(presented), "{value}");
        }
    }

    #[test]
    fn other_schemes_are_ignored_and_several_headers_are_rejected() {
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&[b"Basic YTpi"]), Ok(None));
        assert_eq!(read(&[b"Bearera b"]), Ok(None));
        assert_eq!(read(&[b"Bearer a", b"Bearer a"]), Err(Code::InvalidToken));
    }
}
