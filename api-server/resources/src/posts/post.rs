//! A post as it is stored and shown.

use super::fields::Status;
use crate::paging::{Cursor, HasCursor};
use foundation::clock::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// The columns of a [`Post`], for `SELECT` and `RETURNING`.
macro_rules! columns {
    () => {
        "id, title, body, status, author_id, created_at, updated_at, published_at, version"
    };
}
pub(super) use columns;

/// A post as the API shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema, sqlx::FromRow)]
pub struct Post {
    /// The id of the post.
    pub id: i64,
    /// The title.
    pub title: String,
    /// The text.
    pub body: String,
    /// Whether the post is published.
    #[sqlx(try_from = "String")]
    pub status: Status,
    /// The id of the author.
    pub author_id: i64,
    /// The time of creation.
    pub created_at: Timestamp,
    /// The time of the last change.
    pub updated_at: Timestamp,
    /// The time of the first publication, which a later withdrawal does not clear.
    pub published_at: Option<Timestamp>,
    /// The number of the version, from 1. Each change adds one.
    #[serde(skip)]
    pub(super) version: i64,
}

impl Post {
    /// Returns the strong entity tag (RFC 9110 §8.8.3) of this version. It does not depend on the caller.
    pub fn etag(&self) -> String {
        format!("\"{}-{}\"", self.id, self.version)
    }
}

impl HasCursor for Post {
    fn cursor(&self) -> Cursor {
        Cursor {
            created_at: self.created_at,
            id: self.id,
        }
    }
}
