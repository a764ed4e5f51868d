//! The fields of a post as callers send them. Each type is valid by construction.

use crate::text::Text;
use foundation::clock::Timestamp;
use foundation::schema::WITHOUT_NUL;
use foundation::{names, schema};
use serde::Serialize;
use std::str::FromStr;
use utoipa::ToSchema;

/// The maximum length of a body, in characters.
const MAX_BODY: usize = 100_000;

/// The title of a post.
pub type PostTitle = Text<200>;

schema! {
    PostBody = schema::text(0, MAX_BODY, WITHOUT_NUL, "The text.");
}

/// The body of a post: at most 100,000 characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostBody(String);

impl PostBody {
    /// Checks the length. The error completes a sentence that begins with the field name, such as "is longer
    /// than 100000 characters".
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text.chars().count() > MAX_BODY {
            return Err("is longer than 100000 characters");
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the text.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<PostBody> for String {
    fn from(body: PostBody) -> Self {
        body.0
    }
}

/// Whether a post is published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema, sqlx::Type)]
#[serde(rename_all = "lowercase")]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub enum Status {
    /// Only users who may change the post see it.
    #[default]
    Draft,
    /// Everybody sees the post.
    Published,
}

names!(Status: Draft = "draft", Published = "published");

impl Status {
    /// Returns the time of the first publication of a post that has this status since `now`.
    pub(super) fn first_published_at(self, now: Timestamp) -> Option<Timestamp> {
        (self == Self::Published).then_some(now)
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Status {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::named(text).ok_or("must be draft or published")
    }
}

/// A new post.
#[derive(Clone, Debug, ToSchema)]
#[schema(example = json!({"title": "Hello", "body": "The first one.", "status": "published"}))]
pub struct NewPost {
    /// The title.
    pub title: PostTitle,
    /// The text.
    #[schema(required = false, default = "")]
    pub body: PostBody,
    /// Whether the post is published at once.
    #[schema(required = false, default = "draft")]
    pub status: Status,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_counted_in_characters() {
        assert!(PostTitle::parse(&"é".repeat(200)).is_ok());
        assert!(PostTitle::parse(&"é".repeat(201)).is_err());
        assert!(PostTitle::parse("").is_err());
        assert!(PostTitle::parse(" \u{2003}\n").is_err());
        assert!(PostBody::parse("").is_ok());
        assert!(PostBody::parse(&"é".repeat(100_000)).is_ok());
        assert!(PostBody::parse(&"é".repeat(100_001)).is_err());
    }
}
