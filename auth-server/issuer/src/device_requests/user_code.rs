//! User codes (RFC 8628 §6.1), which a device displays and a user types.

use aws_lc_rs::hmac;
use foundation::random;
use std::fmt;

/// The letters of a code: no vowels, so that no words appear, and no digits, which look like letters.
const ALPHABET: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";
/// The number of letters. With 20 letters there are 25,600,000,000 codes.
const LENGTH: usize = 8;
/// The longest text that is read as a code, in bytes.
const MAX_TYPED: usize = 64;

/// A user code. Displayed as two groups of four letters; its `Debug` output is redacted.
#[derive(Clone, PartialEq, Eq)]
pub struct UserCode(String);

impl UserCode {
    /// Returns a new random code.
    pub(crate) fn generate() -> Self {
        let letters = ALPHABET.len();
        // The bytes that would make the first letters more frequent are left out.
        let bytes = std::iter::repeat_with(random::bytes::<16>)
            .flatten()
            .map(usize::from)
            .filter(|byte| *byte < 256 - 256 % letters);
        Self(
            bytes
                .map(|byte| char::from(ALPHABET[byte % letters]))
                .take(LENGTH)
                .collect(),
        )
    }

    /// Parses a code as typed: in either case, and with spaces and punctuation anywhere. Returns `None` if
    /// the text is no code.
    pub fn parse(text: &str) -> Option<Self> {
        let typed = Some(text).filter(|text| text.len() <= MAX_TYPED)?;
        let letters = typed.chars().filter(|char| char.is_alphanumeric());
        let letters: String = letters.map(|char| char.to_ascii_uppercase()).collect();
        let is_code = letters.len() == LENGTH && letters.bytes().all(|letter| ALPHABET.contains(&letter));
        is_code.then_some(Self(letters))
    }

    /// Returns the value to store: an HMAC with a key that is not in the database.
    pub(crate) fn mac(&self, key: &hmac::Key) -> Vec<u8> {
        hmac::sign(key, self.0.as_bytes()).as_ref().to_vec()
    }
}

impl fmt::Display for UserCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (left, right) = self.0.split_at(LENGTH / 2);
        write!(f, "{left}-{right}")
    }
}

impl fmt::Debug for UserCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UserCode(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    #[test]
    fn a_code_is_read_in_every_form_that_people_type() {
        let code = UserCode::parse("BCDF-GHJK");
        assert_eq!(
            code.as_ref().map(ToString::to_string).as_deref(),
            Some("BCDF-GHJK")
        );
        for typed in [
            "bcdfghjk",
            " bcdf ghjk\t",
            "B.C.D.F/G_H-J-K",
            "bcdf\u{a0}–\u{200b}GHJK",
        ] {
            assert_eq!(UserCode::parse(typed), code, "{typed}");
        }
        for other in [
            "",
            "BCDF-GHJ",
            "BCDF-GHJKL",
            "ACDF-GHJK",
            "0CDF-GHJK",
            "BCDF-GHJÉ",
            "ＢCDF-GHJK",
        ] {
            assert_eq!(UserCode::parse(other), None, "{other}");
        }
        assert_eq!(
            UserCode::parse(&format!("BCDFGHJK{}", " ".repeat(MAX_TYPED))),
            None
        );
        assert_eq!(format!("{code:?}"), "Some(UserCode(…))");
    }

    #[test]
    fn new_codes_have_every_letter_and_differ() {
        let codes: Vec<String> = (0..500).map(|_| UserCode::generate().to_string()).collect();
        assert_eq!(codes.iter().collect::<HashSet<_>>().len(), codes.len());
        for code in &codes {
            assert_eq!(UserCode::parse(code).unwrap().to_string(), *code);
        }
        let letters: HashSet<u8> = codes.iter().flat_map(|code| code.bytes()).collect();
        assert_eq!(letters.len(), ALPHABET.len() + 1, "the letters and the hyphen");
    }

    proptest! {
        #[test]
        fn a_displayed_code_is_read_as_itself(text in r"[BCDFGHJKLMNPQRSTVWXZbcdfghjk -]{6,12}") {
            if let Some(code) = UserCode::parse(&text) {
                prop_assert_eq!(UserCode::parse(&code.to_string()), Some(code));
            }
        }
    }
}
