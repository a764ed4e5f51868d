//! A comment as it is stored and shown.

use crate::paging::{Cursor, HasCursor};
use crate::text::Text;
use serde::Serialize;
use shared::clock::Timestamp;
use utoipa::ToSchema;

/// What a comment says.
pub type CommentBody = Text<10_000>;

/// A comment to be.
#[derive(Clone, Debug, ToSchema)]
#[schema(example = json!({"body": "Well said."}))]
pub struct NewComment {
    /// What it says.
    pub body: CommentBody,
}

macro_rules! columns {
    () => {
        "id, post_id, author_id, body, created_at"
    };
}
pub(super) use columns;

/// A comment as the API shows one. It never changes.
#[derive(Clone, Debug, Serialize, ToSchema, sqlx::FromRow)]
pub struct Comment {
    /// Identifies the comment.
    pub id: i64,
    /// On which post.
    pub post_id: i64,
    /// Who wrote it.
    pub author_id: i64,
    /// What it says.
    pub body: String,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Comment {
    /// The strong entity tag (RFC 9110 §8.8.3): a comment has one version.
    pub fn etag(&self) -> String {
        format!("\"{}\"", self.id)
    }
}

impl HasCursor for Comment {
    fn cursor(&self) -> Cursor {
        Cursor {
            created_at: self.created_at,
            id: self.id,
        }
    }
}
