//! Ids of users, sessions, posts and comments, which are numbers, and of clients, keys and consents, which
//! are texts.

use crate::schema;
use std::fmt;
use std::str::FromStr;
use utoipa::openapi::{KnownFormat, ObjectBuilder, SchemaFormat, Type};

/// The maximum id: 2^53 − 1, the largest integer that every JSON parser represents exactly.
const MAX: i64 = (1 << 53) - 1;

/// The longest id that is a text, in characters: the id of a client may be a URL.
const MAX_LENGTH: usize = 2_000;

/// The id of a user, a session, a post or a comment: from 1 to 2^53 − 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Id(i64);

crate::schema! {
    Id = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .minimum(Some(1))
        .maximum(Some(MAX))
        .examples([7])
        .description(Some("An id. In a path it has no sign and no leading zero."));
}

crate::schema! {
    TextId = schema::text(0, MAX_LENGTH, "^[!-~]*$", "The id of a client, of a signing key or of a consent.");
}

/// The id of a client, of a signing key or of a consent: up to 2,000 visible ASCII characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextId(String);

/// The reason why a text is not an id: it is not canonical, or its number is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a number from 1 to {MAX} without sign and leading zero")]
pub struct InvalidId;

impl FromStr for Id {
    type Err = InvalidId;

    /// Parses the canonical form of an id: ASCII digits without sign and leading zero.
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let is_canonical = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
        let id = text.parse().ok().filter(|id| is_canonical && *id <= MAX);
        id.map(Self).ok_or(InvalidId)
    }
}

impl Id {
    /// Returns the number.
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for TextId {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // PostgreSQL cannot take every text as a parameter.
        let is_id = text.len() <= MAX_LENGTH && text.bytes().all(|byte| byte.is_ascii_graphic());
        match is_id {
            true => Ok(Self(text.to_owned())),
            false => Err("must have up to 2000 visible ASCII characters"),
        }
    }
}

impl TextId {
    /// Takes an id that was checked before it was stored.
    pub fn from_stored(id: &str) -> Self {
        Self(id.to_owned())
    }
}

impl fmt::Display for TextId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<TextId> for String {
    fn from(id: TextId) -> Self {
        id.0
    }
}

impl AsRef<str> for TextId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_canonical_decimals_in_range_are_ids() {
        assert_eq!("9007199254740991".parse().map(Id::get), Ok(MAX));
        for text in [
            "",
            "0",
            "-1",
            "+5",
            "05",
            " 5",
            "5 ",
            "5.0",
            "٣",
            "abc",
            "9007199254740992",
            "99999999999999999999",
        ] {
            assert_eq!(text.parse::<Id>(), Err(InvalidId), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn only_the_canonical_text_is_an_id(text in "[ +0-9a-]{0,20}") {
            if let Ok(id) = text.parse::<Id>() {
                prop_assert_eq!(id.get().to_string(), text);
            }
        }

        #[test]
        fn every_id_in_range_is_parsed(id in 1..=MAX) {
            prop_assert_eq!(id.to_string().parse(), Ok(Id(id)));
        }
    }
}
