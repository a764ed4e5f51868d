//! The checks that an access token must pass (RFC 9068 §4, RFC 8725).

use crate::claims::{Claims, Header, decode_segment, is_access_token, known_scopes, parse_object};
use crate::error::{Error, ensure};
use foundation::clock::Timestamp;
use foundation::role::Role;
use foundation::scope::Scope;
use foundation::secret;
use jsonwebtoken::{Algorithm, DecodingKey, crypto};
use quick_cache::sync::Cache;
use revocation::{Kind, RevocationMirror, epoch_subject};
use std::sync::Arc;
use std::time::Duration;

/// The maximum length of a token, in bytes.
const MAX_LENGTH: usize = 8 * 1024;
/// The maximum age of a token, counted from its `iat`.
const MAX_AGE: Duration = Duration::from_secs(600);
/// The time by which the issuer's clock may be ahead.
const MAX_SKEW: Duration = Duration::from_secs(30);

/// The largest number of verified tokens in memory. Each takes about half a KiB.
const MAX_VERIFIED: usize = 10_000;

/// The public keys of an issuer.
pub trait PublicKeys: Sync {
    /// Returns the key with this `kid`; `None` if the issuer publishes no such key. Fails with the reason if
    /// the keys are not known yet.
    fn key(&self, kid: &str) -> impl Future<Output = Result<Option<Arc<DecodingKey>>, String>> + Send;

    /// Returns whether this is the key that the issuer publishes under this `kid`.
    fn publishes(&self, kid: &str, key: &Arc<DecodingKey>) -> bool;
}

/// Verifies access tokens of one issuer for one audience.
#[derive(Debug)]
pub struct Verifier<K> {
    keys: K,
    revocations: RevocationMirror,
    issuer: String,
    audience: String,
    /// The verified tokens by their SHA-256 hashes.
    verified: Cache<Vec<u8>, Arc<Token>>,
}

/// The contents of a verified token.
#[derive(Debug)]
pub struct Token {
    /// The subject, from `sub` and `client_id`.
    pub subject: Subject,
    /// `client_id`: the client that the token was issued to.
    pub client_id: Arc<str>,
    /// The scopes of `scope` that this API knows and that the role of the user allows.
    pub scope: Scope,
    /// `exp`.
    pub expires_at: Timestamp,
    /// `iat`.
    pub issued_at: Timestamp,
    /// `sub`.
    pub sub: String,
    /// `jti`.
    pub jti: String,
    /// `user_epoch`: the epoch of the user in which the token was issued; 0 if the token has none.
    pub user_epoch: i64,
    /// `cnf.jkt`: the thumbprint of the key that the token is bound to (RFC 9449 §6.1); `None` for a bearer
    /// token.
    pub key_thumbprint: Option<String>,
    /// `nbf`.
    valid_from: Option<Timestamp>,
    /// Empty if the token has none. No family has an empty id.
    grant_id: String,
    /// `sub` and `user_epoch`.
    user_in_epoch: String,
    /// `client_id` and `client_epoch`.
    client_in_epoch: String,
    kid: String,
    /// The key that verified the signature.
    key: Arc<DecodingKey>,
}

/// The subject of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A user, by the id in `sub`, with the role from `roles`.
    User(i64, Role),
    /// The client itself: `sub` equals `client_id` (RFC 9068 §2.2).
    Client,
}

impl<K: PublicKeys> Verifier<K> {
    /// Returns a verifier that accepts only tokens of this issuer (`iss`) for this audience (`aud`).
    pub fn new(keys: K, revocations: RevocationMirror, issuer: String, audience: String) -> Self {
        Self {
            keys,
            revocations,
            issuer,
            audience,
            verified: Cache::new(MAX_VERIFIED),
        }
    }

    /// Verifies a token at the time `now` and returns its contents. For a token that was verified before and
    /// whose key the issuer still publishes, only the times and the revocations are checked again.
    ///
    /// Fails with [`Error::Invalid`] if the token fails a check, with [`Error::NoKeys`] if no key set has
    /// been fetched yet, and with [`Error::Revocations`] if the revocations cannot be read.
    pub async fn verify(&self, token: &str, now: Timestamp) -> Result<Arc<Token>, Error> {
        ensure(token.len() <= MAX_LENGTH, "it is over 8 KiB")?;
        let hash = secret::hash(token);
        let verified = self.verified.get(&hash);
        if let Some(token) = verified.filter(|token| self.keys.publishes(&token.kid, &token.key)) {
            self.verify_again(&token, now).await?;
            return Ok(token);
        }
        let token = Arc::new(self.parse(token).await?);
        self.verify_again(&token, now).await?;
        self.verified.insert(hash, Arc::clone(&token));
        Ok(token)
    }

    /// Checks the times of a verified token, and whether it was revoked meanwhile. Fails like
    /// [`verify`](Self::verify).
    pub async fn verify_again(&self, token: &Token, now: Timestamp) -> Result<(), Error> {
        token.check_times(now)?;
        self.check_revocations(token).await
    }

