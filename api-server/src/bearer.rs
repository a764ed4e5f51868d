//! Access tokens: what must hold before one is believed (RFC 9068 §4, RFC 8725).

use crate::ids::Id;
use crate::jwks::Jwks;
use serde_json::{Map, Value};
use shared::clock::Timestamp;
use shared::db;
use shared::http::json;
use shared::revocation::{Kind, Mirror};
use shared::scope::Scope;
use shared::secret;
use std::time::Duration;

/// The longest token, in bytes.
const MAX_LENGTH: usize = 8 * 1024;
/// The oldest token, by its `iat`.
const MAX_AGE: Duration = Duration::from_secs(600);
/// How far the issuer's clock may be ahead.
const SKEW: Duration = Duration::from_secs(30);

/// Believes access tokens, or not.
#[derive(Debug)]
pub(crate) struct Verifier {
    /// The issuer's keys.
    pub(crate) jwks: Jwks,
    /// What is revoked.
    pub(crate) revocations: Mirror,
    /// The one `iss`.
    pub(crate) issuer: String,
    /// The one `aud`.
    pub(crate) audience: String,
}

/// What a good token says.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    /// `sub`: for whom it speaks.
    pub(crate) subject: Subject,
    /// `client_id`: who sent it.
    pub(crate) client_id: String,
    /// `scope`, less the names unknown here.
    pub(crate) scope: Scope,
    /// `exp`.
    pub(crate) expires_at: Timestamp,
}

/// For whom a token speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A user.
    User(Id),
    /// The client itself: `sub` is its `client_id` (RFC 9068 §2.2).
    Client,
}

/// Why a token is not believed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Something about it does not hold.
    #[error("The access token is not accepted: {0}.")]
    Refused(String),
    /// There is nothing yet to check signatures with.
    #[error("{0}")]
    NoKeys(String),
    /// Whether it is revoked cannot be told.
    #[error("the revocations cannot be read: {0}")]
    Revocations(#[source] db::Error),
}

type Object = Map<String, Value>;

impl Verifier {
    /// Believes a token of which every line below holds.
    pub(crate) async fn verify(&self, token: &str, now: Timestamp) -> Result<Token, Error> {
        let (kid, claims) = self.open(token).await?;
        ensure(text(&claims, "iss")? == self.issuer, "its iss is another issuer")?;
        ensure(self.is_for_us(&claims), "its aud is not this API alone")?;
        let expires_at = date(&claims, "exp")?;
        ensure(expires_at > now, "it has expired")?;
        let issued_at = date(&claims, "iat")?;
        ensure(now.since(issued_at) <= MAX_AGE, "it was issued over 600 s ago")?;
        ensure(issued_at <= now.after(SKEW), "its iat is in the future")?;
        if claims.contains_key("nbf") {
            ensure(
                date(&claims, "nbf")? <= now.after(SKEW),
                "its nbf is in the future",
            )?;
        }
        let jti = text(&claims, "jti")?;
        let sub = text(&claims, "sub")?;
        let client_id = text(&claims, "client_id")?;
        let scope = known(text(&claims, "scope")?);
        let mut named = vec![
            (Kind::Jti, jti),
            (Kind::User, sub),
            (Kind::Client, client_id),
            (Kind::Key, kid.as_str()),
        ];
        if claims.contains_key("grant_id") {
            named.push((Kind::Family, text(&claims, "grant_id")?));
        }
        let is_revoked = self.revocations.any_revoked(&named).await;
        ensure(!is_revoked.map_err(Error::Revocations)?, "it is revoked")?;
        Ok(Token {
            subject: subject(sub, client_id)?,
            client_id: client_id.to_owned(),
            scope,
            expires_at,
        })
    }

    /// Opens a compact JWS (RFC 7515 §5.2) of the type `at+jwt`, signed by a key of the issuer. Gives that
    /// key's `kid` and the claims.
    async fn open(&self, token: &str) -> Result<(String, Object), Error> {
        ensure(token.len() <= MAX_LENGTH, "it is over 8 KiB")?;
        let (signed, signature) = token.rsplit_once('.').ok_or_else(malformed)?;
        // A further dot is in no segment's alphabet.
        let (header, claims) = signed.split_once('.').ok_or_else(malformed)?;
        let header = object(header)?;
        ensure(text(&header, "alg")? == "RS256", "its alg is not RS256")?;
        ensure(is_access_token(text(&header, "typ")?), "its typ is not at+jwt")?;
        ensure(!header.contains_key("crit"), "its header has crit")?;
        ensure(!header.contains_key("b64"), "its header has b64")?;
        let kid = text(&header, "kid")?;
        let key = self.jwks.key(kid).await.map_err(Error::NoKeys)?;
        let key = key.ok_or_else(|| refused("its kid names no key of the issuer"))?;
        ensure(
            key.has_signed(signed, &segment(signature)?),
            "its signature is wrong",
        )?;
        Ok((kid.to_owned(), object(claims)?))
    }

