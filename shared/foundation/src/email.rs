//! E-mail addresses (RFC 5321).

use crate::schema;

/// The largest length of an address in bytes (RFC 5321 §4.5.3.1.3, without the angle brackets).
const MAX_LENGTH: usize = 254;
/// The largest length of a local part in bytes (RFC 5321 §4.5.3.1.1).
const MAX_LOCAL_LENGTH: usize = 64;

/// The pattern of the OpenAPI schema. It accepts more than [`Email::parse`], which also checks the domain.
const PATTERN: &str =
    r"^\s*[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@[^@\s\u0000]+\s*$";

crate::schema! {
    Email = schema::text(3, MAX_LENGTH, PATTERN, "An e-mail address, its local part in ASCII.");
}

/// A syntactically valid address, trimmed, with an ASCII local part. The domain may be internationalized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Email {
    text: String,
    key: String,
}

impl Email {
    /// Parses an address, ignoring surrounding white space. The error completes the sentence "The address …".
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        const TOO_LONG: &str = "is longer than 254 characters, or has more than 64 before the @";
        let text = text.trim();
        let (local, domain) = text.rsplit_once('@').ok_or("has no @")?;
        if text.len() > MAX_LENGTH || local.len() > MAX_LOCAL_LENGTH {
            return Err(TOO_LONG);
        }
        let is_atom = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+/=?^_`{|}~-.".contains(c);
        if local.is_empty() || !local.chars().all(is_atom) {
            return Err("may have only ASCII letters, digits and !#$%&'*+/=?^_`{|}~-. before the @");
        }
        if local.starts_with('.') || local.ends_with('.') || local.contains("..") {
            return Err("has a leading, trailing or repeated dot before the @");
        }
        let is_label = |label: &str| {
            !label.is_empty()
                && label.len() <= 63
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        };
        let ascii = idna::domain_to_ascii_strict(domain).map_err(|_| "has no valid domain after the @")?;
        if !ascii.split('.').all(is_label) {
            return Err("has no valid domain after the @");
        }
        let key = format!("{}@{ascii}", local.to_ascii_lowercase());
        // SMTP sends the ASCII form, which may be longer than the entered text (RFC 5321 §4.5.3.1.3).
        if key.len() > MAX_LENGTH {
            return Err(TOO_LONG);
        }
        Ok(Self {
            text: text.to_owned(),
            key,
        })
    }

    /// Returns the address as entered, trimmed.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the local part and the ASCII form of the domain (RFC 5890), as SMTP needs them.
    pub fn ascii_parts(&self) -> (&str, &str) {
        let local = self.text.rsplit_once('@').map_or("", |(local, _)| local);
        let domain = self.key.rsplit_once('@').map_or("", |(_, domain)| domain);
        (local, domain)
    }

    /// Returns the form for limits on mails: the [key](Self::key) without a subaddress (RFC 5233), because
    /// `ann+tag@example.org` is delivered to `ann@example.org`.
    pub fn mailbox(&self) -> String {
        let (local, domain) = self.key.rsplit_once('@').unwrap_or((&self.key, ""));
        match local.split_once('+') {
            Some((user, _)) if !user.is_empty() => format!("{user}@{domain}"),
            _ => self.key.clone(),
        }
    }

    /// Returns the form for comparisons: the local part in lower case and the domain in its ASCII form (RFC
    /// 5890).
    pub fn key(&self) -> &str {
        &self.key
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_key_parses_to_the_same_key(text in "[ -~é]{0,12}@[ -~é.]{0,12}") {
            if let Ok(email) = Email::parse(&text) {
                let reparsed = Email::parse(email.key()).unwrap();
                prop_assert_eq!(reparsed.key(), email.key());
            }
        }
    }

    #[test]
    fn case_white_space_and_idn_do_not_change_the_key() {
        for text in ["Ann@Example.org", " ann@example.org ", "ANN@EXAMPLE.ORG"] {
            assert_eq!(Email::parse(text).unwrap().key(), "ann@example.org");
        }
        assert_eq!(
            Email::parse("a@bücher.example").unwrap().key(),
            "a@xn--bcher-kva.example"
        );
        assert_eq!(
            Email::parse("admin@localhost").unwrap().as_str(),
            "admin@localhost"
        );
    }

    #[test]
    fn a_subaddress_is_no_mailbox_of_its_own() {
        for (text, mailbox) in [
            ("ann@example.org", "ann@example.org"),
            ("Ann+shop@example.org", "ann@example.org"),
            ("ann+a+b@example.org", "ann@example.org"),
            ("ann+@example.org", "ann@example.org"),
            ("+ann@example.org", "+ann@example.org"),
        ] {
            assert_eq!(Email::parse(text).unwrap().mailbox(), mailbox, "{text}");
        }
    }

    #[test]
    fn malformed_addresses_are_rejected() {
        let long = format!("{}@example.org", "a".repeat(65));
        let long_in_ascii = format!("{}@{}e", "a".repeat(20), "eß.".repeat(24));
        let nul = "a\0b@example.org";
        for text in [
            "",
            "ann",
            "@example.org",
            "ann@",
            "a b@c.d",
            ".a@b.c",
            "a..b@c.d",
            "é@b.c",
            "a@-b.c",
            "a@b..c",
            &long,
            &long_in_ascii,
            nul,
            "a@b@c.d",
        ] {
            assert!(Email::parse(text).is_err(), "{text:?}");
        }
    }
}
