//! The members of a JSON object whose unknown members are ignored. `null` and an empty text or list count as
//! absent.

use foundation::json;
use serde_json::{Map, Value};

/// The members that are not read yet. Each getter removes one. The errors name it.
pub(super) struct Members(Map<String, Value>);

impl Members {
    /// Parses an object. Fails with a message if the text is not JSON, not an object, or names a member
    /// twice.
    pub(super) fn read(text: &[u8]) -> Result<Self, String> {
        match json::parse(text) {
            Ok(Value::Object(members)) => Ok(Self(members)),
            Ok(_) => Err("the body must be a JSON object".to_owned()),
            Err(error) => Err(format!("the body is not valid: {error}")),
        }
    }

    /// Returns whether a member is present.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| !value.is_null())
    }

    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, String> {
        let text = self.take(name, "a string", |value| match value {
            Value::String(text) => Some(text),
            _ => None,
        })?;
        Ok(text.filter(|text| !text.is_empty()))
    }

    pub(super) fn list(&mut self, name: &str) -> Result<Option<Vec<String>>, String> {
        let list: Option<Vec<String>> = self.take(name, "an array of strings", |value| {
            serde_json::from_value(value).ok()
        })?;
        Ok(list.filter(|list| !list.is_empty()))
    }

    pub(super) fn flag(&mut self, name: &str) -> Result<Option<bool>, String> {
        self.take(name, "true or false", |value| value.as_bool())
    }

    pub(super) fn object(&mut self, name: &str) -> Result<Option<Value>, String> {
        self.take(name, "an object", |value| value.is_object().then_some(value))
    }

    fn take<T>(
        &mut self,
        name: &str,
        expected: &str,
        read: impl FnOnce(Value) -> Option<T>,
    ) -> Result<Option<T>, String> {
        let value = self.0.remove(name).filter(|value| !value.is_null());
        value
            .map(|value| read(value).ok_or_else(|| format!("{name} must be {expected}")))
            .transpose()
    }
}
