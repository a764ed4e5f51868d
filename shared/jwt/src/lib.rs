//! RSA keys for jsonwebtoken that are parsed once, for RS256 (RFC 7518 §3.3).
//!
//! `jsonwebtoken::encode` and `decode` obtain signers and verifiers from one crypto provider per process. The library's
//! own provider parses the key at every call: for a private key that takes longer than the signature itself. The
//! provider of this crate finds keys that stay parsed by a number, which the `EncodingKey` or the `DecodingKey` contains
//! in place of the key.

mod registry;

/// The members of a JWK that hold private or symmetric keys (RFC 7518 §6).
const PRIVATE_MEMBERS: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair, PublicKeyComponents};
use aws_lc_rs::signature::{ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256};
use jsonwebtoken::crypto::{self, CryptoProvider, JwtSigner, JwtVerifier, aws_lc};
use jsonwebtoken::jwk::{Jwk, ThumbprintHash};
use jsonwebtoken::signature::{self, Signer, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, errors};
use registry::Registry;
use serde_json::Value;
use std::sync::{Arc, LazyLock};

static PRIVATE_KEYS: Registry<KeyPair> = Registry::new();
static PUBLIC_KEYS: Registry<ParsedPublicKey> = Registry::new();

/// The library's provider, except for keys that are registered here.
static PROVIDER: LazyLock<CryptoProvider> = LazyLock::new(|| CryptoProvider {
    signer_factory: find_signer,
    verifier_factory: find_verifier,
    ..aws_lc::DEFAULT_PROVIDER.clone()
});

/// Whether jsonwebtoken uses the provider. It accepts one provider per process.
static IS_INSTALLED: LazyLock<bool> = LazyLock::new(|| LazyLock::force(&PROVIDER).install_default().is_ok());

/// The reason why a key cannot be used with jsonwebtoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Another part of the process used jsonwebtoken before the first key was created here.
    #[error("jsonwebtoken has another crypto provider")]
    OtherProvider,
    /// The components are not those of an RSA public key. The size of the modulus is checked at each verification.
    #[error("not an RSA public key")]
    NotRsa,
}

/// A parsed private key. The key that [`encoding_key`](Self::encoding_key) returns signs while this value exists.
#[derive(Debug)]
pub struct SigningKey {
    _pair: Arc<KeyPair>,
    encoding_key: EncodingKey,
}

/// A parsed public key. The key that [`decoding_key`](Self::decoding_key) returns verifies while this value exists.
#[derive(Debug)]
pub struct VerifyingKey {
    _parsed: Arc<ParsedPublicKey>,
    decoding_key: DecodingKey,
}

impl SigningKey {
    /// Registers a key pair. Fails with [`Error::OtherProvider`].
    pub fn new(pair: KeyPair) -> Result<Self, Error> {
        ensure_installed()?;
        let pair = Arc::new(pair);
        let number = PRIVATE_KEYS.add(&pair);
        Ok(Self {
            _pair: pair,
            encoding_key: EncodingKey::from_rsa_der(&number),
        })
    }

    /// Returns the key for `jsonwebtoken::encode`.
    pub fn encoding_key(&self) -> &EncodingKey {
        &self.encoding_key
    }
}

impl VerifyingKey {
    /// Parses a public key from its modulus and exponent, big-endian (RFC 7518 §6.3.1), and registers it.
    pub fn from_components(modulus: &[u8], exponent: &[u8]) -> Result<Self, Error> {
        ensure_installed()?;
        let components = PublicKeyComponents {
            n: modulus,
            e: exponent,
        };
        let parsed = components.to_parsed_public_key(&RSA_PKCS1_2048_8192_SHA256);
        let parsed = Arc::new(parsed.map_err(|_| Error::NotRsa)?);
        let number = PUBLIC_KEYS.add(&parsed);
        Ok(Self {
            _parsed: parsed,
            decoding_key: DecodingKey::from_rsa_der(&number),
        })
    }

    /// Returns the key for `jsonwebtoken::decode`.
    pub fn decoding_key(&self) -> &DecodingKey {
        &self.decoding_key
    }
}

/// Returns whether a JWK has a member with a private or a symmetric key, so that it is not a public key.
pub fn has_private_member(jwk: &Value) -> bool {
    PRIVATE_MEMBERS.iter().any(|member| jwk.get(member).is_some())
}

