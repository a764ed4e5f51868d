//! Authentication of clients by signed assertions: `private_key_jwt` (RFC 7523 §2.2, §3; OpenID Connect Core
//! §9).

use super::jwks::verification_keys;
use super::published_keys::PublishedKeys;
use clap::ValueEnum;
use foundation::clock::Timestamp;
use foundation::{json, secret};
use identity::clients::{Client, Clients};
use jsonwebtoken::{Algorithm, crypto};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use storage::db::{Db, Error};
use storage::{delete_expired, execute, sql};

sql! {
    CLAIM = "INSERT INTO client_assertions (client_id, jti_hash, expires_at) VALUES ($1, $2, $3)
             ON CONFLICT (client_id, jti_hash) DO NOTHING";
    PRUNE = delete_expired!("client_assertions");
}

/// The value of `client_assertion_type` (RFC 7523 §2.2).
pub const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// The longest assertion, in bytes.
const MAX_LENGTH: usize = 8 * 1024;
/// The longest `jti`, in bytes.
const MAX_JTI_LENGTH: usize = 256;
/// The longest time until the expiry of an assertion: client libraries choose up to an hour by default.
const MAX_LIFETIME: Duration = Duration::from_secs(3600);
/// The time by which the clock of a client may be ahead.
const MAX_SKEW: Duration = Duration::from_secs(30);
/// The time for which a used assertion is remembered after its expiry, because the clocks of the issuer's
/// machines differ.
const RETENTION: Duration = Duration::from_secs(3600);

/// The values of `aud` that an assertion may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AssertionAudience {
    /// The issuer's URL or that of an endpoint (RFC 7523 §3, RFC 9126 §2), or a list of them. A list with
    /// another server is refused, because that server could use the assertion here.
    Any,
    /// The issuer's URL as a string (FAPI 2.0 Security Profile §5.3.2.1): an attacker cannot get an assertion
    /// for this issuer by naming its endpoints in the metadata of another one.
    Issuer,
}

/// The server to which assertions are presented.
#[derive(Clone, Copy)]
pub struct Recipient<'a> {
    /// The issuer's URL.
    pub issuer: &'a str,
    /// The values of `aud` that name it.
    pub audience: AssertionAudience,
}

/// An assertion as a client presents it.
#[derive(Clone, Copy)]
pub struct PresentedAssertion<'a> {
    /// `client_assertion`
    pub assertion: &'a str,
    /// `client_id`, which may be omitted (RFC 7521 §4.2).
    pub client_id: Option<&'a str>,
}

/// The reason why a client was not authenticated.
#[derive(Debug, thiserror::Error)]
pub enum AssertionError {
    /// The assertion is malformed, expired, used, or not signed by a key of the client. The message addresses
    /// the developer of the client.
    #[error("the client assertion is not valid: {0}")]
    Invalid(&'static str),
    /// The keys that the client publishes cannot be fetched or used. The message addresses the developer of
    /// the client.
    #[error("the keys at the jwks_uri of the client cannot be used: {0}")]
    Keys(String),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] Error),
}

/// The members of the header (RFC 7515 §4) that are read.
#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    crit: Option<Value>,
}

/// The claims (RFC 7523 §3) that are read.
#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    aud: Audience,
    jti: String,
    exp: i64,
    iat: Option<i64>,
    nbf: Option<i64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

/// An assertion whose signature is not verified yet.
struct Assertion<'a> {
    header: Header,
    claims: Claims,
    message: &'a str,
    signature: &'a str,
}

/// Returns the enabled client that signed an assertion, which is then used up. The assertion must be for the
/// recipient. May fetch the keys of the client, see [`PublishedKeys`].
pub async fn authenticate_by_assertion(
    clients: &Clients,
    published: &PublishedKeys,
    db: &Db,
    recipient: Recipient<'_>,
    presented: PresentedAssertion<'_>,
    now: Timestamp,
) -> Result<Arc<Client>, AssertionError> {
    const NO_KEY: AssertionError =
        AssertionError::Invalid("no enabled client with its sub has registered a key that verifies it");
    let assertion = Assertion::parse(presented.assertion).map_err(AssertionError::Invalid)?;
    assertion
        .check(recipient, presented.client_id, now)
        .map_err(AssertionError::Invalid)?;
    let client = clients.find(&assertion.claims.sub, now).await?;
    let client = client.filter(|client| client.disabled_at.is_none());
    let client = client.ok_or(NO_KEY)?;
    let algorithm = assertion.algorithm().ok_or(NO_KEY)?;
    let is_signed_by = |jwks: &Value| assertion.is_signed_by(jwks, algorithm);
    let is_authentic = match &client.jwks_uri {
        Some(uri) => {
            let verified = published.verify(&client.id, uri, now, is_signed_by).await;
            verified.map_err(AssertionError::Keys)?
        }
        None => client.jwks.as_ref().is_some_and(is_signed_by),
    };
    if !is_authentic {
        return Err(NO_KEY);
    }
    let (jti_hash, expires_at) = (secret::hash(&assertion.claims.jti), assertion.expires_at());
    match execute!(db.writer(), CLAIM, client.id.clone(), jti_hash, expires_at)? {
        1 => Ok(client),
        _ => Err(AssertionError::Invalid("its jti was used before")),
    }
}

