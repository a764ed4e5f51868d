//! Ids of payments.

use foundation::clock::Timestamp;
use foundation::{random, schema};
use serde::{Deserialize, Serialize};
use std::str::FromStr;
use utoipa::openapi::{ObjectBuilder, Type};

/// The prefix of every id.
const PREFIX: &str = "pay_";
const PATTERN: &str = "^pay_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$";

/// The id of a payment: `pay_` and a UUID (version 7) in lower case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct PaymentId(String);

schema! {
    PaymentId = ObjectBuilder::new()
        .schema_type(Type::String)
        .pattern(Some(PATTERN))
        .examples(["pay_018bcfe5-6800-7c1e-9d55-2f1f6c0e8a11"])
        .description(Some("`pay_` and a UUID."));
}

impl FromStr for PaymentId {
    type Err = &'static str;

    /// Parses an id. Checks only the prefix, the length and the characters: an id that is malformed in
    /// another way matches no row.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_uuid_character = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-');
        let uuid = text.strip_prefix(PREFIX);
        let uuid = uuid.filter(|uuid| uuid.len() == 36 && uuid.bytes().all(is_uuid_character));
        uuid.map(|_| Self(text.to_owned())).ok_or("not a payment id")
    }
}

impl PaymentId {
    /// Returns a new id, which contains the time `now`.
    pub(super) fn new(now: Timestamp) -> Self {
        Self(format!("{PREFIX}{}", random::uuid_v7(now)))
    }

    /// Returns the id as it is stored and sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for PaymentId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_parsed_as_written_and_sort_by_their_millisecond() {
        let id = |millis: i64| PaymentId::new(Timestamp::from_micros(millis * 1_000));
        let (older, newer) = (id(1_700_000_000_000), id(1_700_000_000_001));
        assert_eq!(older.as_str().parse(), Ok(older.clone()));
        assert!(older.as_str() < newer.as_str());
        assert!(older.as_str().starts_with("pay_018bcfe5-6800-7"), "{older:?}");
        for text in [
            "",
            "pay_",
            "pay_1",
            &older.as_str()[4..],
            &older.as_str().to_uppercase(),
        ] {
            assert!(text.parse::<PaymentId>().is_err(), "{text}");
        }
    }
}
