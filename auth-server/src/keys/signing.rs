//! RSA keys by aws-lc-rs. The parsed key is kept: parsing it at each signature would cost more than signing.

use super::Error;
use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_SHA256};
use serde::Serialize;
use shared::random;
use shared::seal::SealingKey;
use shared::secret::encode;

/// A key pair that signs RS256 (RFC 7518 §3.3).
#[derive(Debug)]
pub(crate) struct SigningKey {
    kid: String,
    pair: KeyPair,
}

/// A new key, not stored yet: what is published of it and what is sealed.
pub(super) struct Draft {
    pub(super) kid: String,
    pub(super) public_jwk: String,
    pub(super) sealed_private_key: Vec<u8>,
}

/// RFC 7517 §4, RFC 7518 §6.3.1.
#[derive(Serialize)]
struct Jwk<'a> {
    kty: &'a str,
    #[serde(rename = "use")]
    usage: &'a str,
    alg: &'a str,
    kid: &'a str,
    n: String,
    e: String,
}

#[derive(Serialize)]
struct Header<'a> {
    alg: &'a str,
    typ: &'a str,
    kid: &'a str,
}

impl SigningKey {
    pub(super) fn parse(kid: &str, private: &[u8]) -> Result<Self, Error> {
        let pair = KeyPair::from_pkcs8(private).map_err(|error| Error::Rsa(error.to_string()))?;
        Ok(Self {
            kid: kid.to_owned(),
            pair,
        })
    }

    /// Its id in the JWKS.
    pub(super) fn kid(&self) -> &str {
        &self.kid
    }

    /// Signs claims as a compact JWS of type `at+jwt` (RFC 9068 §2.1).
    pub(crate) fn sign_access_token<C: Serialize>(&self, claims: &C) -> Result<String, Error> {
        let header = Header {
            alg: "RS256",
            typ: "at+jwt",
            kid: &self.kid,
        };
        let json = |error: serde_json::Error| Error::Rsa(error.to_string());
        let header = encode(&serde_json::to_vec(&header).map_err(json)?);
        let claims = encode(&serde_json::to_vec(claims).map_err(json)?);
        let mut token = format!("{header}.{claims}");
        let mut signature = vec![0; self.pair.public_modulus_len()];
        self.pair
            .sign(
                &RSA_PKCS1_SHA256,
                &SystemRandom::new(),
                token.as_bytes(),
                &mut signature,
            )
            .map_err(|error| Error::Rsa(error.to_string()))?;
        token.push('.');
        token.push_str(&encode(&signature));
        Ok(token)
    }
}

/// Makes a key. Takes a good part of a second: not for an async thread.
pub(super) fn generate(bits: u32, master_key: &SealingKey) -> Result<Draft, Error> {
    let size = match bits {
        4096 => KeySize::Rsa4096,
        3072 => KeySize::Rsa3072,
        _ => KeySize::Rsa2048,
    };
    let failed = |error: aws_lc_rs::error::Unspecified| Error::Rsa(error.to_string());
    let pair = KeyPair::generate(size).map_err(failed)?;
    // No kid begins with a hyphen: it is an argument of commands.
    let kid = random::uuid();
    let public = pair.public_key();
    let jwk = Jwk {
        kty: "RSA",
        usage: "sig",
        alg: "RS256",
        kid: &kid,
        n: encode(public.modulus().big_endian_without_leading_zero()),
        e: encode(public.exponent().big_endian_without_leading_zero()),
    };
    let public_jwk = serde_json::to_string(&jwk).map_err(|error| Error::Rsa(error.to_string()))?;
    let private: Pkcs8V1Der<'_> = pair.as_der().map_err(failed)?;
    Ok(Draft {
        public_jwk,
        sealed_private_key: master_key.seal(&kid, private.as_ref()),
        kid,
    })
}