/// Returns the id of the client that an assertion names. Nothing is verified.
pub fn claimed_client(assertion: &str) -> Option<String> {
    Assertion::parse(assertion)
        .ok()
        .map(|assertion| assertion.claims.sub)
}

/// Deletes the assertions that expired so long ago that no clock takes them as valid. Returns their number.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, Error> {
    db.prune(PRUNE, now.before(RETENTION)).await
}

impl<'a> Assertion<'a> {
    fn parse(text: &'a str) -> Result<Self, &'static str> {
        const MALFORMED: &str = "it is not a compact JWS with the claims iss, sub, aud, jti and exp";
        if text.len() > MAX_LENGTH {
            return Err("it is over 8 KiB");
        }
        let (message, signature) = text.rsplit_once('.').ok_or(MALFORMED)?;
        let (header, claims) = message.split_once('.').ok_or(MALFORMED)?;
        Ok(Self {
            header: parse_segment(header).ok_or(MALFORMED)?,
            claims: parse_segment(claims).ok_or(MALFORMED)?,
            message,
            signature,
        })
    }

    /// Checks everything but the signature and whether it was used.
    fn check(
        &self,
        recipient: Recipient<'_>,
        client_id: Option<&str>,
        now: Timestamp,
    ) -> Result<(), &'static str> {
        let ensure = |holds: bool, flaw| if holds { Ok(()) } else { Err(flaw) };
        let claims = &self.claims;
        ensure(self.header.crit.is_none(), "its header has crit")?;
        ensure(claims.iss == claims.sub, "its iss and its sub differ")?;
        let is_of_client = client_id.is_none_or(|id| id == claims.sub);
        ensure(is_of_client, "its sub is not the client_id of the request")?;
        claims.aud.check(recipient)?;
        let has_length = (1..=MAX_JTI_LENGTH).contains(&claims.jti.len());
        ensure(has_length, "its jti must have 1 to 256 bytes")?;
        let (expires_at, latest) = (self.expires_at(), now.after(MAX_SKEW).seconds());
        ensure(expires_at > now, "it has expired")?;
        let ends_soon = expires_at <= now.after(MAX_LIFETIME + MAX_SKEW);
        ensure(ends_soon, "its exp is over an hour ahead")?;
        let is_issued_by_now = claims.iat.is_none_or(|at| at <= latest);
        ensure(is_issued_by_now, "its iat is in the future")?;
        let is_valid_by_now = claims.nbf.is_none_or(|at| at <= latest);
        ensure(is_valid_by_now, "its nbf is in the future")
    }

    fn expires_at(&self) -> Timestamp {
        Timestamp::from_micros(self.claims.exp.saturating_mul(1_000_000))
    }

    /// Returns the algorithm that the header names, if it is one of [`ALGORITHMS`](super::ALGORITHMS).
    fn algorithm(&self) -> Option<Algorithm> {
        match self.header.alg.as_str() {
            "RS256" => Some(Algorithm::RS256),
            "ES256" => Some(Algorithm::ES256),
            _ => None,
        }
    }

    /// Returns whether a key of a JWK set verifies the signature.
    fn is_signed_by(&self, jwks: &Value, algorithm: Algorithm) -> bool {
        let (message, kid) = (self.message.as_bytes(), self.header.kid.as_deref());
        let mut keys = verification_keys(jwks, algorithm, kid).into_iter();
        keys.any(|key| crypto::verify(self.signature, message, &key, algorithm).unwrap_or(false))
    }
}

impl Audience {
    /// Checks that it names the recipient.
    fn check(&self, recipient: Recipient<'_>) -> Result<(), &'static str> {
        let is_issuer = |audience: &String| audience == recipient.issuer;
        let is_endpoint = |audience: &String| {
            let path = audience.strip_prefix(recipient.issuer);
            matches!(path, Some("/token" | "/par"))
        };
        let names_any = |audience: &String| is_issuer(audience) || is_endpoint(audience);
        match (recipient.audience, self) {
            (AssertionAudience::Issuer, Self::One(audience)) if is_issuer(audience) => Ok(()),
            (AssertionAudience::Any, Self::One(audience)) if names_any(audience) => Ok(()),
            (AssertionAudience::Any, Self::Several(all)) if !all.is_empty() && all.iter().all(names_any) => {
                Ok(())
            }
            (AssertionAudience::Issuer, _) => Err("its aud is not the issuer's URL as a string"),
            (AssertionAudience::Any, _) => Err(
                "its aud names another server than this issuer, by its URL, that of /token or that of /par",
            ),
        }
    }
}

/// Parses a segment of a JWS, an object without duplicate members in base64url.
fn parse_segment<T: for<'de> Deserialize<'de>>(segment: &str) -> Option<T> {
    let bytes = secret::decode(segment)?;
    let value = json::parse(&bytes).ok().filter(Value::is_object)?;
    serde_json::from_value(value).ok()
}
