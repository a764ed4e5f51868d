//! Deserializes parameters into the fields of a struct.

use super::Params;
use serde::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

impl Params {
    /// Reads the parameters into a struct of `String`, `Option<String>` and `Vec<String>` fields.
    ///
    /// An omitted parameter makes an `Option` field `None` and the other fields empty. A parameter without a
    /// value counts as omitted, and unknown parameters are ignored (RFC 6749 §3.1). If a parameter is
    /// repeated, a `Vec` field has all its values and another field the first: callers that must refuse
    /// repetition check [`Params::flaw`] before.
    ///
    /// Fails only if the struct has fields of other types.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        T::deserialize(Fields(self))
    }

    /// Returns the values of a parameter, except for empty ones.
    fn get_all(&self, name: &str) -> impl Iterator<Item = &str> {
        let found = self.0.iter().filter(move |(found, _)| found == name);
        found
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }
}

struct Fields<'a>(&'a Params);

impl<'de> Deserializer<'de> for Fields<'_> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let fields = names.iter().map(|name| (*name, Field(self.0, name)));
        visitor.visit_map(MapDeserializer::new(fields))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("parameters are read into structs only"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// The values of the parameter with this name.
struct Field<'a>(&'a Params, &'static str);

impl<'de> Deserializer<'de> for Field<'_> {
    type Error = Error;

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0.get(self.1) {
            Some(_) => visitor.visit_some(self),
            None => visitor.visit_none(),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(SeqDeserializer::new(self.0.get_all(self.1)))
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(self.0.get(self.1).unwrap_or_default())
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl IntoDeserializer<'_, Error> for Field<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Form {
        email: String,
        flow: Option<String>,
        resource: Vec<String>,
        #[serde(rename = "h-captcha-response")]
        captcha: Option<String>,
    }

    fn form(text: &str) -> Form {
        Params::from_form(text.as_bytes()).read().unwrap()
    }

    #[test]
    fn empty_values_count_as_omitted_and_unknown_parameters_are_ignored() {
        let omitted = Form {
            email: String::new(),
            flow: None,
            resource: Vec::new(),
            captcha: None,
        };
        assert_eq!(form(""), omitted);
        assert_eq!(form("email=&flow=&resource=&x=1"), omitted);
    }

    #[test]
    fn fields_are_read_by_their_parameter_name_and_only_lists_have_several_values() {
        let expected = Form {
            email: "a@example.org".to_owned(),
            flow: Some("1".to_owned()),
            resource: vec!["a".to_owned(), "b".to_owned()],
            captcha: Some("ok".to_owned()),
        };
        let text =
            "resource=a&email=a%40example.org&flow=1&flow=2&h-captcha-response=ok&captcha=no&resource=b";
        assert_eq!(form(text), expected);
    }

    proptest! {
        #[test]
        fn any_form_is_read(text: String) {
            form(&text);
        }
    }
}
