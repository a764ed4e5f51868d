//! The text of a password.

use super::MAX_LENGTH;
use foundation::schema::{self, WITHOUT_NUL};
use unicode_normalization::UnicodeNormalization as _;

foundation::schema! {
    Password = schema::text(0, MAX_LENGTH, WITHOUT_NUL, "A password of 128 characters at most, counted in NFC.");
}

/// A password in NFC, of at most [`MAX_LENGTH`] characters. `Debug` does not print it.
#[derive(Clone)]
pub struct Password(pub(super) String);

/// The reason why a text is not acceptable as a password. Displayed as the end of a sentence that begins with
/// "The password".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PasswordFlaw {
    /// It has more than [`MAX_LENGTH`] characters.
    #[error("is longer than 128 characters")]
    TooLong,
    /// It is shorter than new passwords must be.
    #[error("is shorter than {min} characters")]
    TooShort {
        /// The least number of characters.
        min: usize,
    },
    /// Its characters are all the same, or follow each other.
    #[error("is a sequence of characters: choose one that is harder to guess")]
    Sequence,
    /// It resembles the e-mail address.
    #[error("is like the e-mail address: choose one that is harder to guess")]
    LikeEmail,
    /// It is one of the passwords that attackers try first.
    #[error("is too common: choose one that is harder to guess")]
    TooCommon,
}

impl Password {
    /// Parses a password of at most [`MAX_LENGTH`] characters, without the rules for new passwords.
    pub fn parse(text: &str) -> Result<Self, PasswordFlaw> {
        // An NFC character decomposes into at most four characters of at most four bytes. This cheap check
        // avoids normalizing megabytes.
        if text.len() > 4 * 4 * MAX_LENGTH {
            return Err(PasswordFlaw::TooLong);
        }
        let text: String = text.nfc().collect();
        if text.chars().count() > MAX_LENGTH {
            return Err(PasswordFlaw::TooLong);
        }
        Ok(Self(text))
    }
}

foundation::opaque_debug!(Password);
