//! RSA keys. aws-lc-rs generates them and signs, jsonwebtoken encodes the tokens, and the rsa crate reads the
//! public half for the JWK.

use super::Error;
use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::KeyPair as _;
use foundation::random;
use foundation::secret::encode;
use jsonwebtoken::jwk::{
    AlgorithmParameters, CommonParameters, Jwk, KeyAlgorithm, PublicKeyUse, RSAKeyParameters, RSAKeyType,
};
use jsonwebtoken::{Algorithm, Header};
use rsa::RsaPublicKey;
use rsa::pkcs8::DecodePublicKey as _;
use rsa::traits::PublicKeyParts as _;
use serde::Serialize;

/// A parsed key pair that signs access tokens by RS256 (RFC 7518 §3.3).
#[derive(Debug)]
pub struct SigningKey {
    kid: String,
    key: jwt::SigningKey,
    header: Header,
}

/// A generated key that is not stored yet: its public JWK and its private key, which is erased from memory on drop.
pub(super) struct NewKey {
    pub(super) kid: String,
    pub(super) public_jwk: String,
    pub(super) private_key: Pkcs8V1Der<'static>,
}

impl SigningKey {
    /// Parses a private key in PKCS#8 DER.
    pub(super) fn parse(kid: &str, private_key: &[u8]) -> Result<Self, Error> {
        let pair = KeyPair::from_pkcs8(private_key).map_err(|error| Error::Rsa(error.to_string()))?;
        let key = jwt::SigningKey::new(pair).map_err(|error| Error::Rsa(error.to_string()))?;
        let mut header = Header::new(Algorithm::RS256);
        header.typ = Some("at+jwt".to_owned());
        header.kid = Some(kid.to_owned());
        Ok(Self {
            kid: kid.to_owned(),
            key,
            header,
        })
    }

    /// Returns the key's id in the JWKS.
    pub(super) fn kid(&self) -> &str {
        &self.kid
    }

    /// Signs claims as a compact JWS of this type, which keeps it from being accepted in place of another (RFC 8725 §3.11).
    pub(crate) fn sign<C: Serialize>(&self, typ: &str, claims: &C) -> Result<String, Error> {
        let mut header = self.header.clone();
        header.typ = Some(typ.to_owned());
        jsonwebtoken::encode(&header, claims, self.key.encoding_key())
            .map_err(|error| Error::Rsa(error.to_string()))
    }

    /// Signs claims as a compact JWS of type `at+jwt` (RFC 9068 §2.1), whose header exists already.
    pub(crate) fn sign_access_token<C: Serialize>(&self, claims: &C) -> Result<String, Error> {
        jsonwebtoken::encode(&self.header, claims, self.key.encoding_key())
            .map_err(|error| Error::Rsa(error.to_string()))
    }
}

/// Generates a key. Takes up to a second of CPU time, so call it outside the async threads.
pub(super) fn generate(bits: u32) -> Result<NewKey, Error> {
    let size = match bits {
        4096 => KeySize::Rsa4096,
        3072 => KeySize::Rsa3072,
        _ => KeySize::Rsa2048,
    };
    let failed = |error: aws_lc_rs::error::Unspecified| Error::Rsa(error.to_string());
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
    let failed = |error: &dyn std::fmt::Display| Error::Rsa(error.to_string());
    let der: PublicKeyX509Der<'_> = pair.public_key().as_der().map_err(|error| failed(&error))?;
    let public_key = RsaPublicKey::from_public_key_der(der.as_ref()).map_err(|error| failed(&error))?;
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
    serde_json::to_string(&jwk).map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jsonwebtoken::{DecodingKey, Validation, decode};
    use serde_json::{Value, json};

    #[test]
    fn a_signed_token_verifies_with_the_published_key() {
        let new = generate(2048).unwrap();
        let key = SigningKey::parse(&new.kid, new.private_key.as_ref()).unwrap();
        let claims = json!({ "sub": "1", "exp": 4_000_000_000_u64 });
        let token = key.sign_access_token(&claims).unwrap();

        let jwk: Jwk = serde_json::from_str(&new.public_jwk).unwrap();
        let public_key = DecodingKey::from_jwk(&jwk).unwrap();
        let decoded = decode::<Value>(&token, &public_key, &Validation::new(Algorithm::RS256)).unwrap();
        assert_eq!(decoded.claims, claims);
        assert_eq!(decoded.header.typ.as_deref(), Some("at+jwt"));
        assert_eq!(decoded.header.kid, Some(new.kid));
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
