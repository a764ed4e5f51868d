//! The checks that an access token must pass (RFC 9068 §4, RFC 8725).

use crate::claims::{
    Object, decode_object, has_only_audience, is_access_token, known_scopes, required_date, required_string,
};
use crate::error::{Error, ensure};
use crate::jwks::Jwks;
use audit::revocation::{Kind, RevocationMirror};
use foundation::clock::Timestamp;
use foundation::json::StrictObject;
use foundation::scope::Scope;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, Validation, decode};
use std::time::Duration;

/// The maximum length of a token, in bytes.
const MAX_LENGTH: usize = 8 * 1024;
/// The maximum age of a token, counted from its `iat`.
const MAX_AGE: Duration = Duration::from_secs(600);
/// The time by which the issuer's clock may be ahead.
const MAX_SKEW: Duration = Duration::from_secs(30);

/// Verifies access tokens of one issuer for one audience.
#[derive(Debug)]
pub struct Verifier {
    jwks: Jwks,
    revocations: RevocationMirror,
    issuer: String,
    audience: String,
    validation: Validation,
}

/// The contents of a verified token.
#[derive(Clone, Debug)]
pub struct Token {
    /// The subject, from `sub` and `client_id`.
    pub subject: Subject,
    /// `client_id`: the client that the token was issued to.
    pub client_id: String,
    /// `scope` without the names that this API does not know.
    pub scope: Scope,
    /// `exp`.
    pub expires_at: Timestamp,
}

/// The subject of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A user, by the `sub` of the token.
    User(String),
    /// The client itself: `sub` equals `client_id` (RFC 9068 §2.2).
    Client,
}

impl Verifier {
    /// Returns a verifier that accepts only tokens of this issuer (`iss`) for this audience (`aud`).
    pub fn new(jwks: Jwks, revocations: RevocationMirror, issuer: String, audience: String) -> Self {
        let mut validation = Validation::new(Algorithm::RS256);
        validation.leeway = 0;
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        validation.set_issuer(&[&issuer]);
        validation.set_audience(&[&audience]);
        // The library compares times with the system clock; `verify` compares them with its argument.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        Self {
            jwks,
            revocations,
            issuer,
            audience,
            validation,
        }
    }

    /// Verifies a token at the time `now` and returns its contents.
    ///
    /// Fails with [`Error::Invalid`] if the token fails a check, with [`Error::NoKeys`] if no key set has been fetched
    /// yet, and with [`Error::Revocations`] if the revocations cannot be read.
    pub async fn verify(&self, token: &str, now: Timestamp) -> Result<Token, Error> {
        let (kid, claims) = self.verify_signature(token).await?;
        self.check_issuer_and_audience(&claims)?;
        let expires_at = check_times(&claims, now)?;
        let jti = required_string(&claims, "jti")?;
        let sub = required_string(&claims, "sub")?;
        let client_id = required_string(&claims, "client_id")?;
        let scope = known_scopes(required_string(&claims, "scope")?);
        let mut revocable = vec![
            (Kind::Jti, jti),
            (Kind::User, sub),
            (Kind::Client, client_id),
            (Kind::Key, kid.as_str()),
        ];
        if claims.contains_key("grant_id") {
            revocable.push((Kind::Family, required_string(&claims, "grant_id")?));
        }
        let is_revoked = self.revocations.any_revoked(&revocable).await;
        ensure(!is_revoked.map_err(Error::Revocations)?, "it is revoked")?;
        Ok(Token {
            subject: subject(sub, client_id),
            client_id: client_id.to_owned(),
            scope,
            expires_at,
        })
    }

    /// Verifies the header and the signature of a compact JWS (RFC 7515 §5.2). Returns the `kid` of the key that signed
    /// it, and the claims, of which the caller must check the times and the revocations.
    async fn verify_signature(&self, token: &str) -> Result<(String, Object), Error> {
        ensure(token.len() <= MAX_LENGTH, "it is over 8 KiB")?;
        let mut segments = token.split('.');
        let (Some(header), Some(_), Some(_), None) =
            (segments.next(), segments.next(), segments.next(), segments.next())
        else {
            return Err(Error::malformed());
        };
        let header = decode_object(header)?;
        ensure(
            required_string(&header, "alg")? == "RS256",
            "its alg is not RS256",
        )?;
        ensure(
            is_access_token(required_string(&header, "typ")?),
            "its typ is not at+jwt",
        )?;
        ensure(!header.contains_key("crit"), "its header has crit")?;
        ensure(!header.contains_key("b64"), "its header has b64")?;
        let kid = required_string(&header, "kid")?;
        let key = self.jwks.key(kid).await.map_err(Error::NoKeys)?;
        let key = key.ok_or_else(|| Error::Invalid("the issuer has no key with its kid".to_owned()))?;
        // The library accepts duplicate members; `StrictObject` refuses them.
        let decoded = decode::<StrictObject>(token, key.decoding_key(), &self.validation);
        let StrictObject(claims) = decoded.map_err(|error| invalid(error.kind()))?.claims;
        Ok((kid.to_owned(), claims))
    }

    /// Checks `iss` and `aud` more strictly than the library, which accepts lists of several values.
    fn check_issuer_and_audience(&self, claims: &Object) -> Result<(), Error> {
        ensure(required_string(claims, "iss")? == self.issuer, ANOTHER_ISSUER)?;
        ensure(has_only_audience(claims, &self.audience), ANOTHER_AUDIENCE)
    }
}

const ANOTHER_ISSUER: &str = "its iss is another issuer";
const ANOTHER_AUDIENCE: &str = "its aud is not this API alone";

/// Checks `exp`, `iat` and `nbf`, and returns `exp`.
fn check_times(claims: &Object, now: Timestamp) -> Result<Timestamp, Error> {
    let expires_at = required_date(claims, "exp")?;
    ensure(expires_at > now, "it has expired")?;
    let issued_at = required_date(claims, "iat")?;
    ensure(now.since(issued_at) <= MAX_AGE, "it was issued over 600 s ago")?;
    ensure(issued_at <= now.after(MAX_SKEW), "its iat is in the future")?;
    if claims.contains_key("nbf") {
        let is_valid_yet = required_date(claims, "nbf")? <= now.after(MAX_SKEW);
        ensure(is_valid_yet, "its nbf is in the future")?;
    }
    Ok(expires_at)
}

/// Converts an error of the library to the error that the corresponding check of this module returns.
fn invalid(kind: &ErrorKind) -> Error {
    match kind {
        ErrorKind::InvalidSignature => Error::Invalid("its signature is wrong".to_owned()),
        ErrorKind::InvalidIssuer => Error::Invalid(ANOTHER_ISSUER.to_owned()),
        ErrorKind::InvalidAudience => Error::Invalid(ANOTHER_AUDIENCE.to_owned()),
        ErrorKind::MissingRequiredClaim(name) => {
            Error::Invalid(format!("its {name} is missing or of the wrong type"))
        }
        _ => Error::malformed(),
    }
}

/// Returns the subject. The ids of users and of clients may coincide, so a token whose `sub` equals its `client_id`
/// has the client as its subject and no user.
fn subject(sub: &str, client_id: &str) -> Subject {
    match sub == client_id {
        true => Subject::Client,
        false => Subject::User(sub.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subject_is_the_client_if_sub_equals_client_id() {
        assert_eq!(subject("12", "app"), Subject::User("12".to_owned()));
        assert_eq!(subject("12", "12"), Subject::Client);
        assert_eq!(subject("robot", "robot"), Subject::Client);
    }
}
