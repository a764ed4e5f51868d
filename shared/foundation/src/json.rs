//! Strict JSON: no member appears twice, no text holds a NUL, nothing follows the value.

mod canonical;

pub use canonical::canonical;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::{Map, Value};

/// Why a text was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    /// It is not JSON.
    #[error("{0}")]
    Malformed(String),
    /// It is JSON, but names a member twice or holds a NUL.
    #[error("{0}")]
    Invalid(String),
}

/// Reads one JSON value strictly.
pub fn parse(bytes: &[u8]) -> Result<Value, ParseError> {
    let Strict(value) = serde_json::from_slice(bytes).map_err(|error| match error.classify() {
        Category::Data => ParseError::Invalid(error.to_string()),
        Category::Syntax | Category::Eof | Category::Io => ParseError::Malformed(error.to_string()),
    })?;
    Ok(value)
}

/// A value in which no object names a member twice and no text holds a NUL.
struct Strict(Value);

struct StrictVisitor;

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
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
            return Err(E::custom("a text holds a NUL character"));
        }
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if name.contains('\0') {
                return Err(de::Error::custom("a member's name holds a NUL character"));
            }
            let Strict(value) = members.next_value()?;
            if object.contains_key(&name) {
                let shown: String = name.chars().take(100).collect();
                return Err(de::Error::custom(format!("the member {shown:?} appears twice")));
            }
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_a_lenient_reader_would_let_pass_is_refused() {
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
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let _ = parse(&bytes);
        }

        #[test]
        fn what_is_read_is_what_serde_json_reads(text in r#"(\{("[a-c]":(1|"x"|null|\[\]),){0,3}"z":true\})"#) {
            if let Ok(value) = parse(text.as_bytes()) {
                prop_assert_eq!(value, serde_json::from_str::<Value>(&text).unwrap());
            }
        }
    }
}
