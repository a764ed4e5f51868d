//! Ids of users, sessions, posts and comments.

use std::str::FromStr;
use utoipa::openapi::{KnownFormat, ObjectBuilder, SchemaFormat, Type};

/// The maximum id: 2^53 − 1, the largest integer that every JSON parser represents exactly.
const MAX: i64 = (1 << 53) - 1;

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
