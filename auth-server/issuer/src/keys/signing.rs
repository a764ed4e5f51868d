//! RSA keys. aws-lc-rs generates them and signs, and the rsa crate reads the public half for the JWK.

use super::Error;
use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_SHA256};
use foundation::random;
use foundation::secret::encode;
use jsonwebtoken::jwk::{
    AlgorithmParameters, CommonParameters, Jwk, KeyAlgorithm, PublicKeyUse, RSAKeyParameters, RSAKeyType,
};
use rsa::RsaPublicKey;
use rsa::pkcs8::DecodePublicKey as _;
use rsa::traits::PublicKeyParts as _;
use serde::Serialize;
use std::fmt::Display;

/// A key pair that signs tokens by RS256 (RFC 7518 §3.3). It stays parsed, because parsing takes longer than
/// a signature.
#[derive(Debug)]
pub struct SigningKey {
    kid: String,
    pair: KeyPair,
}

/// The header of a token (RFC 7515 §4.1).
#[derive(Serialize)]
struct Header<'a> {
    typ: &'a str,
    alg: &'a str,
    kid: &'a str,
}

/// A generated key that is not stored yet: its public JWK and its private key, which is erased from memory on
/// drop.
pub(super) struct NewKey {
    pub(super) kid: String,
    pub(super) public_jwk: String,
    pub(super) private_key: Pkcs8V1Der<'static>,
}

impl SigningKey {
    /// Parses a private key in PKCS#8 DER.
    pub(super) fn parse(kid: &str, private_key: &[u8]) -> Result<Self, Error> {
        Ok(Self {
            kid: kid.to_owned(),
            pair: KeyPair::from_pkcs8(private_key).map_err(failed)?,
        })
    }

    /// Returns the key's id in the JWKS.
    pub(crate) fn kid(&self) -> &str {
        &self.kid
    }

    /// Signs claims as a compact JWS (RFC 7515 §7.1) of this type, which keeps it from being accepted in
    /// place of another (RFC 8725 §3.11).
    pub(crate) fn sign<C: Serialize>(&self, typ: &str, claims: &C) -> Result<String, Error> {
        let header = Header {
            typ,
            alg: "RS256",
            kid: &self.kid,
        };
        let message = [encode_json(&header)?, encode_json(claims)?].join(".");
        let (text, random) = (message.as_bytes(), SystemRandom::new());
        let mut signature = vec![0; self.pair.public_modulus_len()];
        let signed = self.pair.sign(&RSA_PKCS1_SHA256, &random, text, &mut signature);
        signed.map_err(failed)?;
        Ok([message, encode(&signature)].join("."))
    }
}

/// Returns a value as JSON in base64url, the form of a segment of a JWS.
fn encode_json<T: Serialize>(value: &T) -> Result<String, Error> {
    let json = serde_json::to_vec(value).map_err(failed)?;
    Ok(encode(&json))
}

fn failed(error: impl Display) -> Error {
    Error::Rsa(error.to_string())
}

/// Generates a key. Takes up to a second of CPU time, so call it outside the async threads.
pub(super) fn generate(bits: u32) -> Result<NewKey, Error> {
    let size = match bits {
        4096 => KeySize::Rsa4096,
        3072 => KeySize::Rsa3072,
        _ => KeySize::Rsa2048,
    };
    let pair = KeyPair::generate(size).map_err(failed)?;
    // A UUID never begins with a hyphen, so commands can take the kid as an argument.
    let kid = random::uuid();
    Ok(NewKey {
        public_jwk: public_jwk(&kid, &pair)?,
        private_key: pair.as_der().map_err(failed)?,
        kid,
    })
}

/// Returns the public key as a JWK in JSON (RFC 7517 §4, RFC 7518 §6.3.1).
fn public_jwk(kid: &str, pair: &KeyPair) -> Result<String, Error> {
    let der: PublicKeyX509Der<'_> = pair.public_key().as_der().map_err(failed)?;
    let public_key = RsaPublicKey::from_public_key_der(der.as_ref()).map_err(failed)?;
    let jwk = Jwk {
        common: CommonParameters {
            public_key_use: Some(PublicKeyUse::Signature),
            key_algorithm: Some(KeyAlgorithm::RS256),
            key_id: Some(kid.to_owned()),
            ..CommonParameters::default()
        },
        algorithm: AlgorithmParameters::RSA(RSAKeyParameters {
            key_type: RSAKeyType::RSA,
            n: encode(&public_key.n().to_bytes_be()),
            e: encode(&public_key.e().to_bytes_be()),
        }),
    };
    serde_json::to_string(&jwk).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};
    use serde_json::{Value, json};

    #[test]
    fn a_signed_token_verifies_with_its_published_key_only() {
        let (new, other) = (generate(2048).unwrap(), generate(2048).unwrap());
        let key = SigningKey::parse(&new.kid, new.private_key.as_ref()).unwrap();
        let claims = json!({ "sub": "1", "exp": 4_000_000_000_u64 });
        let token = key.sign("at+jwt", &claims).unwrap();

        let verify = |published: &NewKey| {
            let jwk: Jwk = serde_json::from_str(&published.public_jwk).unwrap();
            let public_key = DecodingKey::from_jwk(&jwk).unwrap();
            decode::<Value>(&token, &public_key, &Validation::new(Algorithm::RS256))
        };
        let decoded = verify(&new).unwrap();
        assert_eq!(decoded.claims, claims);
        assert_eq!(decoded.header.typ.as_deref(), Some("at+jwt"));
        assert_eq!(decoded.header.kid, Some(new.kid));
        assert!(verify(&other).is_err());
    }

    #[test]
    fn the_jwk_has_the_members_of_a_public_rsa_key() {
        let new = generate(2048).unwrap();
        let jwk: Value = serde_json::from_str(&new.public_jwk).unwrap();
        let n = jwk["n"].as_str().unwrap();
        let expected = json!({
            "kty": "RSA", "use": "sig", "alg": "RS256", "kid": new.kid, "n": n, "e": "AQAB",
        });
        assert_eq!(jwk, expected);
    }
}
