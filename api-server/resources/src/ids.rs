//! Ids of users, sessions, posts and comments.

use foundation::schema;
use utoipa::openapi::{KnownFormat, ObjectBuilder, SchemaFormat, Type};

/// The maximum id: 2^53 − 1, the largest integer that every JSON parser represents exactly.
const MAX: i64 = (1 << 53) - 1;

/// The id of a user, a session, a post or a comment: from 1 to 2^53 − 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Id(i64);

schema! {
    Id = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .minimum(Some(1))
        .maximum(Some(MAX))
        .examples([7])
        .description(Some("An id. In a path it has no sign and no leading zero."));
}

impl Id {
    /// Parses the canonical form of an id: ASCII digits without sign and leading zero. Returns `None` for any other
    /// text and for a number out of range.
    pub fn parse(text: &str) -> Option<Self> {
        let is_canonical = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
        text.parse()
            .ok()
            .filter(|id| is_canonical && *id <= MAX)
            .map(Self)
    }

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
        assert_eq!(Id::parse("9007199254740991").map(Id::get), Some(MAX));
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
            assert_eq!(Id::parse(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn only_the_canonical_text_is_an_id(text in "[ +0-9a-]{0,20}") {
            if let Some(id) = Id::parse(&text) {
                prop_assert_eq!(id.get().to_string(), text);
            }
        }

        #[test]
        fn every_id_in_range_is_parsed(id in 1..=MAX) {
            prop_assert_eq!(Id::parse(&id.to_string()), Some(Id(id)));
        }
    }
}
