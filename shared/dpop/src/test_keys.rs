//! Keys with which the unit tests sign proofs.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair as RsaKeyPair, KeySize, PublicKeyComponents};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
    RSA_PSS_SHA256,
};
use foundation::clock::Timestamp;
use foundation::secret::encode;
use serde_json::{Value, json};

/// The time at which proofs are made and verified.
pub(crate) const NOW: Timestamp = Timestamp::from_micros(1_767_225_600_000_000);
/// The URL that proofs are made for.
pub(crate) const URL: &str = "https://issuer.example/token";

/// A key of a client.
pub(crate) enum Key {
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
    Rsa(RsaKeyPair, &'static str),
}

impl Key {
    pub(crate) fn ec() -> Self {
        Self::Ec(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap())
    }

    pub(crate) fn ed() -> Self {
        Self::Ed(Ed25519KeyPair::generate().unwrap())
    }

    pub(crate) fn rsa(alg: &'static str) -> Self {
        Self::Rsa(RsaKeyPair::generate(KeySize::Rsa2048).unwrap(), alg)
    }

    pub(crate) fn jwk(&self) -> Value {
        match self {
            Self::Ec(pair) => {
                let point = &pair.public_key().as_ref()[1..];
                json!({ "kty": "EC", "crv": "P-256", "x": encode(&point[..32]), "y": encode(&point[32..]) })
            }
            Self::Ed(pair) => {
                json!({ "kty": "OKP", "crv": "Ed25519", "x": encode(pair.public_key().as_ref()) })
            }
            Self::Rsa(pair, _) => {
                let public = PublicKeyComponents::<Vec<u8>>::from(pair.public_key());
                json!({ "kty": "RSA", "n": encode(&public.n), "e": encode(&public.e) })
            }
        }
    }

    /// The header of a proof.
    pub(crate) fn header(&self) -> Value {
        let alg = match self {
            Self::Ec(_) => "ES256",
            Self::Ed(_) => "EdDSA",
            Self::Rsa(_, alg) => alg,
        };
        json!({ "typ": "dpop+jwt", "alg": alg, "jwk": self.jwk() })
    }

    /// Signs with the algorithm of the key, whatever the header says.
    pub(crate) fn sign(&self, header: &str, claims: &str) -> String {
        let message = format!("{}.{}", encode(header.as_bytes()), encode(claims.as_bytes()));
        let (text, random) = (message.as_bytes(), SystemRandom::new());
        let signature = match self {
            Self::Ec(pair) => pair.sign(&random, text).unwrap().as_ref().to_vec(),
            Self::Ed(pair) => pair.sign(text).as_ref().to_vec(),
            Self::Rsa(pair, alg) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                match *alg {
                    "PS256" => pair.sign(&RSA_PSS_SHA256, &random, text, &mut signature),
                    _ => pair.sign(&RSA_PKCS1_SHA256, &random, text, &mut signature),
                }
                .unwrap();
                signature
            }
        };
        format!("{message}.{}", encode(&signature))
    }

    /// A valid proof with these claims.
    pub(crate) fn proof(&self, claims: &Value) -> String {
        self.sign(&self.header().to_string(), &claims.to_string())
    }
}

/// The claims of a valid proof for [`URL`].
pub(crate) fn claims() -> Value {
    json!({ "jti": "1", "htm": "POST", "htu": URL, "iat": NOW.seconds() })
}
