//! The value of a member of a token's header or claims, and the checks of its type.

use crate::error::Error;
use foundation::clock::Timestamp;
use foundation::role::Role;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::time::Duration;

/// The largest number up to which every whole number has a representation of its own (RFC 8259 §6).
const MAX_WHOLE: f64 = 9_007_199_254_740_991.0;

/// The value of a member, as far as the checks distinguish values. Texts without escapes are borrowed from
/// the token.
#[derive(Debug, Default, PartialEq)]
pub(crate) enum Member<'a> {
    /// The object has no such member.
    #[default]
    Absent,
    Text(Cow<'a, str>),
    Number(f64),
    /// An array of strings.
    Texts(Vec<Cow<'a, str>>),
    /// Any other value.
    Other,
}

impl Member<'_> {
    /// Returns whether the object has the member.
    pub(crate) fn is_present(&self) -> bool {
        *self != Self::Absent
    }

    /// Returns the value, which must be a string. Fails with [`Error::Invalid`] if it is missing or of
    /// another type. `name` is the member's name, for the error.
    pub(crate) fn required_text(&self, name: &str) -> Result<&str, Error> {
        match self {
            Self::Text(text) => Ok(text),
            _ => Err(Error::Invalid(format!("its {name} is missing or not a string"))),
        }
    }

    /// Returns the value, which must be a string that is not empty. Fails with [`Error::Invalid`] if it is
    /// anything else. `name` is the member's name, for the error.
    pub(crate) fn required_id(&self, name: &str) -> Result<&str, Error> {
        let id = self.required_text(name)?;
        match id.is_empty() {
            true => Err(Error::Invalid(format!("its {name} is empty"))),
            false => Ok(id),
        }
    }

    /// Returns the value, which must be a string if there is one. Fails with [`Error::Invalid`] if it is of
    /// another type. `name` is the member's name, for the error.
    pub(crate) fn optional_text(&self, name: &str) -> Result<Option<&str>, Error> {
        match self {
            Self::Absent => Ok(None),
            _ => self.required_text(name).map(Some),
        }
    }

    /// Returns the value, which must be a whole number that is not negative if there is one, or else 0. Fails
    /// with [`Error::Invalid`] if it is anything else. `name` is the member's name, for the error.
    pub(crate) fn optional_count(&self, name: &str) -> Result<i64, Error> {
        match self {
            Self::Absent => Ok(0),
            Self::Number(number) if number.fract() == 0.0 && (0.0..=MAX_WHOLE).contains(number) =>
            {
                #[allow(clippy::cast_possible_truncation, reason = "the number is whole and in range")]
                Ok(*number as i64)
            }
            _ => Err(Error::Invalid(format!("its {name} is not a whole number"))),
        }
    }

    /// Returns the value, which must be a `NumericDate` (RFC 7519 §2). Fails with [`Error::Invalid`] if it is
    /// missing or not such a number. `name` is the member's name, for the error.
    pub(crate) fn required_date(&self, name: &str) -> Result<Timestamp, Error> {
        let since_epoch = match self {
            Self::Number(seconds) => Duration::try_from_secs_f64(*seconds).ok(),
            _ => None,
        };
        since_epoch
            .map(|since_epoch| Timestamp::from_micros(0).after(since_epoch))
            .ok_or_else(|| Error::Invalid(format!("its {name} is missing or not a NumericDate")))
    }

    /// Returns whether this `aud` is this audience and no other, as a string or a list of one string.
    pub(crate) fn is_only_audience(&self, audience: &str) -> bool {
        match self {
            Self::Text(only) => only == audience,
            Self::Texts(list) => matches!(list.as_slice(), [only] if only == audience),
            _ => false,
        }
    }

    /// Returns the role in this `roles` (RFC 9068 §2.2.3.1) that permits most. Names that this API does not
    /// know are ignored; without a known name the role is [`Role::User`]. Fails with [`Error::Invalid`] if
    /// the value is not a list of strings.
    pub(crate) fn role(&self) -> Result<Role, Error> {
        let names = match self {
            Self::Absent => [].as_slice(),
            Self::Texts(names) => names,
            _ => return Err(Error::Invalid("its roles is not a list of strings".to_owned())),
        };
        let known = names.iter().filter_map(|name| Role::named(name));
        Ok(known.max().unwrap_or(Role::User))
    }
}

struct MemberVisitor;

impl<'de: 'a, 'a> Deserialize<'de> for Member<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MemberVisitor)
    }
}

impl<'de> Visitor<'de> for MemberVisitor {
    type Value = Member<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Member<'de>, E> {
        Ok(Member::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Member<'de>, E> {
        Ok(Member::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Member<'de>, E> {
        Ok(Member::Number(number))
    }

    #[allow(
        clippy::cast_precision_loss,
        reason = "a NumericDate may have a fraction, and 2^53 seconds are enough"
    )]
    fn visit_u64<E>(self, number: u64) -> Result<Member<'de>, E> {
        Ok(Member::Number(number as f64))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Member<'de>, E> {
        // Only negative numbers arrive here, and no member that is read may be negative.
        Ok(Member::Other)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Member<'de>, E> {
        Ok(Member::Other)
    }

    fn visit_unit<E>(self) -> Result<Member<'de>, E> {
        Ok(Member::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Member<'de>, A::Error> {
        let mut texts = Some(Vec::new());
        while let Some(item) = items.next_element::<Member<'de>>()? {
            match (item, &mut texts) {
                (Member::Text(text), Some(texts)) => texts.push(text),
                _ => texts = None,
            }
        }
        Ok(texts.map_or(Member::Other, Member::Texts))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Member<'de>, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Member::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(json: &str) -> Member<'_> {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_date_is_a_finite_number_that_is_not_negative() {
        let date = |json| member(json).required_date("exp").ok().map(Timestamp::micros);
        assert_eq!(date("1700000000"), Some(1_700_000_000_000_000));
        assert_eq!(date("1.5"), Some(1_500_000));
        for json in [r#""9999999999""#, "-1", "-1.5", "1e308", "null", "[1]", "true"] {
            assert_eq!(date(json), None, "{json}");
        }
        assert!(Member::Absent.required_date("exp").is_err());
    }

    #[test]
    fn the_audience_is_a_string_or_a_list_of_one() {
        for json in [r#""us""#, r#"["us"]"#, r#""\u0075s""#] {
            assert!(member(json).is_only_audience("us"), "{json}");
        }
        for json in [
            r#""them""#,
            "[]",
            r#"["us","us"]"#,
            r#"["us","them"]"#,
            r#"["us",1]"#,
            "null",
            "{}",
        ] {
            assert!(!member(json).is_only_audience("us"), "{json}");
        }
    }

    #[test]
    fn the_role_is_the_largest_known_one() {
        let role = |json| member(json).role().ok();
        assert_eq!(role(r#"["editor"]"#), Some(Role::Editor));
        assert_eq!(role(r#"["user","admin","editor"]"#), Some(Role::Admin));
        assert_eq!(role(r#"["owner"]"#), Some(Role::User));
        assert_eq!(role("[]"), Some(Role::User));
        assert_eq!(Member::Absent.role().ok(), Some(Role::User));
        for json in [r#""admin""#, "null", r#"["admin",1]"#, r#"{"admin":true}"#] {
            assert_eq!(role(json), None, "{json}");
        }
    }
}
