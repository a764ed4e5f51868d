//! Parsing of JSON objects member by member, so that one response reports all invalid members.

use crate::error::{Code, Error, FieldError};
use foundation::json::{self, ParseError};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::convert::Infallible;

/// The largest number of unknown members that a response reports.
const MAX_UNKNOWN: usize = 20;
/// The number of characters after which a response cuts the name of an unknown member.
const MAX_UNKNOWN_NAME: usize = 100;

/// The members of a JSON object that are not read yet, and the errors so far. Each getter removes one member
/// and returns the result of `parse`, or `None` if the member is absent or invalid. The error text of `parse`
/// continues a sentence that begins with the name of the member, such as "must be …" or "is …".
/// [`finish`](Fields::finish) reports the errors, and rejects the members that no getter removed as unknown.
#[derive(Debug)]
pub struct Fields {
    members: Map<String, Value>,
    errors: Vec<FieldError>,
}

impl Fields {
    /// Parses an object. Fails with 400 if the bytes are not JSON, and with 422 if they are not an object,
    /// name a member twice or contain a NUL character.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Error> {
        match json::parse(bytes) {
            Ok(Value::Object(members)) => Ok(Self {
                members,
                errors: Vec::new(),
            }),
            Ok(_) => Err(Error::flawed("", "wrong_type", "must be a JSON object")),
            Err(ParseError::Invalid(message)) => Err(Error::flawed("", "not_allowed", message)),
            Err(ParseError::Malformed(message)) => Err(Error::new(
                Code::MalformedJson,
                format!("The body is not valid JSON: {message}."),
            )),
        }
    }

    /// Returns whether a member is present and not removed yet.
    pub fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    /// Reads a required string. Its absence is an error.
    pub fn required<T, E: ToString>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        self.check_present(name).then(|| self.optional(name, parse))?
    }

    /// Reads a required integer. Its absence is an error.
    pub fn required_integer<T, E: ToString>(
        &mut self,
        name: &str,
        parse: impl FnOnce(i64) -> Result<T, E>,
    ) -> Option<T> {
        self.check_present(name)
            .then(|| self.optional_integer(name, parse))?
    }

    /// Reads an optional integer. `null` is an error.
    pub fn optional_integer<T, E: ToString>(
        &mut self,
        name: &str,
        parse: impl FnOnce(i64) -> Result<T, E>,
    ) -> Option<T> {
        self.take(name, "must be an integer", |value| value.as_i64(), parse)
    }

    /// Reads an optional boolean. `null` is an error.
    pub fn optional_bool(&mut self, name: &str) -> Option<bool> {
        let parse = Ok::<_, Infallible>;
        self.take(name, "must be true or false", |value| value.as_bool(), parse)
    }

    /// Reads an optional array of strings. `null` is an error.
    pub fn optional_list(&mut self, name: &str) -> Option<Vec<String>> {
        let read = |value| serde_json::from_value(value).ok();
        self.take(name, "must be an array of strings", read, Ok::<_, Infallible>)
    }

    /// Reads an optional object. `null` is an error.
    pub fn optional_object(&mut self, name: &str) -> Option<Value> {
        let read = |value: Value| value.is_object().then_some(value);
        self.take(name, "must be an object", read, Ok::<_, Infallible>)
    }

    /// Reads an optional object whose values are strings. `null` is an error.
    pub fn optional_strings<T, E: ToString>(
        &mut self,
        name: &str,
        parse: impl FnOnce(BTreeMap<String, String>) -> Result<T, E>,
    ) -> Option<T> {
        let read = |value| serde_json::from_value(value).ok();
        self.take(name, "must be an object of strings", read, parse)
    }

    /// Reads an optional string. `null` is an error.
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

    /// Returns the remaining members as an object.
    pub(crate) fn into_value(self) -> Value {
        Value::Object(self.members)
    }

    /// Returns whether a required member is present, and adds an error if it is not.
    fn check_present(&mut self, name: &str) -> bool {
        let is_present = self.has(name);
        if !is_present {
            self.add_error(name, "required", "is required");
        }
        is_present
    }

    /// Removes a member and returns its parsed value; `None` if it is absent or invalid. `read` checks the
    /// JSON type, and `parse` the value. `wrong_type` is the error text if `read` returns `None`.
    fn take<V, T, E: ToString>(
        &mut self,
        name: &str,
        wrong_type: &str,
        read: impl FnOnce(Value) -> Option<V>,
        parse: impl FnOnce(V) -> Result<T, E>,
    ) -> Option<T> {
        let Some(value) = read(self.members.remove(name)?) else {
            self.add_error(name, "wrong_type", wrong_type);
            return None;
        };
        let parsed = parse(value);
        parsed
            .map_err(|error| self.add_error(name, "invalid", &error.to_string()))
            .ok()
    }

    /// Adds an error for a member.
    fn add_error(&mut self, name: &str, code: &'static str, message: &str) {
        let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
        self.errors.push(FieldError {
            pointer,
            code,
            message: message.to_owned(),
        });
    }

    /// Returns `value`, which the caller built from the members, or `None` if a required one was absent or
    /// invalid. Fails with 422 if `value` is `None`, or if any member was invalid or is unknown.
    pub fn finish<T>(mut self, value: Option<T>) -> Result<T, Error> {
        for name in std::mem::take(&mut self.members).keys().take(MAX_UNKNOWN) {
            let name: String = name.chars().take(MAX_UNKNOWN_NAME).collect();
            self.add_error(&name, "unknown", "is not a member of this body");
        }
        match value {
            Some(value) if self.errors.is_empty() => Ok(value),
            _ => Err(Error::validation(self.errors)),
        }
    }
}
