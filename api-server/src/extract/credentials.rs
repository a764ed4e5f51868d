//! What a request authenticates with: an access token, else a session cookie.

use super::principal::{Method, Principal};
use crate::bearer::{self, Subject};
use crate::error;
use crate::router::App;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use shared::clock::Timestamp;
use shared::events::Context;
use shared::http::{Error, cookies, csrf, limits};
use shared::identity::sessions::{self, Session};
use shared::identity::users;
use shared::secret::Secret;

/// Whoever authenticated.
pub(super) enum Caller {
    /// By a `sid` cookie; a call that changes something was checked to be no forgery.
    Session(Session),
    /// By an access token.
    Bearer(Principal),
}

/// Who calls; `None` if nobody says so, or by a session that is over. An access token decides alone: if
/// it is bad, no cookie helps.
pub(super) async fn caller(parts: &Parts, app: &App) -> Result<Option<Caller>, Error> {
    if let Some(principal) = by_token(parts, app).await? {
        return Ok(Some(Caller::Bearer(principal)));
    }
    let Some(sid) = sid(&parts.headers)? else {
        return Ok(None);
    };
    let Some(session) = sessions::find(&app.db, &sid, app.identity.lifetimes, now(parts)?).await? else {
        return Ok(None);
    };
    count(parts, app, Some(session.user.id), "")?;
    csrf::check(&parts.method, &parts.headers, &app.policy)
        .map_err(|mismatch| Error::from(mismatch).by(Some(session.user.id), None))?;
    Ok(Some(Caller::Session(session)))
}

/// The session cookie; 401 where there are two, and nobody can know which is meant.
pub(super) fn sid(headers: &HeaderMap) -> Result<Option<Secret>, Error> {
    match cookies::all(headers, cookies::SID).as_slice() {
        [] => Ok(None),
        [sid] => Ok(Some(Secret::new(*sid))),
        _ => Err(error::two_sessions()),
    }
}

/// Who sent the access token; `None` if there is none.
pub(super) async fn by_token(parts: &Parts, app: &App) -> Result<Option<Principal>, Error> {
    let Some(token) = bearer_token(&parts.headers)? else {
        return Ok(None);
    };
    let token = app.verifier.verify(&token, now(parts)?).await?;
    let (user, scope) = match token.subject {
        Subject::Client => (None, token.scope),
        Subject::User(id) => {
            let user = users::find_enabled(&app.db, id.get()).await?;
            let user =
                user.ok_or_else(|| bearer::Error::Refused("its user is gone or disabled".to_owned()))?;
            let scope = user.role.scope().intersection(&token.scope);
            (Some(user), scope)
        }
    };
    count(parts, app, user.as_ref().map(|user| user.id), &token.client_id)?;
    Ok(Some(Principal {
        user,
        scope,
        method: Method::Bearer,
        expires_at: token.expires_at,
        client_id: Some(token.client_id),
    }))
}

/// Counts the call for a user, a client, or the two together; 429 if there were too many.
fn count(parts: &Parts, app: &App, user_id: Option<i64>, client_id: &str) -> Result<(), Error> {
    let user_id = user_id.map(|id| id.to_string()).unwrap_or_default();
    limits::by_principal(&app.limits, &format!("{user_id}/{client_id}"), parts)
}

/// The token of an `Authorization: Bearer` header (RFC 6750 §2.1). Other schemes are none of ours.
fn bearer_token(headers: &HeaderMap) -> Result<Option<String>, Error> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(error::two_authorizations());
    }
    let value = String::from_utf8_lossy(value.as_bytes());
    let (scheme, token) = value.split_once(' ').unwrap_or((&value, ""));
    let is_bearer = scheme.eq_ignore_ascii_case("bearer");
    Ok(is_bearer.then(|| token.trim_start_matches(' ').to_owned()))
}

fn now(parts: &Parts) -> Result<Timestamp, Error> {
    let context = parts.extensions.get::<Context>();
    context
        .map(|context| context.now)
        .ok_or_else(|| Error::internal(&"the request has no context"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::http::Code;

    fn token(values: &[&[u8]]) -> Result<Option<String>, Code> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(
                header::AUTHORIZATION,
                axum::http::HeaderValue::from_bytes(value).unwrap(),
            );
        }
        bearer_token(&headers).map_err(|error| error.code())
    }

    #[test]
    fn one_header_of_the_bearer_scheme_however_written_is_a_token() {
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
    fn other_schemes_are_ignored_and_two_headers_refused() {
        assert_eq!(token(&[]), Ok(None));
        assert_eq!(token(&[b"Basic YTpi"]), Ok(None));
        assert_eq!(token(&[b"Bearera b"]), Ok(None));
        assert_eq!(token(&[b"Bearer a", b"Bearer a"]), Err(Code::InvalidToken));
    }
}
