//! Refresh tokens are derived, not stored: `family id . generation . MAC`. A forged token is rejected without
//! a database query, a replayed token is recognized by its generation, and the table does not grow with use.

use aws_lc_rs::hmac;
use foundation::sealing::SealingKey;
use foundation::secret::{Secret, decode, encode};

/// Derives and verifies refresh tokens under one installation secret.
#[derive(Clone)]
pub struct RefreshTokens(hmac::Key);

/// The identity of a refresh token: its family and its place in the family.
#[derive(Debug, PartialEq, Eq)]
pub struct RefreshTokenId {
    /// The id of the family.
    pub family_id: String,
    /// The number of the token in its family, from 1.
    pub generation: i64,
}

impl RefreshTokens {
    /// Derives the MAC key from the installation secret.
    pub fn new(secret: &SealingKey) -> Self {
        Self(secret.mac_key("latchkey refresh token"))
    }

    /// Returns the refresh token of this generation of the family. The same arguments give the same token.
    pub fn derive(&self, family_id: &str, generation: i64) -> Secret {
        let id = format!("{family_id}.{generation}");
        let mac = hmac::sign(&self.0, id.as_bytes());
        Secret::new(format!("{id}.{}", encode(mac.as_ref())))
    }

    /// Returns the identity of a token, or `None` if its MAC is wrong. Compares in constant time.
    pub fn verify(&self, token: &str) -> Option<RefreshTokenId> {
        let (id, mac) = token.rsplit_once('.')?;
        hmac::verify(&self.0, id.as_bytes(), &decode(mac)?).ok()?;
        let (family_id, generation) = id.split_once('.')?;
        Some(RefreshTokenId {
            family_id: family_id.to_owned(),
            generation: generation.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_token_verifies_under_its_own_key_only() {
        let tokens = RefreshTokens::new(&SealingKey::generate());
        let token = tokens.derive("family", 7);
        assert_eq!(
            tokens.verify(token.expose()),
            Some(RefreshTokenId {
                family_id: "family".to_owned(),
                generation: 7
            })
        );
        assert_eq!(
            RefreshTokens::new(&SealingKey::generate()).verify(token.expose()),
            None
        );
        assert_eq!(tokens.verify(&token.expose().replace(".7.", ".8.")), None);
    }

    proptest! {
        #[test]
        fn arbitrary_text_does_not_verify(text in r"[A-Za-z0-9._-]{0,80}") {
            prop_assert_eq!(RefreshTokens::new(&SealingKey::generate()).verify(&text), None);
        }
    }
}
