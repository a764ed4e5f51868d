//! Refresh tokens are derived, not stored: `family id . generation . MAC`. A forged one is refused
//! without a look at the database; an old genuine one shows itself by its generation; the table does not
//! grow with use.

use aws_lc_rs::hmac;
use shared::seal::SealingKey;
use shared::secret::{Secret, decode, encode};

/// Makes and reads refresh tokens under one master key.
#[derive(Clone)]
pub(crate) struct RefreshTokens(hmac::Key);

/// What a genuine token says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Genuine {
    /// Its family.
    pub(crate) family_id: String,
    /// Which token of the family it is, from 1.
    pub(crate) generation: i64,
}

impl RefreshTokens {
    /// Derives a key of its own from the master key.
    pub(crate) fn new(master_key: &SealingKey) -> Self {
        Self(master_key.mac_key("latchkey refresh token"))
    }

    /// The token of a family's generation: always the same.
    pub(crate) fn derive(&self, family_id: &str, generation: i64) -> Secret {
        let said = format!("{family_id}.{generation}");
        let mac = hmac::sign(&self.0, said.as_bytes());
        Secret::new(format!("{said}.{}", encode(mac.as_ref())))
    }

    /// Reads a token; `None` if this issuer never made it. Compares in constant time.
    pub(crate) fn read(&self, token: &str) -> Option<Genuine> {
        let (said, mac) = token.rsplit_once('.')?;
        hmac::verify(&self.0, said.as_bytes(), &decode(mac)?).ok()?;
        let (family_id, generation) = said.split_once('.')?;
        Some(Genuine {
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
    fn a_token_is_read_back_under_its_own_key_alone() {
        let tokens = RefreshTokens::new(&SealingKey::generate());
        let token = tokens.derive("family", 7);
        assert_eq!(
            tokens.read(token.expose()),
            Some(Genuine {
                family_id: "family".to_owned(),
                generation: 7
            })
        );
        assert_eq!(
            RefreshTokens::new(&SealingKey::generate()).read(token.expose()),
            None
        );
        assert_eq!(tokens.read(&token.expose().replace(".7.", ".8.")), None);
    }

    proptest! {
        #[test]
        fn nothing_else_is_a_token(text in r"[A-Za-z0-9._-]{0,80}") {
            prop_assert_eq!(RefreshTokens::new(&SealingKey::generate()).read(&text), None);
        }
    }
}
