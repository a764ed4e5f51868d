//! The rules of strict JSON, checked without building a value.

use super::duplicate_member;
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;

/// A value that follows the rules. The value itself is not kept.
pub(super) struct CheckedValue;

struct CheckVisitor;

/// The name of a member, borrowed from the input if it has no escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for CheckedValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CheckVisitor)
    }
}

impl<'de> Visitor<'de> for CheckVisitor {
    type Value = CheckedValue;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<CheckedValue, E> {
        Ok(CheckedValue)
    }

    fn visit_i64<E>(self, _: i64) -> Result<CheckedValue, E> {
        Ok(CheckedValue)
    }

    fn visit_u64<E>(self, _: u64) -> Result<CheckedValue, E> {
        Ok(CheckedValue)
    }

    fn visit_f64<E>(self, _: f64) -> Result<CheckedValue, E> {
        Ok(CheckedValue)
    }

    fn visit_unit<E>(self) -> Result<CheckedValue, E> {
        Ok(CheckedValue)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<CheckedValue, E> {
        check_text(text).map(|()| CheckedValue)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<CheckedValue, A::Error> {
        while let Some(CheckedValue) = items.next_element()? {}
        Ok(CheckedValue)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<CheckedValue, A::Error> {
        let mut names = Vec::with_capacity(16);
        while let Some(Name(name)) = members.next_key()? {
            check_text::<A::Error>(&name)?;
            if names.contains(&name) {
                return Err(duplicate_member(&name));
            }
            names.push(name);
            let CheckedValue = members.next_value()?;
        }
        Ok(CheckedValue)
    }
}

fn check_text<E: de::Error>(text: &str) -> Result<(), E> {
    match text.contains('\0') {
        true => Err(E::custom("a string contains a NUL character")),
        false => Ok(()),
    }
}