    /// Verifies the signature of a token, and checks everything that does not change with time.
    async fn parse(&self, token: &str) -> Result<Token, Error> {
        let (message, signature) = token.rsplit_once('.').ok_or_else(Error::malformed)?;
        let (header, payload) = message.split_once('.').ok_or_else(Error::malformed)?;
        let header = decode_segment(header)?;
        let header: Header<'_> = parse_object(&header)?;
        let kid = header.kid.required_id("kid")?;
        let key = self.verify_signature(&header, kid, message, signature).await?;
        let payload = decode_segment(payload)?;
        let claims: Claims<'_> = parse_object(&payload)?;
        let is_of_issuer = claims.iss.required_text("iss")? == self.issuer;
        ensure(is_of_issuer, "its iss is another issuer")?;
        let is_for_us = claims.aud.is_only_audience(&self.audience);
        ensure(is_for_us, "its aud is not this API alone")?;
        let sub = claims.sub.required_id("sub")?;
        let client_id = claims.client_id.required_id("client_id")?;
        let subject = subject(sub, client_id, claims.roles.role()?)?;
        let user_epoch = claims.user_epoch.optional_count("user_epoch")?;
        let scope = known_scopes(claims.scope.required_text("scope")?);
        Ok(Token {
            scope: match &subject {
                Subject::User(_, role) => role.scope().intersection(scope),
                Subject::Client => scope,
            },
            subject,
            client_id: client_id.into(),
            expires_at: claims.exp.required_date("exp")?,
            issued_at: claims.iat.required_date("iat")?,
            valid_from: match claims.nbf.is_present() {
                true => Some(claims.nbf.required_date("nbf")?),
                false => None,
            },
            // A token that is bound in a way that this API does not know is refused.
            key_thumbprint: match &claims.cnf {
                Some(cnf) => Some(cnf.jkt.required_id("cnf.jkt")?.to_owned()),
                None => None,
            },
            sub: sub.to_owned(),
            jti: claims.jti.required_id("jti")?.to_owned(),
            grant_id: claims
                .grant_id
                .optional_text("grant_id")?
                .unwrap_or_default()
                .to_owned(),
            user_in_epoch: epoch_subject(sub, user_epoch),
            user_epoch,
            client_in_epoch: epoch_subject(client_id, claims.client_epoch.optional_count("client_epoch")?),
            kid: kid.to_owned(),
            key,
        })
    }

    /// Verifies the header of a compact JWS and its signature over `message` (RFC 7515 §5.2). Returns the key
    /// that signed it.
    async fn verify_signature(
        &self,
        header: &Header<'_>,
        kid: &str,
        message: &str,
        signature: &str,
    ) -> Result<Arc<DecodingKey>, Error> {
        let is_rs256 = header.alg.required_text("alg")? == "RS256";
        ensure(is_rs256, "its alg is not RS256")?;
        let is_typed = is_access_token(header.typ.required_text("typ")?);
        ensure(is_typed, "its typ is not at+jwt")?;
        ensure(!header.crit.is_present(), "its header has crit")?;
        ensure(!header.b64.is_present(), "its header has b64")?;
        let key = self.keys.key(kid).await.map_err(Error::NoKeys)?;
        let key = key.ok_or_else(|| Error::Invalid("the issuer has no key with its kid".to_owned()))?;
        let verified = crypto::verify(signature, message.as_bytes(), &key, Algorithm::RS256);
        let is_signed = verified.map_err(|_| Error::malformed())?;
        ensure(is_signed, "its signature is wrong")?;
        Ok(key)
    }

    /// Checks that neither the token nor its user, client, family or key is revoked.
    async fn check_revocations(&self, token: &Token) -> Result<(), Error> {
        let subjects = [
            (Kind::Jti, token.jti.as_str()),
            (Kind::User, &token.user_in_epoch),
            (Kind::Client, &token.client_in_epoch),
            (Kind::Key, &token.kid),
            (Kind::Family, &token.grant_id),
        ];
        let is_revoked = self.revocations.any_revoked(&subjects).await;
        ensure(!is_revoked.map_err(Error::Revocations)?, "it is revoked")
    }
}

impl Token {
    /// Returns the `grant_id`: the refresh token family with which the token was issued.
    pub fn grant_id(&self) -> Option<&str> {
        Some(self.grant_id.as_str()).filter(|id| !id.is_empty())
    }

    /// Returns the id of the user; `None` if the client acts for itself.
    pub const fn user_id(&self) -> Option<i64> {
        match self.subject {
            Subject::User(id, _) => Some(id),
            Subject::Client => None,
        }
    }

    /// Checks `exp`, `iat` and `nbf`.
    fn check_times(&self, now: Timestamp) -> Result<(), Error> {
        ensure(self.expires_at > now, "it has expired")?;
        let is_recent = now.since(self.issued_at) <= MAX_AGE;
        ensure(is_recent, "it was issued over 600 s ago")?;
        let latest = now.after(MAX_SKEW);
        ensure(self.issued_at <= latest, "its iat is in the future")?;
        let is_valid_by_now = self.valid_from.is_none_or(|from| from <= latest);
        ensure(is_valid_by_now, "its nbf is in the future")
    }
}

/// Returns the subject. The ids of users and of clients may coincide, so a token whose `sub` equals its
/// `client_id` has the client as its subject and no user. Any other `sub` must be the id of a user, in the
/// form that the issuer writes.
fn subject(sub: &str, client_id: &str, role: Role) -> Result<Subject, Error> {
    if sub == client_id {
        return Ok(Subject::Client);
    }
    let id = sub
        .parse()
        .ok()
        .filter(|id: &i64| *id > 0 && id.to_string() == sub);
    let id = id.ok_or_else(|| Error::Invalid("its sub is not a user id".to_owned()))?;
    Ok(Subject::User(id, role))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subject_is_the_client_if_sub_equals_client_id() {
        let subject = |sub, client_id| subject(sub, client_id, Role::Editor).ok();
        assert_eq!(subject("12", "app"), Some(Subject::User(12, Role::Editor)));
        assert_eq!(subject("12", "12"), Some(Subject::Client));
        assert_eq!(subject("robot", "robot"), Some(Subject::Client));
        for sub in ["", "0", "-1", "+1", "01", "robot", "9223372036854775808"] {
            assert_eq!(subject(sub, "app"), None, "{sub}");
        }
    }
}