/// Returns the SHA-256 thumbprint of a public key in base64url (RFC 7638 §3); `None` if the library does not know its type. Its members
/// must be base64url. Fails with [`Error::OtherProvider`].
pub fn thumbprint(jwk: &Jwk) -> Result<Option<String>, Error> {
    // The library would otherwise install its own provider at its first use.
    ensure_installed()?;
    Ok(jwk.thumbprint(ThumbprintHash::SHA256).ok())
}

/// Returns whether a key of somebody else verifies a signature in base64url over `message`. Fails with
/// [`Error::OtherProvider`].
pub fn is_signed_by(
    key: &DecodingKey,
    algorithm: Algorithm,
    message: &[u8],
    signature: &str,
) -> Result<bool, Error> {
    ensure_installed()?;
    Ok(crypto::verify(signature, message, key, algorithm).unwrap_or(false))
}

fn ensure_installed() -> Result<(), Error> {
    match *IS_INSTALLED {
        true => Ok(()),
        false => Err(Error::OtherProvider),
    }
}

fn find_signer(algorithm: &Algorithm, key: &EncodingKey) -> errors::Result<Box<dyn JwtSigner>> {
    match PRIVATE_KEYS.find(key.as_bytes()) {
        Some(pair) if *algorithm == Algorithm::RS256 => Ok(Box::new(Rs256Signer(pair))),
        _ => (aws_lc::DEFAULT_PROVIDER.signer_factory)(algorithm, key),
    }
}

fn find_verifier(algorithm: &Algorithm, key: &DecodingKey) -> errors::Result<Box<dyn JwtVerifier>> {
    let registered = key
        .try_get_as_bytes()
        .ok()
        .and_then(|number| PUBLIC_KEYS.find(number));
    match registered {
        Some(parsed) if *algorithm == Algorithm::RS256 => Ok(Box::new(Rs256Verifier(parsed))),
        _ => (aws_lc::DEFAULT_PROVIDER.verifier_factory)(algorithm, key),
    }
}

struct Rs256Signer(Arc<KeyPair>);

impl Signer<Vec<u8>> for Rs256Signer {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, signature::Error> {
        let mut signature = vec![0; self.0.public_modulus_len()];
        self.0
            .sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature)
            .map_err(signature::Error::from_source)?;
        Ok(signature)
    }
}

impl JwtSigner for Rs256Signer {
    fn algorithm(&self) -> Algorithm {
        Algorithm::RS256
    }
}

struct Rs256Verifier(Arc<ParsedPublicKey>);

impl Verifier<Vec<u8>> for Rs256Verifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let verified = self.0.verify_sig(message, signature);
        verified.map_err(signature::Error::from_source)
    }
}

impl JwtVerifier for Rs256Verifier {
    fn algorithm(&self) -> Algorithm {
        Algorithm::RS256
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_lc_rs::rsa::KeySize;
    use aws_lc_rs::signature::KeyPair as _;
    use jsonwebtoken::{Header, Validation, decode, encode};
    use std::collections::BTreeMap;

    type Claims = BTreeMap<String, u64>;

    fn key_pair() -> (SigningKey, VerifyingKey) {
        let pair = KeyPair::generate(KeySize::Rsa2048).unwrap();
        let public = pair.public_key();
        let (n, e) = (public.modulus(), public.exponent());
        let verifying = VerifyingKey::from_components(
            n.big_endian_without_leading_zero(),
            e.big_endian_without_leading_zero(),
        );
        (SigningKey::new(pair).unwrap(), verifying.unwrap())
    }

    #[test]
    fn a_token_verifies_with_its_own_key_only() {
        let ((signing, verifying), (_, other)) = (key_pair(), key_pair());
        let claims = Claims::from([("exp".to_owned(), 4_000_000_000)]);
        let token = encode(&Header::new(Algorithm::RS256), &claims, signing.encoding_key()).unwrap();
        let validation = Validation::new(Algorithm::RS256);
        let decoded = decode::<Claims>(&token, verifying.decoding_key(), &validation).unwrap();
        assert_eq!(decoded.claims, claims);
        assert!(decode::<Claims>(&token, other.decoding_key(), &validation).is_err());
        let dropped = verifying.decoding_key().clone();
        drop(verifying);
        assert!(decode::<Claims>(&token, &dropped, &validation).is_err());
    }

    #[test]
    fn malformed_components_are_refused() {
        let refused = VerifyingKey::from_components(&[], &[1, 0, 1]);
        assert_eq!(refused.unwrap_err(), Error::NotRsa);
    }
}
