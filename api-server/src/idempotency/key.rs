//! Keys, and what one key claims.

use shared::schema;
use shared::secret;

/// The longest value of the header, in characters.
const MAX_LENGTH: usize = 255;

/// The value of the header `Idempotency-Key`: visible ASCII, bare or as a quoted string (RFC 9651 §3.3.3); either
/// form names the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key(String);

schema! {
    Key = schema::text(
        1,
        MAX_LENGTH,
        r#"^([!#-~][!-~]*|"([!#-\[\]-~]|\\["\\])+")$"#,
        "Visible ASCII, such as a UUID, bare or in double quotes: either form names the same key.",
    );
}

/// For whom a key stands, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner<'a> {
    /// Whose write it is.
    pub(crate) user_id: i64,
    /// By which app; `None` by a session.
    pub(crate) client_id: Option<&'a str>,
    /// The method of the request.
    pub(crate) method: &'a str,
    /// Its path, without the prefix of a version.
    pub(crate) path: &'a str,
}

/// One write, as its key names it, and what it says.
#[derive(Debug)]
pub(crate) struct Claim {
    id: Vec<u8>,
    pub(super) user_id: i64,
    pub(super) fingerprint: Vec<u8>,
}

impl Key {
    /// Reads the header's value; the error says what is wrong with it.
    pub(crate) fn parse(value: &str) -> Result<Self, &'static str> {
        if value.is_empty() {
            return Err("is empty");
        }
        if value.len() > MAX_LENGTH {
            return Err("is longer than 255 characters");
        }
        if !value.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("holds something else than visible ASCII characters");
        }
        let Some(quoted) = value.strip_prefix('"') else {
            return Ok(Self(value.to_owned()));
        };
        let key = quoted.strip_suffix('"').and_then(unescaped);
        let key = key.ok_or("begins with a quote and is no quoted string")?;
        match key.is_empty() {
            true => Err("is empty"),
            false => Ok(Self(key)),
        }
    }
}

impl Claim {
    /// The write that the key names for this owner, with a body of this fingerprint.
    pub(crate) fn new(key: &Key, owner: Owner<'_>, fingerprint: Vec<u8>) -> Self {
        let Owner {
            user_id,
            client_id,
            method,
            path,
        } = owner;
        // None of the parts can hold a line break.
        let whole = format!(
            "{user_id}\n{}\n{method}\n{path}\n{}",
            client_id.unwrap_or_default(),
            key.0
        );
        Self {
            id: secret::hash(&whole),
            user_id,
            fingerprint,
        }
    }

    /// Names the write.
    pub(super) fn id(&self) -> &[u8] {
        &self.id
    }

    /// The number of its lock. Two writes that share one by accident wait for each other, and no more.
    pub(super) fn number(&self) -> i64 {
        self.id
            .first_chunk()
            .map_or(0, |bytes| i64::from_be_bytes(*bytes))
    }
}

/// The characters of a quoted string without the escapes; `None` if it is none.
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
    use proptest::prelude::*;

    fn claim(owner: Owner<'_>) -> Claim {
        Claim::new(&Key("k".to_owned()), owner, Vec::new())
    }

    #[test]
    fn a_key_is_visible_ascii_bare_or_quoted() {
        let key = |text: &str| Key::parse(text).map(|key| key.0);
        for (value, is) in [
            ("a", "a"),
            ("!~", "!~"),
            (r#""a""#, "a"),
            (r#""a\"\\b""#, r#"a"\b"#),
            (r#"a"b"#, r#"a"b"#),
            (r"a\b", r"a\b"),
        ] {
            assert_eq!(key(value).as_deref(), Ok(is), "{value}");
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
    fn a_claim_is_of_one_owner_method_and_path() {
        let owner = Owner {
            user_id: 1,
            client_id: None,
            method: "POST",
            path: "/payments",
        };
        let mut ids = vec![claim(owner).id];
        for other in [
            Owner { user_id: 2, ..owner },
            Owner {
                client_id: Some("app"),
                ..owner
            },
            Owner {
                method: "PUT",
                ..owner
            },
            Owner {
                path: "/posts",
                ..owner
            },
        ] {
            ids.push(claim(other).id);
        }
        assert_eq!(ids[0], claim(owner).id);
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 5);
    }

    proptest! {
        #[test]
        fn any_value_is_read_or_refused(value in r#"[ -~"\\]{0,12}|\PC{0,8}"#) {
            if let Ok(Key(key)) = Key::parse(&value) {
                prop_assert!(!key.is_empty() && key.len() <= value.len());
            }
        }
    }
}
