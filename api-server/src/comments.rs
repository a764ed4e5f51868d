//! Comments on posts: who may delete them, and how they are stored. Who sees the post sees its comments,
//! so each function here asks for a post that was found to be seen.

mod list;

pub(crate) use list::{ListQuery, list};

use crate::ids::Id;
use crate::paging::{Cursor, Listed};
use crate::posts::{Actor, Seen};
use crate::text::Text;
use serde::Serialize;
use shared::clock::Timestamp;
use shared::db::{self, Db, Tx};
use shared::{execute, fetch_all, fetch_one, fetch_optional, sql};
use utoipa::ToSchema;

/// What a comment says.
pub(crate) type CommentBody = Text<10_000>;

/// A comment to be.
#[derive(Clone, Debug, ToSchema)]
#[schema(example = json!({"body": "Well said."}))]
pub(crate) struct NewComment {
    /// What it says.
    pub(crate) body: CommentBody,
}

macro_rules! columns {
    () => {
        "id, post_id, author_id, body, created_at"
    };
}
use columns;

sql! {
    INSERT = concat!(
        "INSERT INTO comments (post_id, author_id, body, created_at)
         VALUES ($1, $2, $3, $4) RETURNING ", columns!());
    FIND = concat!(
        "SELECT ", columns!(), " FROM comments WHERE id = $1 AND post_id = $2 AND deleted_at IS NULL");
    OF_AUTHOR = concat!(
        "SELECT ", columns!(), " FROM comments
         WHERE author_id = $1 AND deleted_at IS NULL AND (post_id, created_at, id) > ($2, $3, $4)
         ORDER BY post_id, created_at, id LIMIT $5");
    DELETE = "UPDATE comments SET deleted_at = $2 WHERE id = $1 AND deleted_at IS NULL";
}

/// A comment as the API shows one. It never changes.
#[derive(Clone, Debug, Serialize, ToSchema, sqlx::FromRow)]
pub(crate) struct Comment {
    /// Identifies the comment.
    pub(crate) id: i64,
    /// On which post.
    pub(crate) post_id: i64,
    /// Who wrote it.
    pub(crate) author_id: i64,
    /// What it says.
    pub(crate) body: String,
    /// When it was made.
    pub(crate) created_at: Timestamp,
}

/// Why a comment was not read or deleted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The post has no such comment.
    #[error("there is no such comment")]
    Missing,
    /// It is another's.
    #[error("the comment is another's")]
    NotTheirs,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

impl Comment {
    /// The strong entity tag (RFC 9110 §8.8.3): a comment has one version.
    pub(crate) fn etag(&self) -> String {
        format!("\"{}\"", self.id)
    }
}

impl Listed for Comment {
    fn cursor(&self) -> Cursor {
        Cursor {
            created_at: self.created_at,
            id: self.id,
        }
    }
}

/// Stores a new comment.
pub(crate) async fn create(
    tx: &mut Tx,
    post: Seen,
    author: Actor,
    new: &NewComment,
    now: Timestamp,
) -> Result<Comment, Error> {
    let (on, post_id, author_id) = (tx.on(), post.id(), author.user_id);
    let comment = fetch_one!(on, Comment, INSERT, post_id, author_id, new.body.as_str(), now)?;
    Ok(comment)
}

/// A comment on this post.
pub(crate) async fn find(db: &Db, post: Seen, id: Id) -> Result<Comment, Error> {
    let comment = fetch_optional!(db.reader(), Comment, FIND, id.get(), post.id())?;
    comment.ok_or(Error::Missing)
}

/// A comment on this post that the actor may delete.
pub(crate) async fn find_to_delete(db: &Db, actor: Actor, post: Seen, id: Id) -> Result<Comment, Error> {
    let comment = find(db, post, id).await?;
    if actor.changes(comment.author_id) {
        Ok(comment)
    } else {
        Err(Error::NotTheirs)
    }
}

/// Takes the comment away.
pub(crate) async fn delete(db: &Db, comment: &Comment, now: Timestamp) -> Result<(), Error> {
    match execute!(db.writer(), DELETE, comment.id, now)? {
        0 => Err(Error::Missing),
        _ => Ok(()),
    }
}

/// Comments of an author, post by post and from the oldest on; those after this post, time and id.
pub(crate) async fn of_author(
    db: &Db,
    author_id: i64,
    (post_id, created_at, id): (i64, i64, i64),
    limit: i64,
) -> Result<Vec<Comment>, db::Error> {
    fetch_all!(
        db.reader(),
        Comment,
        OF_AUTHOR,
        author_id,
        post_id,
        created_at,
        id,
        limit
    )
}

/// Every statement about comments with its name.
pub(crate) fn statements() -> impl Iterator<Item = (String, String)> {
    crate::owned(STATEMENTS).chain(list::statements())
}
