//! Strings of limited length.

use foundation::schema;
use std::borrow::Cow;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// A string of 1 to `MAX` characters, at least one of them not white space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text<const MAX: usize>(String);

impl<const MAX: usize> PartialSchema for Text<MAX> {
    fn schema() -> RefOr<Schema> {
        let description = "Must contain at least one character that is not white space.";
        schema::text(1, MAX, schema::NOT_BLANK, description).into()
    }
}

impl<const MAX: usize> ToSchema for Text<MAX> {
    fn name() -> Cow<'static, str> {
        format!("Text{MAX}").into()
    }
}

impl<const MAX: usize> Text<MAX> {
    /// Checks the length and the white space. The error completes a sentence that begins with the field name,
    /// such as "is longer than 200 characters".
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("is empty or white space only".to_owned());
        }
        if text.chars().count() > MAX {
            return Err(format!("is longer than {MAX} characters"));
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> From<Text<MAX>> for String {
    fn from(text: Text<MAX>) -> Self {
        text.0
    }
}
