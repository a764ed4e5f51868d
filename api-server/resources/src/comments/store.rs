//! Comments in the database.

use super::comment::{Comment, NewComment, columns};
use crate::posts::{Actor, VisiblePost};
use foundation::clock::Timestamp;
use foundation::ids::Id;
use identity::authority::Authority;
use identity::authority_holds;
use storage::db;
use storage::db::{Db, WriteTarget};
use storage::{execute, fetch_all, fetch_optional, sql};

/// The text of the statement that inserts a comment if the authority of its author holds. `$lock` is that of
/// [`authority_holds!`].
macro_rules! insert {
    ($lock:literal) => {
        concat!(
            "INSERT INTO comments (post_id, author_id, body, created_at) SELECT $1, $2, $3, $4 WHERE ",
            authority_holds!("$2", "$5", "$6", $lock),
            " RETURNING ",
            columns!()
        )
    };
}

sql! {
    INSERT_SQLITE = insert!("");
    INSERT_POSTGRES = insert!(" FOR SHARE");
    FIND = concat!(
        "SELECT ", columns!(), " FROM comments WHERE id = $1 AND post_id = $2 AND deleted_at IS NULL");
    OF_AUTHOR = concat!(
        "SELECT ", columns!(), " FROM comments
         WHERE (author_id, post_id, created_at, id) > ($1, $2, $3, $4) AND author_id <= $1 AND deleted_at IS NULL
         ORDER BY author_id, post_id, created_at, id LIMIT 20");
    DELETE = "UPDATE comments SET deleted_at = $2 WHERE id = $1 AND deleted_at IS NULL";
}

/// The reason why a comment was not read or deleted.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The post has no such comment.
    #[error("there is no such comment")]
    NotFound,
    /// The caller is neither the comment's author nor a moderator.
    #[error("the caller may not delete the comment")]
    NotPermitted,
    /// The caller's credentials ended during the call.
    #[error("the credentials of the caller have ended")]
    SignedOut,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// Stores a new comment and returns it. Fails with [`Error::SignedOut`] if the author's authority has ended.
pub async fn create(
    target: &mut WriteTarget<'_>,
    post: VisiblePost,
    author: Authority,
    new: &NewComment,
    now: Timestamp,
) -> Result<Comment, Error> {
    let (on, post_id) = (target.on(), post.id());
    let Authority {
        user_id,
        epoch,
        session_id,
        ..
    } = author;
    let insert = on.choose(INSERT_SQLITE, INSERT_POSTGRES);
    let body = new.body.as_str();
    let comment = fetch_optional!(
        on, Comment, insert, post_id, user_id, body, now, epoch, session_id
    )?;
    comment.ok_or(Error::SignedOut)
}

/// Returns the comment with this id. Fails with [`Error::NotFound`] if the post has no such comment.
pub async fn find(db: &Db, post: VisiblePost, id: Id) -> Result<Comment, Error> {
    let comment = fetch_optional!(db.reader(), Comment, FIND, id.get(), post.id())?;
    comment.ok_or(Error::NotFound)
}

/// Returns the comment with this id for its deletion. Fails with [`Error::NotFound`] if the post has no such comment,
/// and with [`Error::NotPermitted`] if the actor is neither its author nor a moderator.
pub async fn find_to_delete(db: &Db, actor: Actor, post: VisiblePost, id: Id) -> Result<Comment, Error> {
    let comment = find(db, post, id).await?;
    if actor.may_change(comment.author_id) {
        Ok(comment)
    } else {
        Err(Error::NotPermitted)
    }
}

/// Deletes the comment. Fails with [`Error::NotFound`] if it was deleted meanwhile.
pub async fn delete(db: &Db, comment: &Comment, now: Timestamp) -> Result<(), Error> {
    match execute!(db.writer(), DELETE, comment.id, now)? {
        0 => Err(Error::NotFound),
        _ => Ok(()),
    }
}

/// Returns at most 20 comments of an author, sorted by post, time of creation (in microseconds) and id, after this
/// position.
pub async fn of_author(
    db: &Db,
    author_id: i64,
    (post_id, created_at, id): (i64, i64, i64),
) -> Result<Vec<Comment>, db::Error> {
    let on = db.reader();
    fetch_all!(on, Comment, OF_AUTHOR, author_id, post_id, created_at, id)
}
