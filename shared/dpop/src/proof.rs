//! The checks of a proof that need no memory (RFC 9449 §4.3).

use crate::error::{Error, ensure};
use crate::key::ProofKey;
use crate::target::is_same_target;
use foundation::clock::Timestamp;
use foundation::{json, secret};
use jsonwebtoken::crypto;
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

/// The longest proof, in bytes. One with an RSA key of 4096 bits has about 2 KiB.
const MAX_LENGTH: usize = 4 * 1024;
/// The longest `jti`, in bytes.
const MAX_JTI_LENGTH: usize = 256;
/// The age from which a proof is not accepted any more, counted from its `iat`.
const MAX_AGE: Duration = Duration::from_secs(60);
/// The time by which the clock of a client may be ahead.
const MAX_SKEW: Duration = Duration::from_secs(30);

/// A request with the proof that came with it.
#[derive(Clone, Copy, Debug)]
pub struct ProvenRequest<'a> {
    /// The value of the header `DPoP`.
    pub proof: &'a str,
    /// The method of the request.
    pub method: &'a str,
    /// The public URL of the request. Its query does not count.
    pub url: &'a str,
    /// The access token of the request; `None` at the token endpoint.
    pub access_token: Option<&'a str>,
}

/// A proof that passed all checks but those of its nonce and of its single use.
#[derive(Debug)]
pub struct Proof {
    /// The thumbprint of the key that signed it (RFC 7638): a SHA-256 hash in base64url.
    pub thumbprint: String,
    /// `nonce`
    pub nonce: Option<String>,
    /// `jti`
    pub jti: String,
    /// Whether it came with an access token.
    pub has_token: bool,
    /// The earliest time at which it may have been accepted.
    pub acceptable_since: Timestamp,
    /// The time from which it is not accepted any more.
    pub expires_at: Timestamp,
}

/// The claims (RFC 9449 §4.2).
#[derive(Deserialize)]
struct Claims {
    jti: String,
    htm: String,
    htu: String,
    iat: f64,
    ath: Option<String>,
    nonce: Option<String>,
}

/// Verifies a proof at `now`, except for its nonce and its single use. Fails with [`Error::Invalid`].
pub fn verify(request: ProvenRequest<'_>, now: Timestamp) -> Result<Proof, Error> {
    const MALFORMED: Error = Error::Invalid("it is not a compact JWS with the claims jti, htm, htu and iat");
    ensure(request.proof.len() <= MAX_LENGTH, "it is over 4 KiB")?;
    let (message, signature) = request.proof.rsplit_once('.').ok_or(MALFORMED)?;
    let (header, claims) = message.split_once('.').ok_or(MALFORMED)?;
    let header = parse_segment(header).ok_or(MALFORMED)?;
    let claims = parse_segment(claims).ok_or(MALFORMED)?;
    let claims: Claims = serde_json::from_value(claims).map_err(|_| MALFORMED)?;
    let key = read_header(&header)?;
    let issued_at = claims.check(&request, now)?;
    // Last, because it takes the most time.
    let verified = crypto::verify(signature, message.as_bytes(), &key.key, key.algorithm);
    ensure(verified.unwrap_or(false), "its signature is wrong")?;
    Ok(Proof {
        thumbprint: key.thumbprint,
        nonce: claims.nonce,
        jti: claims.jti,
        has_token: request.access_token.is_some(),
        acceptable_since: issued_at.before(MAX_SKEW),
        expires_at: issued_at.after(MAX_AGE),
    })
}

/// Checks the header and returns its key.
fn read_header(header: &Value) -> Result<ProofKey, Error> {
    let text = |name: &str| header[name].as_str().unwrap_or_default();
    let is_typed = text("typ").eq_ignore_ascii_case("dpop+jwt");
    ensure(is_typed, "its typ is not dpop+jwt")?;
    ensure(header.get("crit").is_none(), "its header has crit")?;
    ensure(header.get("b64").is_none(), "its header has b64")?;
    ProofKey::read(text("alg"), &header["jwk"])
}

