//! Changes of a post.

use super::fields::{PostBody, PostTitle, Status};
use super::post::Post;
use foundation::clock::Timestamp;
use utoipa::ToSchema;

/// A change of a post. Fields that are `None` stay unchanged.
#[derive(Clone, Debug, Default, ToSchema)]
#[schema(example = json!({"status": "published"}))]
pub struct PostPatch {
    /// The new title.
    #[schema(nullable = false)]
    pub title: Option<PostTitle>,
    /// The new text.
    #[schema(nullable = false)]
    pub body: Option<PostBody>,
    /// The new status.
    #[schema(nullable = false)]
    pub status: Option<Status>,
}

impl PostPatch {
    /// Returns the changed post, still with its old version and `updated_at`, which the UPDATE statement
    /// sets. If this is the first publication, its time is `now`.
    pub(super) fn apply(self, post: &Post, now: Timestamp) -> Post {
        let post = post.clone();
        let status = self.status.unwrap_or(post.status);
        Post {
            title: self.title.map_or(post.title, String::from),
            body: self.body.map_or(post.body, String::from),
            status,
            published_at: post.published_at.or(status.first_published_at(now)),
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
    fn the_time_of_the_first_publication_is_kept() {
        let published = patch(Status::Published).apply(&draft(), NOON);
        assert_eq!(published.published_at, Some(NOON));
        let draft = patch(Status::Draft).apply(&published, LATER);
        let again = patch(Status::Published).apply(&draft, LATER);
        assert_eq!(again, published);
    }

    #[test]
    fn an_empty_or_equal_patch_changes_nothing() {
        assert_eq!(PostPatch::default().apply(&draft(), LATER), draft());
        assert_eq!(patch(Status::Draft).apply(&draft(), LATER), draft());
    }
}
