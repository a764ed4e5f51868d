//! Recovery codes, which a user who lost their authenticator app enters in place of a one-time code. Each
//! works once.

use aws_lc_rs::hmac;
use base32::Alphabet;
use foundation::clock::Timestamp;
use foundation::random;
use foundation::sealing::SealingKey;
use storage::db::{Error, Tx};
use storage::{execute, fetch_one, sql};

sql! {
    INSERT = "INSERT INTO recovery_codes (user_id, code_hash) VALUES ($1, $2)";
    CLAIM = "UPDATE recovery_codes SET used_at = $3
             WHERE user_id = $1 AND code_hash = $2 AND used_at IS NULL";
    COUNT = "SELECT COUNT(*) FROM recovery_codes WHERE user_id = $1 AND used_at IS NULL";
    DELETE = "DELETE FROM recovery_codes WHERE user_id = $1";
    DELETE_EVERY = "DELETE FROM recovery_codes";
}

/// The number of codes per user.
const CODES_PER_USER: usize = 10;
/// The length of a code in bytes.
const CODE_LEN: usize = 10;

/// A recovery code in binary form.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Code([u8; CODE_LEN]);

impl Code {
    /// Parses a code as typed, without blanks and hyphens: in either case, O for 0, and I or L for 1. Returns
    /// `None` if the text is not a recovery code.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let has_code_length = text.len() == CODE_LEN * 8 / 5;
        let bytes = base32::decode(Alphabet::Crockford, text).filter(|_| has_code_length)?;
        bytes.try_into().ok().map(Self)
    }

    /// Returns the code as displayed: in Crockford's base32, four groups of four characters.
    fn to_text(&self) -> String {
        let digits = base32::encode(Alphabet::Crockford, &self.0).to_ascii_lowercase();
        let (left, right) = digits.split_at(CODE_LEN * 8 / 10);
        let halves = [left.split_at(4), right.split_at(4)];
        halves.map(|(a, b)| format!("{a}-{b}")).join("-")
    }

    /// Returns the value to store: an HMAC with a key that is not in the database.
    fn hash(&self, key: &SealingKey, user_id: i64) -> Vec<u8> {
        let message = [&user_id.to_be_bytes(), self.0.as_slice()].concat();
        hmac::sign(&key.mac_key("recovery code"), &message)
            .as_ref()
            .to_vec()
    }
}

/// Replaces all codes of a user by ten new ones, and returns the new codes as displayed.
pub(crate) async fn replace_all(tx: &mut Tx, key: &SealingKey, user_id: i64) -> Result<Vec<String>, Error> {
    delete(tx, user_id).await?;
    let mut codes = Vec::with_capacity(CODES_PER_USER);
    for _ in 0..CODES_PER_USER {
        let code = Code(random::bytes());
        execute!(tx.on(), INSERT, user_id, code.hash(key, user_id))?;
        codes.push(code.to_text());
    }
    Ok(codes)
}

/// Marks a code as used and returns the number of unused codes that are left. Returns `None` if the user has
/// no unused code with this value.
pub(crate) async fn claim(
    tx: &mut Tx,
    key: &SealingKey,
    user_id: i64,
    code: &Code,
    now: Timestamp,
) -> Result<Option<usize>, Error> {
    if execute!(tx.on(), CLAIM, user_id, code.hash(key, user_id), now)? == 0 {
        return Ok(None);
    }
    let (left,) = fetch_one!(tx.on(), (i64,), COUNT, user_id)?;
    Ok(Some(usize::try_from(left).unwrap_or_default()))
}

/// Deletes all codes of a user.
pub(crate) async fn delete(tx: &mut Tx, user_id: i64) -> Result<(), Error> {
    execute!(tx.on(), DELETE, user_id).map(|_| ())
}

/// Deletes the codes of all users.
pub(crate) async fn delete_every(tx: &mut Tx) -> Result<(), Error> {
    execute!(tx.on(), DELETE_EVERY).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_spelling_of_a_code_parses_to_the_same_code(bytes: [u8; CODE_LEN]) {
            let text = Code(bytes).to_text();
            prop_assert_eq!(text.len(), 19);
            let text = text.replace('-', "");
            for typed in [text.clone(), text.to_uppercase()] {
                prop_assert_eq!(Code::parse(&typed).map(|code| code.0), Some(bytes));
            }
            let misread = text.replace('0', "o").replace('1', "l");
            prop_assert_eq!(Code::parse(&misread).map(|code| code.0), Some(bytes));
        }

        #[test]
        fn texts_with_fewer_characters_do_not_parse(text in "[ -~é]{0,15}") {
            prop_assert!(Code::parse(&text).is_none());
        }
    }

    #[test]
    fn the_hash_of_a_code_depends_on_the_user_and_the_key() {
        let (key, code) = (SealingKey::generate(), Code(random::bytes()));
        assert_eq!(code.hash(&key, 1), code.hash(&key, 1));
        assert_ne!(code.hash(&key, 1), code.hash(&key, 2));
        assert_ne!(code.hash(&key, 1), code.hash(&SealingKey::generate(), 1));
    }
}
