//! Request parameters, which must not be repeated (RFC 6749 §3.1, §3.2), except for `resource` (RFC 8707 §2).

mod fields;

pub use serde::de::value::Error as ReadError;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashSet;

/// The longest request that the browser sends in a URL, in bytes of all names and values.
const MAX_LENGTH: usize = 8 * 1024;
/// The longest URL with which the browser returns to an app, in bytes, without `code` and `error`. It is in
/// the head of a response, which proxies limit, nginx to 4 KiB by default.
const MAX_RETURN_LENGTH: usize = 2800;
/// The most parameters of one request.
const MAX_COUNT: usize = 100;
/// The parameter that may be repeated.
const REPEATABLE: &str = "resource";
/// The result of [`Params::flaw`] for a repeated parameter. The authorization endpoint reports this flaw to
/// the client by a redirect, and every other flaw on a page.
pub const REPEATED: &str = "a parameter appears more than once";

/// Name and value pairs in the order received.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Params(Vec<(String, String)>);

impl Params {
    /// Parses `application/x-www-form-urlencoded` text.
    pub fn from_form(text: &[u8]) -> Self {
        Self(form_urlencoded::parse(text).into_owned().collect())
    }

    /// Returns the parameters as `application/x-www-form-urlencoded` text.
    pub fn to_form(&self) -> String {
        let mut text = form_urlencoded::Serializer::new(String::new());
        text.extend_pairs(&self.0).finish()
    }

    /// Parses a JSON object of strings, in which `resource` may be a list of strings. Returns `None` for
    /// anything else, or if a member is repeated.
    pub fn from_json(text: &[u8]) -> Option<Self> {
        let Ok(Value::Object(members)) = foundation::json::parse(text) else {
            return None;
        };
        let mut pairs = Vec::new();
        for (name, value) in members {
            let values = match value {
                Value::Array(values) if name == REPEATABLE => values,
                value => vec![value],
            };
            for value in values {
                let Value::String(value) = value else { return None };
                pairs.push((name.clone(), value));
            }
        }
        Some(Self(pairs))
    }

    /// Returns the first value of a parameter. A parameter without a value counts as omitted (RFC 6749 §3.1).
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(found, _)| found == name)
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// Returns the parameters from which [`Params::read`] reads an equal struct. Fails if the struct cannot
    /// be serialized.
    pub fn write<T: Serialize>(fields: &T) -> Result<Self, serde_json::Error> {
        let mut pairs = Vec::new();
        if let Value::Object(members) = serde_json::to_value(fields)? {
            for (name, value) in members {
                let values = match value {
                    Value::Array(values) => values,
                    value => vec![value],
                };
                let values = values.iter();
                let values = values.filter_map(Value::as_str).filter(|value| !value.is_empty());
                pairs.extend(values.map(|value| (name.clone(), value.to_owned())));
            }
        }
        Ok(Self(pairs))
    }

    /// Returns the reason why the parameters as a whole are unacceptable, as text for messages. Returns
    /// `None` if they are acceptable.
    pub fn flaw(&self) -> Option<&'static str> {
        if self.0.len() > MAX_COUNT {
            return Some("there are more than 100 parameters");
        }
        let has_nul = |(name, value): &(String, String)| name.contains('\0') || value.contains('\0');
        if self.0.iter().any(has_nul) {
            return Some("a parameter holds a NUL character");
        }
        let mut seen = HashSet::new();
        let is_new = |(name, _): &(String, String)| name == REPEATABLE || seen.insert(name.clone());
        (!self.0.iter().all(is_new)).then_some(REPEATED)
    }

    /// Returns whether a parameter of this name is repeated.
    pub fn repeats(&self, name: &str) -> bool {
        self.0.iter().filter(|(found, _)| found == name).count() > 1
    }

    /// Fails with a message if the request is longer than 8 KiB. The browser sends it in a URL, which proxies
    /// limit.
    pub fn check_length(&self) -> Result<(), &'static str> {
        let lengths = self.0.iter().map(|(name, value)| name.len() + value.len());
        match lengths.sum::<usize>() > MAX_LENGTH {
            true => Err("The request is too long. The limit is 8192 bytes."),
            false => Ok(()),
        }
    }
}

/// Returns a URI with these parameters at the end of its query.
pub fn with_query(uri: &str, parameters: &[(&str, &str)]) -> String {
    if parameters.is_empty() {
        return uri.to_owned();
    }
    let separator = if uri.contains('?') { '&' } else { '?' };
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(parameters);
    format!("{uri}{separator}{}", query.finish())
}

/// Fails with a message if the URL with which the browser returns to an app is too long.
pub(crate) fn check_return_length(url: &str) -> Result<(), &'static str> {
    match url.len() > MAX_RETURN_LENGTH {
        true => Err(
            "The state is too long. The URI for the return to the application has at most 2800 bytes with it.",
        ),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes: Vec<u8>) {
            let params = Params::from_form(&bytes);
            let _ = params.flaw();
            prop_assert_eq!(Params::from_form(params.to_form().as_bytes()), params);
            let _ = Params::from_json(&bytes);
        }
    }

    #[test]
    fn the_parameters_of_a_struct_are_those_that_it_is_read_from() {
        #[derive(Serialize)]
        struct Form {
            a: String,
            b: Option<String>,
            c: Option<String>,
            resource: Vec<String>,
        }
        let form = Form {
            a: String::new(),
            b: None,
            c: Some("é &".to_owned()),
            resource: vec!["1".to_owned(), "2".to_owned()],
        };
        let expected = Params::from_form(b"c=%C3%A9+%26&resource=1&resource=2");
        assert_eq!(Params::write(&form).unwrap(), expected);
    }

    #[test]
    fn repeated_parameters_are_flaws_and_empty_ones_are_absent() {
        let params = Params::from_form(b"a=1&b=&c=%C3%A9+%26&a=2");
        assert_eq!(params.flaw(), Some(REPEATED));
        assert!(params.repeats("a") && !params.repeats("c"));
        assert_eq!(params.get("a"), Some("1"));
        assert_eq!(params.get("b"), None);
        assert_eq!(params.get("c"), Some("é &"));
        assert_eq!(Params::from_form(b"a=1&b=2").flaw(), None);
        assert_eq!(Params::from_form(b"resource=1&a=2&resource=1").flaw(), None);
        assert!(Params::from_form(b"a=%00").flaw().is_some());
        assert!(Params::from_form("a&".repeat(101).as_bytes()).flaw().is_some());
    }

    #[test]
    fn only_json_objects_of_strings_parse() {
        assert_eq!(
            Params::from_json(br#"{"a":"1"}"#),
            Some(Params::from_form(b"a=1"))
        );
        assert_eq!(
            Params::from_json(br#"{"resource":["1","2"]}"#),
            Some(Params::from_form(b"resource=1&resource=2"))
        );
        for text in [
            "[]",
            r#"{"a":1}"#,
            r#"{"a":["1"]}"#,
            r#"{"resource":["1",2]}"#,
            r#"{"a":"1","a":"2"}"#,
            "a=1",
            "",
        ] {
            assert_eq!(Params::from_json(text.as_bytes()), None, "{text}");
        }
    }
}
