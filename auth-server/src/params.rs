//! Request parameters: form-encoded, none repeated (RFC 6749 §3.1, §3.2).

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Name and value pairs in the order they came.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Params(Vec<(String, String)>);

impl Params {
    /// Reads `a=1&b=2`.
    pub(crate) fn from_form(text: &[u8]) -> Self {
        Self(form_urlencoded::parse(text).into_owned().collect())
    }

    /// Reads a JSON object of strings; `None` if it is something else or names a member twice.
    pub(crate) fn from_json(text: &[u8]) -> Option<Self> {
        let Ok(Value::Object(members)) = shared::http::json::parse(text) else {
            return None;
        };
        let pairs = members.into_iter().map(|(name, value)| match value {
            Value::String(value) => Some((name, value)),
            _ => None,
        });
        pairs.collect::<Option<_>>().map(Self)
    }

    /// The first value of a parameter. One without a value counts as omitted (RFC 6749 §3.1).
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(found, _)| found == name)
            .map(|(_, value)| value.as_str())
            .filter(|v| !v.is_empty())
    }

    /// The name of a parameter that appears more than once.
    pub(crate) fn repeated(&self) -> Option<&str> {
        let names = || self.0.iter().map(|(name, _)| name.as_str());
        names()
            .enumerate()
            .find(|(at, name)| names().take(*at).any(|earlier| earlier == *name))
            .map(|(_, name)| name)
    }

    /// Bytes of all names and values.
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|(name, value)| name.len() + value.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_are_read_or_not(bytes: Vec<u8>) {
            let params = Params::from_form(&bytes);
            prop_assert!(params.repeated().is_none_or(|name| params.0.iter().filter(|(n, _)| n == name).count() > 1));
            let _ = Params::from_json(&bytes);
        }
    }

    #[test]
    fn repetition_is_noticed_and_emptiness_is_absence() {
        let params = Params::from_form(b"a=1&b=&c=%C3%A9+%26&a=2");
        assert_eq!(params.repeated(), Some("a"));
        assert_eq!(params.get("a"), Some("1"));
        assert_eq!(params.get("b"), None);
        assert_eq!(params.get("c"), Some("é &"));
        assert_eq!(Params::from_form(b"a=1&b=2").repeated(), None);
    }

    #[test]
    fn json_is_an_object_of_strings() {
        assert_eq!(
            Params::from_json(br#"{"a":"1"}"#),
            Some(Params::from_form(b"a=1"))
        );
        for text in ["[]", r#"{"a":1}"#, r#"{"a":"1","a":"2"}"#, "a=1", ""] {
            assert_eq!(Params::from_json(text.as_bytes()), None, "{text}");
        }
    }
}
