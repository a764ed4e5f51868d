//! Strict JSON: no member twice, no NUL, nothing after the end; and objects read member by member, so
//! that every member at fault is named at once.

mod canonical;

pub use canonical::canonical;

use super::error::{Code, Error, FieldError};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Why a text was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// It is not JSON.
    #[error("{0}")]
    Malformed(String),
    /// It is JSON, but names a member twice or holds a NUL.
    #[error("{0}")]
    Invalid(String),
}

/// Reads one JSON value strictly.
pub fn parse(bytes: &[u8]) -> Result<Value, Refusal> {
    let Strict(value) = serde_json::from_slice(bytes).map_err(|error| match error.classify() {
        Category::Data => Refusal::Invalid(error.to_string()),
        Category::Syntax | Category::Eof | Category::Io => Refusal::Malformed(error.to_string()),
    })?;
    Ok(value)
}

/// The members of an object, to be taken one by one; what is left at [`finish`](Fields::finish) is unknown.
#[derive(Debug)]
pub struct Fields {
    members: Map<String, Value>,
    errors: Vec<FieldError>,
}

impl Fields {
    /// Reads an object.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Error> {
        let whole = |code, message: String| {
            Error::validation(vec![FieldError {
                pointer: String::new(),
                code,
                message,
            }])
        };
        match parse(bytes) {
            Ok(Value::Object(members)) => Ok(Self {
                members,
                errors: Vec::new(),
            }),
            Ok(_) => Err(whole("wrong_type", "must be a JSON object".to_owned())),
            Err(Refusal::Invalid(message)) => Err(whole("not_allowed", message)),
            Err(Refusal::Malformed(message)) => Err(Error::new(
                Code::MalformedJson,
                format!("The body is not JSON: {message}."),
            )),
        }
    }

    /// Whether a member is there, and not taken yet.
    pub fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    /// Takes a member that must be there and be a string that `parse` accepts. Its error goes on with
    /// "… must …" or "… is …".
    pub fn required<T, E: ToString>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        self.expect(name).then(|| self.optional(name, parse))?
    }

    /// Takes a member that must be there and be a whole number that `parse` accepts.
    pub fn required_integer<T, E: ToString>(
        &mut self,
        name: &str,
        parse: impl FnOnce(i64) -> Result<T, E>,
    ) -> Option<T> {
        self.expect(name).then(|| self.optional_integer(name, parse))?
    }

    /// Takes a member that may be absent and is a whole number otherwise.
    pub fn optional_integer<T, E: ToString>(
        &mut self,
        name: &str,
        parse: impl FnOnce(i64) -> Result<T, E>,
    ) -> Option<T> {
        self.take(name, "must be a whole number", |value| value.as_i64(), parse)
    }

    /// Takes a member that may be absent and is an object of strings otherwise.
    pub fn optional_strings<T, E: ToString>(
        &mut self,
        name: &str,
        parse: impl FnOnce(BTreeMap<String, String>) -> Result<T, E>,
    ) -> Option<T> {
        let read = |value| serde_json::from_value(value).ok();
        self.take(name, "must be an object of strings", read, parse)
    }

    /// Takes a member that may be absent; `null` is not absence.
    pub fn optional<T, E: ToString>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        let read = |value| match value {
            Value::String(text) => Some(text),
            _ => None,
        };
        self.take(name, "must be a string", read, |text: String| parse(&text))
    }

    /// All that is left, as it was sent.
    pub(super) fn into_value(self) -> Value {
        Value::Object(self.members)
    }

    /// Whether a member that must be there is.
    fn expect(&mut self, name: &str) -> bool {
        let has = self.has(name);
        if !has {
            self.fault(name, "required", "is required");
        }
        has
    }

    /// Takes a member: first as what it must be, which `wrong_type` says, then as what `parse` accepts.
    fn take<V, T, E: ToString>(
        &mut self,
        name: &str,
        wrong_type: &str,
        read: impl FnOnce(Value) -> Option<V>,
        parse: impl FnOnce(V) -> Result<T, E>,
    ) -> Option<T> {
        let Some(value) = read(self.members.remove(name)?) else {
            self.fault(name, "wrong_type", wrong_type);
            return None;
        };
        let parsed = parse(value);
        parsed
            .map_err(|error| self.fault(name, "invalid", &error.to_string()))
            .ok()
    }

    /// Notes that a member is at fault.
    pub fn fault(&mut self, name: &str, code: &'static str, message: &str) {
        let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
        self.errors.push(FieldError {
            pointer,
            code,
            message: message.to_owned(),
        });
    }

    /// Gives `value` if no member was at fault and none is left over.
    pub fn finish<T>(mut self, value: Option<T>) -> Result<T, Error> {
        for name in std::mem::take(&mut self.members).keys().take(20) {
            let shown: String = name.chars().take(100).collect();
            self.fault(&shown, "unknown", "is not a member of this body");
        }
        match value {
            Some(value) if self.errors.is_empty() => Ok(value),
            _ => Err(Error::validation(self.errors)),
        }
    }
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
                matches!(parse(text.as_bytes()), Err(Refusal::Invalid(_))),
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
                matches!(parse(text.as_bytes()), Err(Refusal::Malformed(_))),
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
