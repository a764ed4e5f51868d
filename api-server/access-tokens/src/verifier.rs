//! The checks that an access token must pass (RFC 9068 §4, RFC 8725).

use crate::claims::{Claims, Header, decode_segment, is_access_token, known_scopes, parse_object};
use crate::error::{Error, ensure};
use crate::jwks::Jwks;
use audit::revocation::{Kind, RevocationMirror};
use foundation::clock::Timestamp;
use foundation::role::Role;
use foundation::scope::Scope;
use jsonwebtoken::{Algorithm, crypto};
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
    /// A user, by the `sub` of the token, with the role from `roles`.
    User(String, Role),
    /// The client itself: `sub` equals `client_id` (RFC 9068 §2.2).
    Client,
}

impl Verifier {
    /// Returns a verifier that accepts only tokens of this issuer (`iss`) for this audience (`aud`).
    pub fn new(jwks: Jwks, revocations: RevocationMirror, issuer: String, audience: String) -> Self {
        Self {
            jwks,
            revocations,
            issuer,
            audience,
        }
    }

    /// Verifies a token at the time `now` and returns its contents.
    ///
    /// Fails with [`Error::Invalid`] if the token fails a check, with [`Error::NoKeys`] if no key set has been fetched
    /// yet, and with [`Error::Revocations`] if the revocations cannot be read.
    pub async fn verify(&self, token: &str, now: Timestamp) -> Result<Token, Error> {
        ensure(token.len() <= MAX_LENGTH, "it is over 8 KiB")?;
        let (message, signature) = token.rsplit_once('.').ok_or_else(Error::malformed)?;
        let (header, payload) = message.split_once('.').ok_or_else(Error::malformed)?;
        let header = decode_segment(header)?;
        let header: Header<'_> = parse_object(&header)?;
        let kid = self.verify_signature(&header, message, signature).await?;
        let payload = decode_segment(payload)?;
        let claims: Claims<'_> = parse_object(&payload)?;
        ensure(
            claims.iss.required_text("iss")? == self.issuer,
            "its iss is another issuer",
        )?;
        let is_for_us = claims.aud.is_only_audience(&self.audience);
        ensure(is_for_us, "its aud is not this API alone")?;
        let expires_at = check_times(&claims, now)?;
        let sub = claims.sub.required_text("sub")?;
        let client_id = claims.client_id.required_text("client_id")?;
        let scope = known_scopes(claims.scope.required_text("scope")?);
        let role = claims.roles.role()?;
        self.check_revocations(&claims, kid).await?;
        Ok(Token {
            subject: subject(sub, client_id, role),
            client_id: client_id.to_owned(),
            scope,
            expires_at,
        })
    }

    /// Verifies the header of a compact JWS and its signature over `message` (RFC 7515 §5.2). Returns the `kid` of the
    /// key that signed it.
    async fn verify_signature<'a>(
        &self,
        header: &'a Header<'_>,
        message: &str,
        signature: &str,
    ) -> Result<&'a str, Error> {
        ensure(
            header.alg.required_text("alg")? == "RS256",
            "its alg is not RS256",
        )?;
        ensure(
            is_access_token(header.typ.required_text("typ")?),
            "its typ is not at+jwt",
        )?;
        ensure(!header.crit.is_present(), "its header has crit")?;
        ensure(!header.b64.is_present(), "its header has b64")?;
        let kid = header.kid.required_text("kid")?;
        let key = self.jwks.key(kid).await.map_err(Error::NoKeys)?;
        let key = key.ok_or_else(|| Error::Invalid("the issuer has no key with its kid".to_owned()))?;
        let verified = crypto::verify(
            signature,
            message.as_bytes(),
            key.decoding_key(),
            Algorithm::RS256,
        );
        ensure(
            verified.map_err(|_| Error::malformed())?,
            "its signature is wrong",
        )?;
        Ok(kid)
    }

    /// Checks that neither the token nor its user, client, grant or key is revoked.
    async fn check_revocations(&self, claims: &Claims<'_>, kid: &str) -> Result<(), Error> {
        let subjects = [
            (Kind::Jti, claims.jti.required_text("jti")?),
            (Kind::User, claims.sub.required_text("sub")?),
            (Kind::Client, claims.client_id.required_text("client_id")?),
            (Kind::Key, kid),
            // A token without a user has no grant. No family has an empty id.
            (
                Kind::Family,
                claims.grant_id.optional_text("grant_id")?.unwrap_or_default(),
            ),
        ];
        let is_revoked = self.revocations.any_revoked(&subjects).await;
        ensure(!is_revoked.map_err(Error::Revocations)?, "it is revoked")
    }
}

/// Checks `exp`, `iat` and `nbf`, and returns `exp`.
fn check_times(claims: &Claims<'_>, now: Timestamp) -> Result<Timestamp, Error> {
    let expires_at = claims.exp.required_date("exp")?;
    ensure(expires_at > now, "it has expired")?;
    let issued_at = claims.iat.required_date("iat")?;
    ensure(now.since(issued_at) <= MAX_AGE, "it was issued over 600 s ago")?;
    ensure(issued_at <= now.after(MAX_SKEW), "its iat is in the future")?;
    if claims.nbf.is_present() {
        let is_valid_yet = claims.nbf.required_date("nbf")? <= now.after(MAX_SKEW);
        ensure(is_valid_yet, "its nbf is in the future")?;
    }
    Ok(expires_at)
}

/// Returns the subject. The ids of users and of clients may coincide, so a token whose `sub` equals its `client_id`
/// has the client as its subject and no user.
fn subject(sub: &str, client_id: &str, role: Role) -> Subject {
    match sub == client_id {
        true => Subject::Client,
        false => Subject::User(sub.to_owned(), role),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subject_is_the_client_if_sub_equals_client_id() {
        let role = Role::Editor;
        assert_eq!(subject("12", "app", role), Subject::User("12".to_owned(), role));
        assert_eq!(subject("12", "12", role), Subject::Client);
        assert_eq!(subject("robot", "robot", role), Subject::Client);
    }
}
