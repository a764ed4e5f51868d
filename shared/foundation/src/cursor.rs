//! Cursors: positions in the paged lists of both services.

use crate::clock::Timestamp;
use crate::{json, schema, secret};
use base64::display::Base64Display;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use std::fmt::{self, Display, Write as _};
use std::str::FromStr;

/// The largest length of a cursor, in bytes.
const MAX_LENGTH: usize = 512;

crate::schema! {
    Cursor = schema::text(0, MAX_LENGTH, r"^[A-Za-z0-9_=-]*$", "A position in a list, taken from `next` of a page or from its links.");
}

/// The position of one item in a list. Serialized as base64url of `{"created_at":…,"id":…}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The creation time of the item.
    pub created_at: Timestamp,
    /// The id of the item.
    pub id: i64,
}

/// The error for a text that is not a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not a cursor of this list")]
pub struct InvalidCursor;

impl FromStr for Cursor {
    type Err = InvalidCursor;

    /// Parses a serialized cursor, with or without padding. Fails if it is longer than 512 bytes or is not an
    /// object of exactly the members `created_at` and `id`.
    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        Self::parse(text).ok_or(InvalidCursor)
    }
}

impl Cursor {
    fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_LENGTH {
            return None;
        }
        let json = secret::decode(text.trim_end_matches('='))?;
        let Ok(Value::Object(members)) = json::parse(&json) else {
            return None;
        };
        let cursor = Self {
            created_at: Timestamp::parse(members.get("created_at")?.as_str()?)?,
            id: members.get("id")?.as_i64()?,
        };
        (members.len() == 2).then_some(cursor)
    }
}

impl Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut json = String::with_capacity(80);
        write!(json, r#"{{"created_at":"{}","id":{}}}"#, self.created_at, self.id)?;
        Base64Display::new(json.as_bytes(), &URL_SAFE_NO_PAD).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse_json(json: &str) -> Option<Cursor> {
        Cursor::parse(&secret::encode(json.as_bytes()))
    }

    #[test]
    fn a_cursor_has_two_members_of_the_right_types() {
        let cursor = parse_json(r#"{"created_at":"2023-11-14T22:13:20.000001Z","id":7}"#).unwrap();
        assert_eq!(cursor.created_at.micros(), 1_700_000_000_000_001);
        assert_eq!(cursor.id, 7);
        for json in [
            "",
            "{}",
            "[]",
            r#"{"created_at":"2023-11-14T22:13:20.000001Z"}"#,
            r#"{"created_at":"2023-11-14T22:13:20.000001Z","id":"7"}"#,
            r#"{"created_at":"2023-11-14T22:13:20.000001Z","id":7.5}"#,
            r#"{"created_at":"2023-11-14T22:13:20.000001Z","id":7,"id":7}"#,
            r#"{"created_at":"2023-11-14T22:13:20.000001Z","id":7,"x":1}"#,
            r#"{"created_at":"2023-11-14T22:13:20.000001Z","id":9223372036854775808}"#,
            r#"{"created_at":"yesterday","id":7}"#,
            r#"{"created_at":1700000000,"id":7}"#,
        ] {
            assert_eq!(parse_json(json), None, "{json}");
        }
        assert_eq!(Cursor::parse(&format!("{cursor}=")), Some(cursor));
        let long = format!(
            r#"{{"created_at":"2023-11-14T22:13:20.000001Z","id":7{}}}"#,
            " ".repeat(400)
        );
        assert_eq!(parse_json(&long), None);
    }

    proptest! {
        #[test]
        fn cursors_survive_a_round_trip(micros in -62_000_000_000_000_000_i64..250_000_000_000_000_000, id: i64) {
            let cursor = Cursor { created_at: Timestamp::from_micros(micros), id };
            prop_assert_eq!(Cursor::parse(&cursor.to_string()), Some(cursor));
        }

        #[test]
        fn parsing_never_panics(text: String) {
            let _ = Cursor::parse(&text);
        }
    }
}
