//! The key pairs with which clients sign.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use tests::{Signer, base64url};

/// A key of a client.
pub(in crate::oauth::clients) enum Key {
    Rsa(Signer),
    Ec(EcdsaKeyPair),
}

impl Key {
    pub(in crate::oauth::clients) fn rsa(kid: &str) -> Self {
        Self::Rsa(Signer::unknown(kid))
    }

    pub(in crate::oauth::clients) fn ec() -> Self {
        Self::Ec(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap())
    }

    pub(in crate::oauth::clients) fn jwk(&self) -> Value {
        match self {
            Self::Rsa(signer) => signer.jwk(),
            Self::Ec(pair) => {
                let point = &pair.public_key().as_ref()[1..];
                json!({ "kty": "EC", "crv": "P-256", "kid": "ec", "x": base64url(&point[..32]), "y": base64url(&point[32..]) })
            }
        }
    }

    fn header(&self) -> Value {
        match self {
            Self::Rsa(signer) => json!({ "alg": "RS256", "kid": signer.kid }),
            Self::Ec(_) => json!({ "alg": "ES256", "kid": "ec" }),
        }
    }

    /// Signs with the algorithm of the key, whatever the header says.
    pub(in crate::oauth::clients) fn sign(&self, header: &Value, claims: &Value) -> String {
        match self {
            Self::Rsa(signer) => signer.sign(&header.to_string(), &claims.to_string()),
            Self::Ec(pair) => {
                let text = format!(
                    "{}.{}",
                    base64url(header.to_string()),
                    base64url(claims.to_string())
                );
                let signature = pair.sign(&SystemRandom::new(), text.as_bytes()).unwrap();
                format!("{text}.{}", base64url(signature))
            }
        }
    }

    /// An assertion with these claims.
    pub(in crate::oauth::clients) fn assertion(&self, claims: &Value) -> String {
        self.sign(&self.header(), claims)
    }
}
