//! Strict JSON: no duplicate members, no NUL characters in strings, nothing after the value.

mod canonical;
mod check;

pub use canonical::canonical;

use check::CheckedValue;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::{Map, Value};

/// The error of [`parse`], with a message that names the position.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    /// The text is not JSON.
    #[error("{0}")]
    Malformed(String),
    /// The text is JSON with a duplicate member or a NUL character.
    #[error("{0}")]
    Invalid(String),
}

/// Parses one JSON value. Fails if the bytes are not JSON, or if the value contains a duplicate member or a
/// NUL character, which PostgreSQL cannot store.
pub fn parse(bytes: &[u8]) -> Result<Value, ParseError> {
    let StrictValue(value) = serde_json::from_slice(bytes).map_err(ParseError::from)?;
    Ok(value)
}

/// Checks that the bytes are one JSON value, like [`parse`], without building the value.
pub fn check(bytes: &[u8]) -> Result<(), ParseError> {
    let CheckedValue = serde_json::from_slice(bytes).map_err(ParseError::from)?;
    Ok(())
}

impl From<serde_json::Error> for ParseError {
    fn from(error: serde_json::Error) -> Self {
        match error.classify() {
            Category::Data => Self::Invalid(error.to_string()),
            Category::Syntax | Category::Eof | Category::Io => Self::Malformed(error.to_string()),
        }
    }
}

/// A value without duplicate members and NUL characters.
struct StrictValue(Value);

struct StrictVisitor;

/// A JSON object in which no object has duplicate members and no string contains a NUL, for use with serde.
#[derive(Clone, Debug, PartialEq)]
pub struct StrictObject(pub Map<String, Value>);

impl<'de> Deserialize<'de> for StrictObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match StrictValue::deserialize(deserializer)? {
            StrictValue(Value::Object(object)) => Ok(Self(object)),
            StrictValue(_) => Err(de::Error::custom("not a JSON object")),
        }
    }
}

impl<'de> Deserialize<'de> for StrictValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(StrictValue)
    }
}

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        self.visit_string(text.to_owned())
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Value, E> {
        if text.contains('\0') {
            return Err(E::custom("a string contains a NUL character"));
        }
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(StrictValue(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if name.contains('\0') {
                return Err(de::Error::custom("a member name contains a NUL character"));
            }
            let StrictValue(value) = members.next_value()?;
            if object.contains_key(&name) {
                return Err(duplicate_member(&name));
            }
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

fn duplicate_member<E: de::Error>(name: &str) -> E {
    let shortened: String = name.chars().take(100).collect();
    E::custom(format!("the member {shortened:?} appears twice"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn duplicate_members_nul_and_malformed_json_are_rejected() {
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":[{"b":1,"b":2}]}"#,
            r#""a\u0000b""#,
            r#"{"a\u0000":1}"#,
        ] {
            assert!(
                matches!(parse(text.as_bytes()), Err(ParseError::Invalid(_))),
                "{text}"
            );
        }
        let deep = "[".repeat(10_000);
        for text in [
            "",
            "{",
            "nul",
            "{} {}",
            "{'a':1}",
            "\u{feff}{}",
            "1e400",
            "NaN",
            &deep,
        ] {
            assert!(
                matches!(parse(text.as_bytes()), Err(ParseError::Malformed(_))),
                "{text:.40}"
            );
        }
    }

    proptest! {
        #[test]
        fn parsing_never_panics(bytes: Vec<u8>) {
            let _ = parse(&bytes);
        }

        #[test]
        fn a_value_passes_the_check_if_it_can_be_parsed(text in r#"(\{("[ab]":(1|"x"|"\\\\u0000"|null|\[\{"a":1,"[ab]":2\}\]),){0,3}"z":true\}?)"#) {
            prop_assert_eq!(check(text.as_bytes()).is_ok(), parse(text.as_bytes()).is_ok(), "{}", text);
        }

        #[test]
        fn accepted_json_has_the_value_that_serde_json_gives(text in r#"(\{("[a-c]":(1|"x"|null|\[\]),){0,3}"z":true\})"#) {
            if let Ok(value) = parse(text.as_bytes()) {
                prop_assert_eq!(value, serde_json::from_str::<Value>(&text).unwrap());
            }
        }
    }
}
