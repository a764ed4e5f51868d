//! Posts in the database.

use super::actor::{self, Actor};
use super::error::Error;
use super::fields::Status;
use super::patch::PostPatch;
use super::post::{Post, columns};
use crate::storage_use::{self, Allowance, Refusal, size_of, stored_bytes};
use foundation::clock::Timestamp;
use foundation::ids::Id;
use identity::authority_holds;
use storage::db::{self, Array, BatchCall, Db, Tx};
use storage::{execute, fetch_all, fetch_optional, sql};

/// The text of the statement that changes a post if it has this version, the authority of the caller holds
/// and the author stores at most `$12` bytes. `$lock` is that of [`authority_holds!`], `$count_lock` that of
/// [`stored_bytes!`].
macro_rules! update {
    ($lock:literal, $count_lock:literal) => {
        concat!(
            "UPDATE posts SET title = $3, body = $4, status = $5, published_at = $6, updated_at = $7,
                    version = version + 1
             WHERE id = $1 AND version = $2 AND deleted_at IS NULL AND ",
            authority_holds!("$8", "$9", "$10", $lock),
            " AND ",
            stored_bytes!("$11", $count_lock),
            " <= $12 RETURNING ",
            columns!()
        )
    };
}

/// The text of a statement that deletes posts of the author `$1` at `$2`. `$changes` erases their text, so
/// that the author gets the room back, and `$condition` says which posts. `$count_lock` is that of
/// [`stored_bytes!`].
macro_rules! delete {
    ($changes:literal, $condition:literal, $count_lock:literal) => {
        concat!(
            "UPDATE posts SET body = '', deleted_at = $2",
            $changes,
            " WHERE ",
            stored_bytes!("$1", $count_lock),
            " IS NOT NULL AND ",
            $condition
        )
    };
}

