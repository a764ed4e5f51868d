//! Comments in the database.

use super::comment::{Comment, NewComment, columns};
use crate::posts::{Actor, VisiblePost};
use crate::receipt::Created;
use crate::storage_use::{Allowance, Refusal, size_of_row, stored_bytes};
use foundation::clock::Timestamp;
use foundation::ids::Id;
use identity::authority_holds;
use storage::db::{self, Db, WriteTarget};
use storage::{execute, fetch_all, fetch_optional, sql};

/// The text of the statement that inserts a comment if the authority of its author holds and the author
/// stores at most `$7` bytes. `$lock` is that of [`authority_holds!`], `$count_lock` that of
/// [`stored_bytes!`].
macro_rules! insert {
    ($lock:literal, $count_lock:literal) => {
        concat!(
            "INSERT INTO comments (post_id, author_id, body, created_at) SELECT $1, $2, $3, $4 WHERE ",
            authority_holds!("$2", "$5", "$6", $lock),
            " AND ",
            stored_bytes!("$2", $count_lock),
            " <= $7 RETURNING id"
        )
    };
}

/// The text of the statement that deletes a comment of an author. The text does not remain, so that its
/// author gets the room back. `$count_lock` is that of [`stored_bytes!`].
macro_rules! delete {
    ($count_lock:literal) => {
        concat!(
            "UPDATE comments SET body = '', deleted_at = $2 WHERE id = $1 AND deleted_at IS NULL AND ",
            stored_bytes!("$3", $count_lock),
            " IS NOT NULL"
        )
    };
}

sql! {
    INSERT_SQLITE = insert!("", "");
    INSERT_POSTGRES = insert!(" FOR SHARE", " FOR NO KEY UPDATE");
    FIND = concat!(
        "SELECT ", columns!(), " FROM comments WHERE id = $1 AND post_id = $2 AND deleted_at IS NULL");
    OF_AUTHOR = concat!(
        "SELECT ", columns!(), " FROM comments
         WHERE (author_id, post_id, created_at, id) > ($1, $2, $3, $4) AND author_id <= $1 AND deleted_at IS NULL
         ORDER BY author_id, post_id, created_at, id LIMIT 20");
    DELETE_SQLITE = delete!("");
    DELETE_POSTGRES = delete!(" FOR NO KEY UPDATE");
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
    /// The author's credentials ended during the call, or the author would store more than the quota.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// Stores a new comment, and returns what makes it with the request. Fails with [`Error::Refused`] if the
/// author's authority has ended or the author would store more than the quota.
pub async fn create(
    target: &mut WriteTarget<'_>,
    post: VisiblePost,
    allowance: Allowance,
    new: &NewComment,
    now: Timestamp,
) -> Result<Created, Error> {
    let (on, post, body) = (target.on(), post.id(), new.body.as_str());
    let most = allowance.quota.before(size_of_row(&[body]));
    let by = allowance.authority;
    let (user, epoch, session_id) = (by.user_id, by.epoch, by.session_id);
    let insert = on.choose(INSERT_SQLITE, INSERT_POSTGRES);
    let inserted = fetch_optional!(on, (i64,), insert, post, user, body, now, epoch, session_id, most)?;
    match inserted {
        Some((id,)) => Ok(Created { id, created_at: now }),
        None => Err(allowance.refusal(target, now).await?.into()),
    }
}

/// Returns the comment with this id. Fails with [`Error::NotFound`] if the post has no such comment.
pub async fn find(db: &Db, post: VisiblePost, id: Id) -> Result<Comment, Error> {
    let comment = fetch_optional!(db.reader(), Comment, FIND, id.get(), post.id())?;
    comment.ok_or(Error::NotFound)
}

/// Returns the comment with this id for its deletion. Fails with [`Error::NotFound`] if the post has no such
/// comment, and with [`Error::NotPermitted`] if the actor is neither its author nor a moderator.
pub async fn find_to_delete(db: &Db, actor: Actor, post: VisiblePost, id: Id) -> Result<Comment, Error> {
    let comment = find(db, post, id).await?;
    if actor.may_change(comment.author_id) {
        Ok(comment)
    } else {
        Err(Error::NotPermitted)
    }
}

/// Deletes the comment and its text. Fails with [`Error::NotFound`] if it was deleted meanwhile.
pub async fn delete(db: &Db, comment: &Comment, now: Timestamp) -> Result<(), Error> {
    let delete = db.engine().choose(DELETE_SQLITE, DELETE_POSTGRES);
    match execute!(db.writer(), delete, comment.id, now, comment.author_id)? {
        0 => Err(Error::NotFound),
        _ => Ok(()),
    }
}

/// Returns at most 20 comments of an author, sorted by post, time of creation (in microseconds) and id, after
/// this position.
pub async fn of_author(
    db: &Db,
    author_id: i64,
    (post_id, created_at, id): (i64, i64, i64),
) -> Result<Vec<Comment>, db::Error> {
    let on = db.reader();
    fetch_all!(on, Comment, OF_AUTHOR, author_id, post_id, created_at, id)
}
