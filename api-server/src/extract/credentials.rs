//! Authentication of a request: by its access token, or else by its session cookie.

use crate::app::App;
use crate::error::{self, ApiError};
use crate::principal::{AuthenticationMethod, CallingUser, Principal};
use access_tokens::Subject;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use foundation::secret::Secret;
use identity::sessions;
use identity::sessions::Session;
use std::sync::Arc;
use web::context::request_context;
use web::{Error, cookies, csrf, rate_limits};

/// The caller of a request by the kind of its credentials.
pub(super) enum Caller {
    /// A session. The request has passed the CSRF check.
    Session(Session),
    /// An access token.
    Bearer(Principal),
}

/// Authenticates the caller; `None` if the request has no credentials, or the cookie of an unknown or expired session.
/// If the request has an access token, its session cookie is ignored, even if the token is invalid. Fails like
/// [`by_token`], with 401 for several session cookies, and with 403 if a call with a session fails the CSRF check.
pub(super) async fn caller(parts: &Parts, app: &App) -> Result<Option<Caller>, ApiError> {
    if let Some(principal) = by_token(parts, app).await? {
        return Ok(Some(Caller::Bearer(principal)));
    }
    let Some(sid) = sid(&parts.headers)? else {
        return Ok(None);
    };
    let now = request_context(&parts.extensions)?.now;
    let Some(session) = sessions::find(&app.db, &sid, app.identity.session_lifetimes, now).await? else {
        return Ok(None);
    };
    count_call(parts, app, Some(session.user.id), "")?;
    csrf::check(&parts.method, &parts.headers, &app.policy)
        .map_err(|mismatch| ApiError::from(mismatch).with_caller(Some(session.user.id), None))?;
    Ok(Some(Caller::Session(session)))
}

/// Returns the session cookie. Fails with 401 if there are several.
pub(super) fn sid(headers: &HeaderMap) -> Result<Option<Secret>, Error> {
    match cookies::all(headers, cookies::SID).as_slice() {
        [] => Ok(None),
        [sid] => Ok(Some(Secret::new(*sid))),
        _ => Err(error::multiple_session_cookies()),
    }
}

/// Authenticates the caller by its access token; `None` if the request has none. Fails with 400 for several
/// `Authorization` headers, with 401 if the token is invalid, and with 429 if the caller is over its rate limit.
pub(super) async fn by_token(parts: &Parts, app: &App) -> Result<Option<Principal>, ApiError> {
    let Some(token) = bearer_token(&parts.headers)? else {
        return Ok(None);
    };
    let token = app
        .verifier
        .verify(token, request_context(&parts.extensions)?.now)
        .await?;
    let user = match token.subject {
        Subject::Client => None,
        Subject::User(id, role) => Some(CallingUser { id, role }),
    };
    count_call(parts, app, user.map(|user| user.id), &token.client_id)?;
    Ok(Some(Principal {
        user,
        scope: token.scope,
        method: AuthenticationMethod::Bearer,
        expires_at: token.expires_at,
        client_id: Some(Arc::clone(&token.client_id)),
    }))
}

/// Counts the call against the rate limit of a user (`client_id` is empty), of a client (`user_id` is `None`), or of a
/// user with a client. Fails with 429 if the limit is exceeded.
fn count_call(parts: &Parts, app: &App, user_id: Option<i64>, client_id: &str) -> Result<(), Error> {
    rate_limits::by_principal(&app.rate_limiter, parts, || {
        let user_id = user_id.map(|id| id.to_string()).unwrap_or_default();
        format!("{user_id}/{client_id}")
    })
}

/// Returns the token of an `Authorization: Bearer` header (RFC 6750 §2.1). Other schemes are ignored. Fails
/// with 400 for several `Authorization` headers.
fn bearer_token(headers: &HeaderMap) -> Result<Option<&str>, Error> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(error::multiple_authorization_headers());
    }
    let value = value.as_bytes();
    let scheme_length = value.iter().position(|byte| *byte == b' ').unwrap_or(value.len());
    let (scheme, token) = value.split_at(scheme_length);
    // Tokens are ASCII, so other bytes are no token, and neither is an empty text.
    let token = std::str::from_utf8(token).unwrap_or_default();
    let is_bearer = scheme.eq_ignore_ascii_case(b"bearer");
    Ok(is_bearer.then(|| token.trim_start_matches(' ')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use web::Code;

    fn token(values: &[&[u8]]) -> Result<Option<String>, Code> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(
                header::AUTHORIZATION,
                axum::http::HeaderValue::from_bytes(value).unwrap(),
            );
        }
        bearer_token(&headers)
            .map(|token| token.map(str::to_owned))
            .map_err(|error| error.code())
    }

    #[test]
    fn the_bearer_scheme_is_case_insensitive() {
        for value in ["Bearer a.b.c", "bearer a.b.c", "BEARER   a.b.c"] {
            assert_eq!(
                token(&[value.as_bytes()]),
                Ok(Some("a.b.c".to_owned())),
                "{value}"
            );
        }
        assert_eq!(token(&[b"Bearer"]), Ok(Some(String::new())));
        assert_eq!(token(&[b"Bearer \xff"]).map(|token| token.is_some()), Ok(true));
    }

    #[test]
    fn other_schemes_are_ignored_and_several_headers_are_rejected() {
        assert_eq!(token(&[]), Ok(None));
        assert_eq!(token(&[b"Basic YTpi"]), Ok(None));
        assert_eq!(token(&[b"Bearera b"]), Ok(None));
        assert_eq!(token(&[b"Bearer a", b"Bearer a"]), Err(Code::InvalidToken));
    }
}