impl Claims {
    /// Checks the claims. Returns the time of `iat`.
    fn check(&self, request: &ProvenRequest<'_>, now: Timestamp) -> Result<Timestamp, Error> {
        let has_length = (1..=MAX_JTI_LENGTH).contains(&self.jti.len());
        ensure(has_length, "its jti must have 1 to 256 bytes")?;
        ensure(self.htm == request.method, "its htm is another method")?;
        ensure(is_same_target(&self.htu, request.url), "its htu is another URL")?;
        let since_epoch = Duration::try_from_secs_f64(self.iat).ok();
        let since_epoch = since_epoch.ok_or(Error::Invalid("its iat is not a NumericDate"))?;
        let issued_at = Timestamp::from_micros(0).after(since_epoch);
        ensure(issued_at.after(MAX_AGE) > now, "its iat is over 60 s ago")?;
        ensure(issued_at <= now.after(MAX_SKEW), "its iat is in the future")?;
        let Some(token) = request.access_token else {
            return Ok(issued_at);
        };
        let hash = secret::encode(&secret::hash(token));
        let is_for_token = self.ath.as_deref() == Some(hash.as_str());
        ensure(is_for_token, "its ath is not the hash of the access token")?;
        Ok(issued_at)
    }
}

/// Parses a segment of a JWS, an object without duplicate members in base64url.
fn parse_segment(segment: &str) -> Option<Value> {
    let bytes = secret::decode(segment)?;
    json::parse(&bytes).ok().filter(Value::is_object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_keys::{Key, NOW, URL, claims};
    use proptest::prelude::*;
    use serde_json::json;

    fn at_token(proof: &str) -> Result<Proof, Error> {
        let request = ProvenRequest {
            proof,
            method: "POST",
            url: URL,
            access_token: None,
        };
        verify(request, NOW)
    }

    fn with(mut object: Value, name: &str, value: Value) -> Value {
        object[name] = value;
        object
    }

    fn without(mut object: Value, name: &str) -> Value {
        object.as_object_mut().unwrap().remove(name);
        object
    }

    #[test]
    fn a_proof_of_each_algorithm_verifies_with_its_own_signature_only() {
        for key in [Key::ec(), Key::ed(), Key::rsa("RS256"), Key::rsa("PS256")] {
            let proof = key.proof(&claims());
            assert_eq!(at_token(&proof).unwrap().jti, "1");
            let (message, _) = proof.rsplit_once('.').unwrap();
            let other = key.proof(&with(claims(), "jti", json!("2")));
            let (_, signature) = other.rsplit_once('.').unwrap();
            assert!(at_token(&format!("{message}.{signature}")).is_err());
            assert!(at_token(&format!("{message}.")).is_err());
        }
        let (key, thief) = (Key::ec(), Key::ec());
        assert!(at_token(&thief.sign(&key.header().to_string(), &claims().to_string())).is_err());
        let as_other_alg = with(Key::rsa("PS256").header(), "alg", json!("RS256"));
        assert!(at_token(&Key::rsa("PS256").sign(&as_other_alg.to_string(), &claims().to_string())).is_err());
    }

    #[test]
    fn the_header_names_the_type_an_asymmetric_algorithm_and_a_public_key() {
        let key = Key::ec();
        let accepts = |header: Value| at_token(&key.sign(&header.to_string(), &claims().to_string())).is_ok();
        let header = || key.header();
        assert!(accepts(header()) && accepts(with(header(), "typ", json!("DPoP+JWT"))));
        assert!(accepts(with(header(), "kid", json!("x"))));
        for typ in [
            json!("JWT"),
            json!("at+jwt"),
            json!(""),
            Value::Null,
            json!(["dpop+jwt"]),
        ] {
            assert!(!accepts(with(header(), "typ", typ.clone())), "{typ}");
        }
        for alg in [
            json!("none"),
            json!("HS256"),
            json!("ES384"),
            json!(["ES256"]),
            Value::Null,
        ] {
            assert!(!accepts(with(header(), "alg", alg.clone())), "{alg}");
        }
        assert!(!accepts(with(header(), "crit", json!([]))) && !accepts(with(header(), "crit", Value::Null)));
        assert!(!accepts(with(header(), "b64", json!(false))));
        assert!(!accepts(with(header(), "jwk", with(key.jwk(), "d", json!("AQ")))));
        for name in ["typ", "alg", "jwk"] {
            assert!(!accepts(without(header(), name)), "{name}");
        }
    }

    #[test]
    fn the_claims_name_the_request() {
        let key = Key::ec();
        let accepts = |claims: Value| at_token(&key.proof(&claims)).is_ok();
        assert!(accepts(claims()) && accepts(with(claims(), "other", json!({ "a": 1 }))));
        assert!(accepts(with(claims(), "htu", json!(format!("{URL}?a=b#c")))));
        for name in ["jti", "htm", "htu", "iat"] {
            assert!(!accepts(without(claims(), name)), "{name}");
            assert!(!accepts(with(claims(), name, Value::Null)), "{name}");
            assert!(!accepts(with(claims(), name, json!([1]))), "{name}");
        }
        for (name, value) in [
            ("htm", json!("GET")),
            ("htm", json!("post")),
            ("htu", json!("https://issuer.example/revoke")),
            ("htu", json!("https://other.example/token")),
            ("jti", json!("")),
            ("jti", json!("x".repeat(257))),
            ("nonce", json!(1)),
        ] {
            assert!(!accepts(with(claims(), name, value.clone())), "{name} {value}");
        }
        let twice = claims().to_string().replacen('{', r#"{"htm":"POST","#, 1);
        assert!(at_token(&key.sign(&key.header().to_string(), &twice)).is_err());
    }

    #[test]
    fn a_proof_is_accepted_for_a_minute() {
        let key = Key::ec();
        let flaw = |iat: Value| at_token(&key.proof(&with(claims(), "iat", iat))).err();
        let now = NOW.seconds();
        for seconds in [-59, 0, 30] {
            assert_eq!(flaw(json!(now + seconds)), None, "{seconds}");
        }
        assert_eq!(
            flaw(json!(now - 60)),
            Some(Error::Invalid("its iat is over 60 s ago"))
        );
        assert_eq!(
            flaw(json!(now + 31)),
            Some(Error::Invalid("its iat is in the future"))
        );
        for iat in [json!("1767225600"), json!(-1), json!(1e300), json!(true)] {
            assert!(flaw(iat.clone()).is_some(), "{iat}");
        }
    }

    #[test]
    fn a_proof_for_an_access_token_has_its_hash() {
        let key = Key::ec();
        let verify = |claims: Value| {
            let request = ProvenRequest {
                proof: &key.proof(&claims),
                method: "POST",
                url: URL,
                access_token: Some("token"),
            };
            verify(request, NOW).is_ok()
        };
        let hash = |text: &str| json!(secret::encode(&secret::hash(text)));
        assert!(verify(with(claims(), "ath", hash("token"))));
        assert!(!verify(with(claims(), "ath", hash("other"))));
        assert!(!verify(with(claims(), "ath", json!("token"))));
        assert!(!verify(claims()));
    }

    #[test]
    fn a_malformed_or_long_proof_is_refused() {
        let proof = Key::ec().proof(&claims());
        for text in [
            "",
            ".",
            "..",
            "a.b.c",
            &proof[1..],
            &format!("{proof}.x"),
            &format!("{proof},{proof}"),
        ] {
            assert!(at_token(text).is_err(), "{text}");
        }
        let long = with(claims(), "padding", json!("x".repeat(4096)));
        assert_eq!(
            at_token(&Key::ec().proof(&long)).err(),
            Some(Error::Invalid("it is over 4 KiB"))
        );
    }

    proptest! {
        #[test]
        fn any_text_is_refused(text in r"[A-Za-z0-9._-]{0,200}") {
            prop_assert!(at_token(&text).is_err());
        }
    }
}
