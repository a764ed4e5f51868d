//! JSON objects read member by member, so that every faulty member is reported at once.

use crate::error::{Code, Error, FieldError};
use foundation::json::{self, ParseError};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The members of an object, to be taken one by one; what is left at [`finish`](Fields::finish) is unknown.
#[derive(Debug)]
pub struct Fields {
    members: Map<String, Value>,
    errors: Vec<FieldError>,
}

impl Fields {
    /// Reads an object.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Error> {
        let whole = |code, message: String| {
            Error::validation(vec![FieldError {
                pointer: String::new(),
                code,
                message,
            }])
        };
        match json::parse(bytes) {
            Ok(Value::Object(members)) => Ok(Self {
                members,
                errors: Vec::new(),
            }),
            Ok(_) => Err(whole("wrong_type", "must be a JSON object".to_owned())),
            Err(ParseError::Invalid(message)) => Err(whole("not_allowed", message)),
            Err(ParseError::Malformed(message)) => Err(Error::new(
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
    pub(crate) fn into_value(self) -> Value {
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
