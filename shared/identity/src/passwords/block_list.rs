//! The block list of passwords (NIST SP 800-63B §3.1.1.2): common ones, sequences and repetitions of
//! characters, and words that an attacker would guess for this account.
//!
//! `common.txt` holds the passwords of at least five characters of the list that zxcvbn uses, in lower case
//! and sorted by their bytes. That list has the 30,000 most frequent of ten million leaked passwords, which
//! Mark Burnett published. It is Copyright (c) 2012-2016 Dan Wheeler and Dropbox, Inc., under the MIT
//! License.

use super::PasswordFlaw;
use std::sync::Arc;

/// The common passwords, one per line.
const LIST: &str = include_str!("common.txt");
/// The name of this product, which is easy to guess.
const PRODUCT: &str = "latchkey";
/// The largest number of digits and signs at the ends of a listed word that do not make it a good password,
/// in characters.
const MAX_ADDED: usize = 4;
/// The largest number of characters of a password that is compared. A longer one counts as uncommon.
const MAX_COMPARED: usize = 40;

/// The block list. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct BlockList {
    /// Sorted by their bytes.
    common: Arc<[&'static str]>,
}

impl BlockList {
    /// Reads the list of common passwords.
    pub(super) fn new() -> Self {
        Self {
            common: LIST.lines().collect(),
        }
    }

    /// Returns why a password is refused for the account with this e-mail, which is empty if it is unknown.
    /// Upper and lower case count as equal, and so do a word and the same word between up to [`MAX_ADDED`]
    /// digits and signs. The time grows with the length of the password and with the logarithm of that of the
    /// list.
    pub(super) fn flaw(&self, password: &str, email: &str) -> Option<PasswordFlaw> {
        if password.chars().count() > MAX_COMPARED {
            return None;
        }
        let (password, email) = (password.to_lowercase(), email.to_lowercase());
        let (local, domain) = email.rsplit_once('@').unwrap_or((email.as_str(), ""));
        let related = [email.as_str(), local, domain];
        let is_related = |word: &&str| !word.is_empty() && related.contains(word);
        let is_common = |word: &&str| *word == PRODUCT || self.common.binary_search(word).is_ok();
        let words = words_of(&password);
        if is_sequence(&password) {
            Some(PasswordFlaw::Sequence)
        } else if words.iter().any(is_related) {
            Some(PasswordFlaw::LikeEmail)
        } else {
            words.iter().any(is_common).then_some(PasswordFlaw::TooCommon)
        }
    }
}

/// Returns the password, the password without the digits and signs at its end, and without those at both
/// ends, as far as they are at most [`MAX_ADDED`].
fn words_of(password: &str) -> Vec<&str> {
    let is_added = |char: char| !char.is_alphabetic();
    let length = password.chars().count();
    let mut words = vec![
        password,
        password.trim_end_matches(is_added),
        password.trim_matches(is_added),
    ];
    words.retain(|word| length - word.chars().count() <= MAX_ADDED);
    words
}

/// Returns whether all characters are the same, or each is the next or the previous one of the one before it.
fn is_sequence(password: &str) -> bool {
    let codes: Vec<i64> = password.chars().map(|char| i64::from(u32::from(char))).collect();
    let steps: Vec<i64> = codes.windows(2).map(|pair| pair[1] - pair[0]).collect();
    steps
        .first()
        .is_some_and(|first| (-1..=1).contains(first) && steps.iter().all(|step| step == first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_passwords_are_recognized_and_others_are_not() {
        let list = BlockList::new();
        let email = "annabelle.lee@example.org";
        let common = [
            "password",
            "Password1",
            "P4ssw0rd",
            "qwertyuiop",
            "iloveyou2",
            "elephant",
            "Summer2024",
            "1q2w3e4r!",
            "!!dragon!",
            "latchkey",
            "LATCHKEY1",
        ];
        let sequences = ["12345678", "abcdefgh", "87654321", "aaaaaaaaaaaa"];
        let like_email = [
            "annabelle.lee",
            "Annabelle.Lee99",
            "Annabelle.Lee@Example.org",
            "example.org",
        ];
        for (flaw, passwords) in [
            (PasswordFlaw::TooCommon, &common[..]),
            (PasswordFlaw::Sequence, &sequences[..]),
            (PasswordFlaw::LikeEmail, &like_email[..]),
        ] {
            for password in passwords {
                assert_eq!(list.flaw(password, email), Some(flaw), "{password}");
            }
        }
        for password in [
            "correct horse",
            "a new good password",
            "my dog ate it",
            "x9f3kq2z",
            "elephant-20881",
            "abcdefgi",
            "\u{1f9a9} in the garden",
        ] {
            assert_eq!(list.flaw(password, email), None, "{password}");
            assert_eq!(list.flaw(password, ""), None, "{password}");
        }
    }

    #[test]
    fn the_list_is_sorted_and_in_lower_case() {
        let list = BlockList::new().common;
        assert!(list.is_sorted() && list.len() > 29_000);
        assert!(
            list.iter()
                .all(|word| word.to_lowercase() == **word && word.trim() == *word)
        );
    }
}