    /// `aud`: this API and no other, as a string or a list of one.
    fn is_for_us(&self, claims: &Object) -> bool {
        match claims.get("aud") {
            Some(Value::Array(list)) => {
                matches!(list.as_slice(), [Value::String(one)] if *one == self.audience)
            }
            Some(Value::String(one)) => *one == self.audience,
            _ => false,
        }
    }
}

fn refused(why: impl Into<String>) -> Error {
    Error::Refused(why.into())
}

fn malformed() -> Error {
    refused("it is no compact JWS")
}

fn ensure(holds: bool, otherwise: &str) -> Result<(), Error> {
    if holds { Ok(()) } else { Err(refused(otherwise)) }
}

/// The bytes of a segment: base64url, no padding, no bits left over.
fn segment(text: &str) -> Result<Vec<u8>, Error> {
    secret::decode(text).ok_or_else(malformed)
}

/// A segment that holds a JSON object in which nothing is named twice.
fn object(text: &str) -> Result<Object, Error> {
    match json::parse(&segment(text)?) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) | Err(_) => Err(malformed()),
    }
}

/// A member that must be there and be a string.
fn text<'a>(object: &'a Object, name: &str) -> Result<&'a str, Error> {
    let text = object.get(name).and_then(Value::as_str);
    text.ok_or_else(|| refused(format!("its {name} is missing or no string")))
}

/// A `NumericDate` (RFC 7519 §2) that must be there.
fn date(claims: &Object, name: &str) -> Result<Timestamp, Error> {
    let seconds = claims.get(name).and_then(Value::as_f64);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .map(|since_epoch| Timestamp::from_micros(0).after(since_epoch))
        .ok_or_else(|| refused(format!("its {name} is missing or no time")))
}

/// RFC 9068 §4: `at+jwt`, also as the media type it is short for.
fn is_access_token(typ: &str) -> bool {
    ["at+jwt", "application/at+jwt"]
        .into_iter()
        .any(|accepted| typ.eq_ignore_ascii_case(accepted))
}

/// A user's id is digits, and a client may be called by digits too: a token that names its client as its
/// subject is the client's own and speaks for no user.
fn subject(sub: &str, client_id: &str) -> Result<Subject, Error> {
    if sub == client_id {
        return Ok(Subject::Client);
    }
    let user = Id::parse(sub).map(Subject::User);
    user.ok_or_else(|| refused("its sub is no user"))
}

/// The scopes known here; an issuer may have more.
fn known(scope: &str) -> Scope {
    scope
        .split(' ')
        .filter_map(|name| name.parse::<Scope>().ok())
        .fold(Scope::default(), |all, one| all.union(&one))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_date_is_a_finite_number_that_is_not_negative() {
        let date = |value: Value| {
            let claims = Map::from_iter([("exp".to_owned(), value)]);
            date(&claims, "exp").ok().map(Timestamp::micros)
        };
        assert_eq!(date(json!(1_700_000_000)), Some(1_700_000_000_000_000));
        assert_eq!(date(json!(1.5)), Some(1_500_000));
        for value in [
            json!("9999999999"),
            json!(-1),
            json!(1e308),
            json!(null),
            json!([1]),
        ] {
            assert_eq!(date(value.clone()), None, "{value}");
        }
    }

    #[test]
    fn a_token_speaks_for_a_user_or_for_its_client() {
        assert_eq!(subject("12", "app").ok(), Id::parse("12").map(Subject::User));
        assert_eq!(subject("12", "12").ok(), Some(Subject::Client));
        assert_eq!(subject("robot", "robot").ok(), Some(Subject::Client));
        assert!(subject("012", "app").is_err());
    }

    #[test]
    fn unknown_scopes_are_passed_over() {
        assert_eq!(
            known("posts:read openid  profile:read").to_string(),
            "posts:read profile:read"
        );
    }
}
