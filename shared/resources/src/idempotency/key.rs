//! Idempotency keys, and the identity of a write: its key and the scope of the key.

use crate::storage_use::Allowance;
use foundation::{schema, secret};

/// The maximum length of the header's value, in characters.
const MAX_LENGTH: usize = 255;

/// The value of the header `Idempotency-Key`: visible ASCII, bare or as a quoted string (RFC 9651 §3.3.3).
/// Both forms of a value are the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyValue(String);

schema! {
    KeyValue = schema::text(
        1,
        MAX_LENGTH,
        r#"^([!#-~][!-~]*|"([!#-\[\]-~]|\\["\\])+")$"#,
        "Visible ASCII, such as a UUID, bare or in double quotes: either form names the same key.",
    );
}

/// The scope in which a key is unique.
#[derive(Clone, Copy, Debug)]
pub struct KeyScope<'a> {
    /// The user for whom the write is made.
    pub user_id: i64,
    /// The client that calls with an access token; `None` for a session.
    pub client_id: Option<&'a str>,
    /// The method of the request.
    pub method: &'a str,
    /// The path of the request, without the prefix of an API version.
    pub path: &'a str,
}

/// One write, identified by its key and scope, with the fingerprint of its body.
#[derive(Debug)]
pub struct Claim {
    id: Vec<u8>,
    pub(super) allowance: Allowance,
    pub(super) fingerprint: Vec<u8>,
}

impl KeyValue {
    /// Parses the header's value. The error completes a sentence that begins with the name of the header,
    /// such as "is empty".
    pub fn parse(value: &str) -> Result<Self, &'static str> {
        if value.is_empty() {
            return Err("is empty");
        }
        if !value.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("contains characters other than visible ASCII");
        }
        if value.len() > MAX_LENGTH {
            return Err("is longer than 255 characters");
        }
        let Some(quoted) = value.strip_prefix('"') else {
            return Ok(Self(value.to_owned()));
        };
        let key = quoted.strip_suffix('"').and_then(unescaped);
        let key = key.ok_or("begins with a quotation mark but is not a quoted string")?;
        match key.is_empty() {
            true => Err("is empty"),
            false => Ok(Self(key)),
        }
    }
}

impl Claim {
    /// Returns the claim of a write under this allowance, with this key in this scope, whose body has this
    /// fingerprint.
    pub fn new(key: &KeyValue, scope: KeyScope<'_>, allowance: Allowance, fingerprint: Vec<u8>) -> Self {
        // No part can contain a line break, so the concatenation is unambiguous.
        let text = format!(
            "{}\n{}\n{}\n{}\n{}",
            scope.user_id,
            scope.client_id.unwrap_or_default(),
            scope.method,
            scope.path,
            key.0
        );
        Self {
            id: secret::hash(&text),
            allowance,
            fingerprint,
        }
    }

    /// Returns the id of the write: a hash of its key and scope.
    pub(super) fn id(&self) -> &[u8] {
        &self.id
    }

    /// Returns the number of the write's advisory lock. Two writes may have the same number; then one waits
    /// for the other although their keys differ.
    pub(super) fn lock_number(&self) -> i64 {
        self.id
            .first_chunk()
            .map_or(0, |bytes| i64::from_be_bytes(*bytes))
    }
}

/// Removes the escapes of a quoted string's content; `None` if it is malformed (RFC 9651 §3.3.3).
fn unescaped(quoted: &str) -> Option<String> {
    let mut characters = quoted.chars();
    let mut text = String::new();
    while let Some(character) = characters.next() {
        text.push(match character {
            '"' => return None,
            '\\' => characters.next().filter(|next| matches!(next, '"' | '\\'))?,
            plain => plain,
        });
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage_use::Quota;
    use identity::authority::Authority;
    use proptest::prelude::*;

    fn claim(scope: KeyScope<'_>) -> Claim {
        let allowance = Allowance {
            authority: Authority {
                user_id: 1,
                epoch: 0,
                session_id: None,
                signed_in_at: None,
            },
            quota: Quota::new(1),
        };
        Claim::new(&KeyValue("k".to_owned()), scope, allowance, Vec::new())
    }

    #[test]
    fn a_key_is_visible_ascii_bare_or_quoted() {
        let key = |text: &str| KeyValue::parse(text).map(|key| key.0);
        for (value, expected) in [
            ("a", "a"),
            ("!~", "!~"),
            (r#""a""#, "a"),
            (r#""a\"\\b""#, r#"a"\b"#),
            (r#"a"b"#, r#"a"b"#),
            (r"a\b", r"a\b"),
        ] {
            assert_eq!(key(value).as_deref(), Ok(expected), "{value}");
        }
        assert!(key(&"k".repeat(255)).is_ok());
        for value in [
            "",
            " ",
            "a b",
            "a\tb",
            "a\u{7f}",
            "é",
            r#"""#,
            r#""""#,
            r#""a"#,
            r#""a"b""#,
            r#""a\b""#,
            r#""a\""#,
            r#""a";b=1"#,
            &"k".repeat(256),
        ] {
            assert!(key(value).is_err(), "{value}");
        }
    }

    #[test]
    fn the_same_key_in_another_scope_names_another_write() {
        let scope = KeyScope {
            user_id: 1,
            client_id: None,
            method: "POST",
            path: "/payments",
        };
        let mut ids = vec![claim(scope).id];
        for other in [
            KeyScope { user_id: 2, ..scope },
            KeyScope {
                client_id: Some("app"),
                ..scope
            },
            KeyScope {
                method: "PUT",
                ..scope
            },
            KeyScope {
                path: "/posts",
                ..scope
            },
        ] {
            ids.push(claim(other).id);
        }
        assert_eq!(ids[0], claim(scope).id);
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 5);
    }

    proptest! {
        #[test]
        fn any_value_is_parsed_or_rejected(value in r#"[ -~"\\]{0,12}|\PC{0,8}"#) {
            if let Ok(KeyValue(key)) = KeyValue::parse(&value) {
                prop_assert!(!key.is_empty() && key.len() <= value.len());
            }
        }
    }
}
