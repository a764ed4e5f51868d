//! A post as it is stored and shown.

use super::fields::{NewPost, Status};
use crate::receipt::Created;
use foundation::clock::Timestamp;
use serde::Serialize;
use sqlx::{ColumnIndex, Decode, FromRow, Row, Type};
use storage::has_cursor;
use utoipa::ToSchema;

/// The columns of a [`Post`], for `SELECT` and `RETURNING`, in the order in which they are read.
macro_rules! columns {
    () => {
        "id, title, body, status, author_id, created_at, updated_at, published_at, version"
    };
}
pub(super) use columns;

/// A post as the API shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Post {
    /// The id of the post.
    pub id: i64,
    /// The title.
    pub title: String,
    /// The text.
    pub body: String,
    /// Whether the post is published.
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
    /// Returns the post as its author created it.
    pub fn created(created: Created, author_id: i64, new: NewPost) -> Self {
        Self {
            id: created.id,
            title: new.title.into(),
            body: new.body.into(),
            status: new.status,
            author_id,
            created_at: created.created_at,
            updated_at: created.created_at,
            published_at: new.status.first_published_at(created.created_at),
            version: 1,
        }
    }

    /// Returns the strong entity tag (RFC 9110 §8.8.3) of this version. It does not depend on the caller.
    pub fn etag(&self) -> String {
        format!("\"{}-{}\"", self.id, self.version)
    }
}

/// Reads the columns by position. The derived implementation looks each one up by its name.
impl<'r, R: Row> FromRow<'r, R> for Post
where
    usize: ColumnIndex<R>,
    i64: Decode<'r, R::Database> + Type<R::Database>,
    String: Decode<'r, R::Database> + Type<R::Database>,
    Status: Decode<'r, R::Database> + Type<R::Database>,
    Timestamp: Decode<'r, R::Database> + Type<R::Database>,
    Option<Timestamp>: Decode<'r, R::Database> + Type<R::Database>,
{
    fn from_row(row: &'r R) -> sqlx::Result<Self> {
        Ok(Self {
            id: row.try_get(0)?,
            title: row.try_get(1)?,
            body: row.try_get(2)?,
            status: row.try_get(3)?,
            author_id: row.try_get(4)?,
            created_at: row.try_get(5)?,
            updated_at: row.try_get(6)?,
            published_at: row.try_get(7)?,
            version: row.try_get(8)?,
        })
    }
}

has_cursor!(Post: created_at, id);
