//! Sealing: authenticated encryption of stored secrets under a key that the database never holds.

use crate::random;
use crate::secret::{decode, encode};
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::{hkdf, hmac};
use std::str::FromStr;

const NONCE_LEN: usize = 12;

/// A 256-bit key. Its text form is base64url without padding.
#[derive(Clone, PartialEq, Eq)]
pub struct SealingKey([u8; 32]);

/// The error of [`SealingKey::open`]: the value was sealed under another key or name, or it was altered.
#[derive(Debug, thiserror::Error)]
#[error("a sealed value cannot be decrypted: check that the sealing key is the one it was sealed with")]
pub struct UnsealError;

impl SealingKey {
    /// Generates a random key.
    pub fn generate() -> Self {
        Self(random::bytes())
    }

    /// Returns the key's text form, to be written to a key file.
    pub fn to_text(&self) -> String {
        encode(&self.0)
    }

    /// Encrypts `plain` with AES-256-GCM and a random nonce. Returns the nonce, the ciphertext and the tag.
    /// `name` is authenticated: if it identifies a row, a value that is copied to another row does not open
    /// there.
    pub fn seal(&self, name: &str, plain: &[u8]) -> Vec<u8> {
        let nonce: [u8; NONCE_LEN] = random::bytes();
        let mut sealed = plain.to_vec();
        #[allow(clippy::expect_used, reason = "AES-GCM fails only beyond 64 GiB")]
        self.aead()
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(name.as_bytes()),
                &mut sealed,
            )
            .expect("the plaintext is shorter than 64 GiB");
        [&nonce, sealed.as_slice()].concat()
    }

    /// Decrypts a value that was sealed by [`seal`](Self::seal). Fails if the key or `name` is not the one it
    /// was sealed with, or if the value was altered.
    pub fn open(&self, name: &str, sealed: &[u8]) -> Result<Vec<u8>, UnsealError> {
        let (nonce, ciphertext) = sealed.split_at_checked(NONCE_LEN).ok_or(UnsealError)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| UnsealError)?;
        let mut buffer = ciphertext.to_vec();
        let plain = self
            .aead()
            .open_in_place(nonce, Aad::from(name.as_bytes()), &mut buffer)
            .map_err(|_| UnsealError)?;
        Ok(plain.to_vec())
    }

    /// Derives a separate MAC key for `purpose` with HKDF (RFC 5869).
    pub fn mac_key(&self, purpose: &str) -> hmac::Key {
        let info = [purpose.as_bytes()];
        let pseudorandom = hkdf::Salt::new(hkdf::HKDF_SHA256, &[]).extract(&self.0);
        #[allow(clippy::expect_used, reason = "the requested length is one hash length")]
        let okm = pseudorandom
            .expand(&info, hmac::HMAC_SHA256)
            .expect("HKDF can output one hash length");
        hmac::Key::from(okm)
    }

    fn aead(&self) -> LessSafeKey {
        #[allow(clippy::expect_used, reason = "the array has the length of an AES-256 key")]
        LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &self.0).expect("an AES-256 key has 32 bytes"))
    }
}

impl FromStr for SealingKey {
    type Err = &'static str;

    /// Parses the text form, with or without padding and surrounding white space.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        decode(text.trim().trim_end_matches('='))
            .and_then(|bytes| <[u8; 32]>::try_from(bytes).ok())
            .map(Self)
            .ok_or("a key must be 32 random bytes in base64url (43 characters)")
    }
}

crate::opaque_debug!(SealingKey);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_opens_only_unaltered_with_its_own_key_and_name() {
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
    fn keys_parse_from_their_text_form() {
        let key = SealingKey::generate();
        assert_eq!(key.to_text().parse::<SealingKey>().unwrap(), key);
        assert!("short".parse::<SealingKey>().is_err());
    }
}