sql! {
    // The parameter of these two is an array of ids.
    FIND_ALL_SQLITE = concat!("SELECT ", columns!(), " FROM posts
         WHERE id IN (SELECT value FROM json_each($1)) AND deleted_at IS NULL");
    FIND_ALL_POSTGRES = concat!("SELECT ", columns!(), " FROM posts
         WHERE id = ANY ($1) AND deleted_at IS NULL");
    FIND_VISIBILITY = "SELECT author_id, status FROM posts WHERE id = $1 AND deleted_at IS NULL";
    UPDATE_SQLITE = update!("", "");
    UPDATE_POSTGRES = update!(" FOR SHARE", " FOR NO KEY UPDATE");
    RENEW_VERSIONS = "UPDATE posts SET version = CASE WHEN version < $1 THEN $1 ELSE version + 1 END";
    // The title stays, because pages that are sorted by it continue after a post that was deleted meanwhile.
    DELETE_SQLITE = delete!("", "id = $3 AND deleted_at IS NULL", "");
    DELETE_POSTGRES = delete!("", "id = $3 AND deleted_at IS NULL", " FOR NO KEY UPDATE");
    DELETE_VERSION_SQLITE = delete!("", "id = $3 AND deleted_at IS NULL AND version = $4", "");
    DELETE_VERSION_POSTGRES = delete!("", "id = $3 AND deleted_at IS NULL AND version = $4", " FOR NO KEY UPDATE");
    // Only the author and moderators ever saw these posts, so their title is erased too. No other post has an
    // empty title.
    DELETE_NEVER_PUBLISHED_SQLITE = delete!(", title = '', version = version + 1", "id IN (
        SELECT id FROM posts WHERE author_id = $1 AND published_at IS NULL AND title <> '' LIMIT $3)", "");
    DELETE_NEVER_PUBLISHED_POSTGRES = delete!(", title = '', version = version + 1", "id IN (
        SELECT id FROM posts WHERE author_id = $1 AND published_at IS NULL AND title <> '' LIMIT $3)", " FOR NO KEY UPDATE");
}

/// The id of a post that existed and that the caller was allowed to see when [`find_visible`] checked it.
#[derive(Clone, Copy, Debug)]
pub struct VisiblePost(i64);

impl VisiblePost {
    /// Returns the id of the post.
    pub const fn id(self) -> i64 {
        self.0
    }
}

/// The call that reads the post with this id; `None` if there is none.
struct Find(i64);

impl BatchCall for Find {
    type Answer = Option<Post>;

    async fn run(db: &Db, calls: &[Self]) -> Result<Vec<Option<Post>>, db::Error> {
        let find_all = db.engine().choose(FIND_ALL_SQLITE, FIND_ALL_POSTGRES);
        let posts = fetch_all!(db.reader(), Post, find_all, Array::of(calls, |Self(id)| *id))?;
        let find = |Self(id): &Self| posts.iter().find(|post| post.id == *id).cloned();
        Ok(calls.iter().map(find).collect())
    }
}

/// Returns a post that the viewer may see. Fails with [`Error::NotFound`] for any other id.
pub async fn find(db: &Db, viewer: Option<Actor>, id: Id) -> Result<Post, Error> {
    let post = db.call(Find(id.get())).await?;
    post.filter(|post| actor::may_see(viewer, post.author_id, post.status))
        .ok_or(Error::NotFound)
}

/// Checks that the viewer may see a post, without reading its text. Fails like [`find`].
pub async fn find_visible(db: &Db, viewer: Option<Actor>, id: Id) -> Result<VisiblePost, Error> {
    let post = fetch_optional!(db.reader(), (i64, Status), FIND_VISIBILITY, id.get())?;
    post.filter(|(author_id, status)| actor::may_see(viewer, *author_id, *status))
        .map(|_| VisiblePost(id.get()))
        .ok_or(Error::NotFound)
}

/// Returns a post that the actor may change. Fails with [`Error::NotFound`] if the actor may not see the
/// post, and with [`Error::NotPermitted`] if the actor may only see it.
pub async fn find_to_change(db: &Db, actor: Actor, id: Id) -> Result<Post, Error> {
    let post = find(db, Some(actor), id).await?;
    if actor.may_change(post.author_id) {
        Ok(post)
    } else {
        Err(Error::NotPermitted)
    }
}

/// Changes the post if it still has this version, and returns the changed post. Fails with [`Error::Stale`]
/// if it has another version or is deleted, and with [`Error::Refused`] if the caller's authority has ended
/// or the post's author would store more than the quota. A patch without effect is not written, so it fails
/// for none of these reasons.
pub async fn update(
    db: &Db,
    allowance: Allowance,
    post: Post,
    patch: PostPatch,
    now: Timestamp,
) -> Result<Post, Error> {
    let changed = patch.apply(&post, now);
    if changed == post {
        return Ok(post);
    }
    let Allowance { authority, quota } = allowance;
    let size = |post: &Post| size_of(&[&post.title, &post.body]);
    let most = quota.before(size(&changed) - size(&post));
    let on = db.writer();
    let update = on.choose(UPDATE_SQLITE, UPDATE_POSTGRES);
    let stored = fetch_optional!(
        on,
        Post,
        update,
        changed.id,
        changed.version,
        changed.title.as_str(),
        changed.body.as_str(),
        changed.status.as_str(),
        changed.published_at,
        now,
        authority.user_id,
        authority.epoch,
        authority.session_id,
        changed.author_id,
        most,
    )?;
    if let Some(stored) = stored {
        return Ok(stored);
    }
    if !authority.holds(db.reader(), now).await? {
        return Err(Refusal::SignedOut.into());
    }
    match storage_use::fits(db.reader(), changed.author_id, most).await? {
        true => Err(Error::Stale),
        false => Err(Refusal::QuotaExceeded.into()),
    }
}

/// Deletes the post and its text, whatever its version. Fails with [`Error::NotFound`] if it was deleted
/// meanwhile.
pub async fn delete(db: &Db, post: &Post, now: Timestamp) -> Result<(), Error> {
    let delete = db.engine().choose(DELETE_SQLITE, DELETE_POSTGRES);
    match execute!(db.writer(), delete, post.author_id, now, post.id)? {
        0 => Err(Error::NotFound),
        _ => Ok(()),
    }
}

/// Deletes the post and its text if it still has this version. Fails with [`Error::Stale`] otherwise.
pub async fn delete_version(db: &Db, post: &Post, now: Timestamp) -> Result<(), Error> {
    let delete = db.engine().choose(DELETE_VERSION_SQLITE, DELETE_VERSION_POSTGRES);
    match execute!(db.writer(), delete, post.author_id, now, post.id, post.version)? {
        0 => Err(Error::Stale),
        _ => Ok(()),
    }
}

/// Deletes at most `limit` of the posts that an author never published, and erases their text. Returns their
/// number.
pub async fn delete_never_published(
    tx: &mut Tx,
    author_id: i64,
    limit: i64,
    now: Timestamp,
) -> Result<u64, db::Error> {
    let on = tx.on();
    let delete = on.choose(DELETE_NEVER_PUBLISHED_SQLITE, DELETE_NEVER_PUBLISHED_POSTGRES);
    execute!(on, delete, author_id, now, limit)
}

/// Numbers the versions of all posts by the time, in microseconds: no entity tag that was given before is
/// given again.
pub async fn renew_versions(tx: &mut Tx, now: Timestamp) -> Result<(), db::Error> {
    execute!(tx.on(), RENEW_VERSIONS, now).map(|_| ())
}
