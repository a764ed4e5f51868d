//! Recovery codes: for who has lost the authenticator app. Each works once.

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
}

/// How many there are.
const NUMBER: usize = 10;
/// Bytes of each: 80 bits.
const LENGTH: usize = 10;

/// A code in its one form, whoever typed it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Code([u8; LENGTH]);

impl Code {
    /// Reads a code as people type it: in either case, with hyphens and spaces anywhere, O for 0, I and L for 1.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let digits: String = text.chars().filter(|char| !" -".contains(*char)).collect();
        let is_long_enough = digits.len() == LENGTH * 8 / 5;
        let bytes = base32::decode(Alphabet::Crockford, &digits).filter(|_| is_long_enough)?;
        bytes.try_into().ok().map(Self)
    }

    /// As shown: four groups of four, in Crockford's base32.
    fn text(&self) -> String {
        let digits = base32::encode(Alphabet::Crockford, &self.0).to_ascii_lowercase();
        let (left, right) = digits.split_at(LENGTH * 8 / 10);
        let halves = [left.split_at(4), right.split_at(4)];
        halves.map(|(a, b)| format!("{a}-{b}")).join("-")
    }

    /// What the table holds of it: a hash with a key that the database never sees.
    fn hash(&self, key: &SealingKey, user_id: i64) -> Vec<u8> {
        let said = [&user_id.to_be_bytes(), self.0.as_slice()].concat();
        hmac::sign(&key.mac_key("recovery code"), &said).as_ref().to_vec()
    }
}

/// Makes ten new codes in place of any others, and gives them.
pub(crate) async fn renew(tx: &mut Tx, key: &SealingKey, user_id: i64) -> Result<Vec<String>, Error> {
    delete(tx, user_id).await?;
    let mut codes = Vec::with_capacity(NUMBER);
    for _ in 0..NUMBER {
        let code = Code(random::bytes());
        execute!(tx.on(), INSERT, user_id, code.hash(key, user_id))?;
        codes.push(code.text());
    }
    Ok(codes)
}

/// Uses a code up: how many are left, or `None` if it is none of this user's or was used before.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_code_is_read_from_its_text_however_it_is_typed(bytes: [u8; LENGTH]) {
            let text = Code(bytes).text();
            prop_assert_eq!(text.len(), 19);
            for typed in [text.clone(), text.to_uppercase(), text.replace('-', " "), text.replace('-', "")] {
                prop_assert_eq!(Code::read(&typed).map(|code| code.0), Some(bytes));
            }
            let mistaken = text.replace('0', "o").replace('1', "l");
            prop_assert_eq!(Code::read(&mistaken).map(|code| code.0), Some(bytes));
        }

        #[test]
        fn anything_else_is_none(text in "[ -~é]{0,15}") {
            prop_assert!(Code::read(&text).is_none());
        }
    }

    #[test]
    fn a_code_of_one_user_is_not_anothers() {
        let (key, code) = (SealingKey::generate(), Code(random::bytes()));
        assert_eq!(code.hash(&key, 1), code.hash(&key, 1));
        assert_ne!(code.hash(&key, 1), code.hash(&key, 2));
        assert_ne!(code.hash(&key, 1), code.hash(&SealingKey::generate(), 1));
    }
}
