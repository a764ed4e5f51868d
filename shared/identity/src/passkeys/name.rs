//! The names of passkeys.

use foundation::schema;

/// The longest name of a passkey, in characters.
const MAX_NAME_LENGTH: usize = 64;
/// The pattern of names: at least one character other than white space, and no control character.
const NAME_PATTERN: &str =
    r"^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$";

/// The name by which a user tells passkeys apart: 1 to 64 characters without control characters, not only
/// white space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(String);

foundation::schema! {
    Name = schema::text(1, MAX_NAME_LENGTH, NAME_PATTERN, "The name of a passkey.");
}

impl Name {
    /// Returns the text.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Parses a name, without the white space around it. The error continues a sentence that begins with the
    /// field's name, such as "is empty".
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        match text.chars().count() {
            0 => Err("is empty"),
            _ if text.contains(char::is_control) => Err("has a control character"),
            1..=MAX_NAME_LENGTH => Ok(Self(text.to_owned())),
            _ => Err("is longer than 64 characters"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_trimmed_and_has_1_to_64_characters() {
        assert_eq!(Name::parse(" My phone\n"), Ok(Name("My phone".to_owned())));
        assert!(Name::parse(&"ü".repeat(64)).is_ok());
        for refused in ["", " \t", "a\u{0}b", "a\nb", &"x".repeat(65)] {
            assert!(Name::parse(refused).is_err(), "{refused:?}");
        }
    }
}
