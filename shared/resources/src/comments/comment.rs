//! A comment as it is stored and shown.

use crate::receipt::Created;
use crate::text::Text;
use foundation::clock::Timestamp;
use serde::Serialize;
use storage::has_cursor;
use utoipa::ToSchema;

/// The text of a comment.
pub type CommentBody = Text<10_000>;

/// A new comment.
#[derive(Clone, Debug, ToSchema)]
#[schema(example = json!({"body": "Well said."}))]
pub struct NewComment {
    /// The text.
    pub body: CommentBody,
}

/// The columns of a [`Comment`], for `SELECT` and `RETURNING`.
macro_rules! columns {
    () => {
        "id, post_id, author_id, body, created_at"
    };
}
pub(super) use columns;

/// A comment as the API shows it. Comments never change.
#[derive(Clone, Debug, Serialize, ToSchema, sqlx::FromRow)]
pub struct Comment {
    /// The id of the comment.
    pub id: i64,
    /// The id of the post.
    pub post_id: i64,
    /// The id of the author.
    pub author_id: i64,
    /// The text.
    pub body: String,
    /// The time of creation.
    pub created_at: Timestamp,
}

impl Comment {
    /// Returns the comment as its author created it.
    pub fn created(created: Created, post_id: i64, author_id: i64, new: NewComment) -> Self {
        Self {
            id: created.id,
            post_id,
            author_id,
            body: new.body.into(),
            created_at: created.created_at,
        }
    }

    /// Returns the strong entity tag (RFC 9110 §8.8.3). A comment has only one version.
    pub fn etag(&self) -> String {
        format!("\"{}\"", self.id)
    }
}

has_cursor!(Comment: created_at, id);
