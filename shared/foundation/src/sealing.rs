//! Sealing: what a table must keep and give back is encrypted under a key that the database never sees.

use crate::random;
use crate::secret::{decode, encode};
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::{hkdf, hmac};
use std::str::FromStr;

const NONCE_LEN: usize = 12;

/// A 256-bit key, written as base64url without padding.
#[derive(Clone, PartialEq, Eq)]
pub struct SealingKey([u8; 32]);

/// The sealed value was made under another key, for another name, or was altered.
#[derive(Debug, thiserror::Error)]
#[error("a sealed value does not open: is this the key it was sealed under?")]
pub struct UnsealError;

impl SealingKey {
    /// A new random key.
    pub fn generate() -> Self {
        Self(random::bytes())
    }

    /// The key as text, for the file that keeps it.
    pub fn to_text(&self) -> String {
        encode(&self.0)
    }

    /// Encrypts `plain` (AES-256-GCM). The `name` of what is sealed is bound to it: a value moved to
    /// another row does not open there.
    pub fn seal(&self, name: &str, plain: &[u8]) -> Vec<u8> {
        let nonce: [u8; NONCE_LEN] = random::bytes();
        let mut sealed = plain.to_vec();
        #[allow(clippy::expect_used, reason = "fails only for texts of many gigabytes")]
        self.aead()
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(name.as_bytes()),
                &mut sealed,
            )
            .expect("a short text seals");
        [&nonce, sealed.as_slice()].concat()
    }

    /// Decrypts what [`seal`](Self::seal) made for the same `name`.
    pub fn open(&self, name: &str, sealed: &[u8]) -> Result<Vec<u8>, UnsealError> {
        let (nonce, text) = sealed.split_at_checked(NONCE_LEN).ok_or(UnsealError)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| UnsealError)?;
        let mut text = text.to_vec();
        let plain = self
            .aead()
            .open_in_place(nonce, Aad::from(name.as_bytes()), &mut text)
            .map_err(|_| UnsealError)?;
        Ok(plain.to_vec())
    }

    /// A MAC key of its own for one `purpose`, derived by HKDF (RFC 5869).
    pub fn mac_key(&self, purpose: &str) -> hmac::Key {
        let info = [purpose.as_bytes()];
        let pseudorandom = hkdf::Salt::new(hkdf::HKDF_SHA256, &[]).extract(&self.0);
        #[allow(clippy::expect_used, reason = "the length asked for is that of the hash")]
        let okm = pseudorandom
            .expand(&info, hmac::HMAC_SHA256)
            .expect("HKDF gives one hash length");
        hmac::Key::from(okm)
    }

    fn aead(&self) -> LessSafeKey {
        #[allow(clippy::expect_used, reason = "the array has the length of an AES-256 key")]
        LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &self.0).expect("32 bytes make an AES-256 key"))
    }
}

impl FromStr for SealingKey {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        decode(text.trim().trim_end_matches('='))
            .and_then(|bytes| <[u8; 32]>::try_from(bytes).ok())
            .map(Self)
            .ok_or("a key is 32 random bytes in base64url (43 characters)")
    }
}

impl std::fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SealingKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_value_opens_only_whole_and_under_its_own_key_and_name() {
        let key = SealingKey::generate();
        let mut sealed = key.seal("kid-1", b"private");
        assert_eq!(key.open("kid-1", &sealed).unwrap(), b"private");
        assert!(key.open("kid-2", &sealed).is_err());
        assert!(SealingKey::generate().open("kid-1", &sealed).is_err());
        assert!(key.open("kid-1", &sealed[..5]).is_err());
        sealed[15] ^= 1;
        assert!(key.open("kid-1", &sealed).is_err());
    }

    #[test]
    fn a_key_is_read_back_from_its_text() {
        let key = SealingKey::generate();
        assert_eq!(key.to_text().parse::<SealingKey>().unwrap(), key);
        assert!("short".parse::<SealingKey>().is_err());
    }
}
