//! The second factor of a user: one-time codes of an authenticator app (TOTP) and recovery codes.

use crate::{recovery_codes, totp};
use foundation::schema;
use foundation::secret::Secret;
use storage::db::{Db, Error, Tx};

/// The maximum length of a code, in characters. A recovery code has 19.
const MAX_LENGTH: usize = 64;

foundation::schema! {
    Otp = schema::text(1, MAX_LENGTH, schema::WITHOUT_NUL, "A code of the authenticator app, or a recovery code.");
}

/// Characters that people type or copy inside of codes, besides white space: hyphens, dashes, and spaces
/// without width.
const SEPARATORS: &str = "-\u{ad}\u{200b}\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2212}\u{feff}";

/// A one-time code or a recovery code, without the blanks and hyphens that were typed. `Debug` does not print
/// it.
#[derive(Clone, Debug)]
pub struct Otp(Secret);

impl Otp {
    /// Parses a code of 1 to 64 characters. The error continues a sentence that begins with the field's name,
    /// such as "is empty".
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        match text.chars().count() {
            0 => Err("is empty"),
            1..=MAX_LENGTH => Ok(Self(Secret::new(without_separators(text)))),
            _ => Err("is longer than 64 characters"),
        }
    }

    /// Returns the code without blanks and hyphens.
    pub(crate) fn expose(&self) -> &str {
        self.0.expose()
    }
}

fn without_separators(text: &str) -> String {
    let is_separator = |char: char| char.is_whitespace() || SEPARATORS.contains(char);
    text.chars().filter(|char| !is_separator(*char)).collect()
}

/// Returns whether two-step sign-in is on for this user.
pub async fn is_enabled(db: &Db, user_id: i64) -> Result<bool, Error> {
    Ok(totp::find_confirmed(db, user_id).await?.is_some())
}

/// Deletes the TOTP seed and the recovery codes of a user. Returns whether two-step sign-in was on.
pub(crate) async fn delete(tx: &mut Tx, user_id: i64) -> Result<bool, Error> {
    let was_on = totp::delete(tx, user_id).await?;
    if was_on {
        recovery_codes::delete(tx, user_id).await?;
    }
    Ok(was_on)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_hyphens_are_no_part_of_a_code() {
        for typed in [
            "123456",
            "123 456",
            " 123456\n",
            "12-34-56",
            "123\u{a0}456",
            "123\u{202f}456",
            "123\u{2011}456",
            "1 2 3 - 4 5 6",
            "\u{feff}123\u{200b}456",
        ] {
            assert_eq!(Otp::parse(typed).unwrap().expose(), "123456", "{typed:?}");
        }
        for typed in ["123.456", "123_456", "١٢٣٤٥٦"] {
            assert_ne!(Otp::parse(typed).unwrap().expose(), "123456", "{typed:?}");
        }
        assert!(Otp::parse("").is_err());
        assert!(Otp::parse(&" ".repeat(65)).is_err());
    }
}
