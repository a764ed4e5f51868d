//! What can be written into a post; none of these can be invalid once made.

use super::Post;
use crate::text::Text;
use serde::Serialize;
use shared::clock::Timestamp;
use shared::schema;
use shared::schema::WITHOUT_NUL;
use std::str::FromStr;
use utoipa::ToSchema;

/// A body's length at most, in characters.
const MAX_BODY: usize = 100_000;

/// A title.
pub(crate) type PostTitle = Text<200>;

schema! {
    PostBody = schema::text(0, MAX_BODY, WITHOUT_NUL, "The text.");
}

/// A body: at most 100,000 characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PostBody(String);

impl PostBody {
    /// Reads a body; the error says what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        if text.chars().count() > MAX_BODY {
            return Err("is longer than 100000 characters");
        }
        Ok(Self(text.to_owned()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether others than those who may change it see a post.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    /// They do not.
    #[default]
    Draft,
    /// They do.
    Published,
}

impl Status {
    /// As stored and on the wire.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Published => "published",
        }
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
        [Self::Draft, Self::Published]
            .into_iter()
            .find(|status| status.as_str() == text)
            .ok_or("must be draft or published")
    }
}

impl TryFrom<String> for Status {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// A post to be.
#[derive(Clone, Debug, ToSchema)]
#[schema(example = json!({"title": "Hello", "body": "The first one.", "status": "published"}))]
pub(crate) struct NewPost {
    /// Its heading.
    pub(crate) title: PostTitle,
    /// Its text.
    #[schema(required = false, default = "")]
    pub(crate) body: PostBody,
    /// Whether others see it at once.
    #[schema(required = false, default = "draft")]
    pub(crate) status: Status,
}

/// A change of a post: what is `None` stays.
#[derive(Clone, Debug, Default, ToSchema)]
#[schema(example = json!({"status": "published"}))]
pub(crate) struct PostPatch {
    /// The new heading.
    #[schema(nullable = false)]
    pub(crate) title: Option<PostTitle>,
    /// The new text.
    #[schema(nullable = false)]
    pub(crate) body: Option<PostBody>,
    /// Whether others see it from now on.
    #[schema(nullable = false)]
    pub(crate) status: Option<Status>,
}

impl PostPatch {
    /// The post as changed, its version and time of change left alone.
    pub(super) fn apply(self, post: &Post, now: Timestamp) -> Post {
        let post = post.clone();
        let status = self.status.unwrap_or(post.status);
        let first_published_at = (status == Status::Published).then_some(now);
        Post {
            title: self.title.map_or(post.title, String::from),
            body: self.body.map_or(post.body, |body| body.0),
            status,
            published_at: post.published_at.or(first_published_at),
            ..post
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);
    const LATER: Timestamp = Timestamp::from_micros(1_700_000_000_000_001);

    fn draft() -> Post {
        Post {
            id: 1,
            title: "t".to_owned(),
            body: String::new(),
            status: Status::Draft,
            author_id: 1,
            created_at: NOON,
            updated_at: NOON,
            published_at: None,
            version: 1,
        }
    }

    fn patch(status: Status) -> PostPatch {
        PostPatch {
            status: Some(status),
            ..PostPatch::default()
        }
    }

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

    #[test]
    fn the_first_publication_is_kept() {
        let published = patch(Status::Published).apply(&draft(), NOON);
        assert_eq!(published.published_at, Some(NOON));
        let withdrawn = patch(Status::Draft).apply(&published, LATER);
        let again = patch(Status::Published).apply(&withdrawn, LATER);
        assert_eq!(again, published);
    }

    #[test]
    fn a_patch_of_nothing_or_the_same_changes_nothing() {
        assert_eq!(PostPatch::default().apply(&draft(), LATER), draft());
        assert_eq!(patch(Status::Draft).apply(&draft(), LATER), draft());
    }
}
