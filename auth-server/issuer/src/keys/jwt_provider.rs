//! jsonwebtoken's crypto provider of this process: it signs with keys that stay parsed.
//!
//! `jsonwebtoken::encode` obtains its signer from one process-wide function. The library's own function
//! parses the private key at every signature, which takes longer than the signature itself. This one finds
//! the parsed key by its `kid`, which the `EncodingKey` holds in place of the private key.

use super::Error;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeyPair;
use aws_lc_rs::signature::RSA_PKCS1_SHA256;
use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, aws_lc};
use jsonwebtoken::signature::{self, Signer};
use jsonwebtoken::{Algorithm, EncodingKey, errors};
use std::sync::{Arc, LazyLock, PoisonError, RwLock, Weak};

/// The parsed keys by `kid`. Their owners keep them alive: a key that is dropped is no longer found.
static PARSED_KEYS: RwLock<Vec<(String, Weak<KeyPair>)>> = RwLock::new(Vec::new());

/// The library's provider, except for signatures by parsed keys.
static PROVIDER: LazyLock<CryptoProvider> = LazyLock::new(|| CryptoProvider {
    signer_factory: find_signer,
    ..aws_lc::DEFAULT_PROVIDER.clone()
});

/// Whether jsonwebtoken uses the provider. It accepts one provider per process.
static IS_INSTALLED: LazyLock<bool> = LazyLock::new(|| LazyLock::force(&PROVIDER).install_default().is_ok());

/// Registers a parsed key. Returns the key by which `jsonwebtoken::encode` signs with it.
pub(super) fn register(kid: &str, pair: &Arc<KeyPair>) -> Result<EncodingKey, Error> {
    if !*IS_INSTALLED {
        return Err(Error::Rsa("jsonwebtoken has another crypto provider".to_owned()));
    }
    let mut keys = PARSED_KEYS.write().unwrap_or_else(PoisonError::into_inner);
    keys.retain(|(_, pair)| pair.strong_count() > 0);
    keys.push((kid.to_owned(), Arc::downgrade(pair)));
    Ok(EncodingKey::from_rsa_der(kid.as_bytes()))
}

fn find_signer(algorithm: &Algorithm, key: &EncodingKey) -> errors::Result<Box<dyn JwtSigner>> {
    let keys = PARSED_KEYS.read().unwrap_or_else(PoisonError::into_inner);
    let mut found = keys.iter().filter(|(kid, _)| kid.as_bytes() == key.as_bytes());
    match found.find_map(|(_, pair)| pair.upgrade()) {
        Some(pair) => Ok(Box::new(Rs256Signer(pair))),
        None => (aws_lc::DEFAULT_PROVIDER.signer_factory)(algorithm, key),
    }
}

/// Signs RS256 (RFC 7518 §3.3) with a parsed key.
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
