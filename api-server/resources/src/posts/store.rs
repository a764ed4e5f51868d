//! Posts in the database.

use super::actor::{self, Actor};
use super::error::Error;
use super::fields::{NewPost, Status};
use super::patch::PostPatch;
use super::post::{Post, columns};
use foundation::clock::Timestamp;
use foundation::ids::Id;
use identity::authority::Authority;
use identity::authority_holds;
use serde::Serialize;
use storage::db;
use storage::db::{BatchCall, Db, Engine, Executor, Tx, WriteTarget};
use storage::{execute, fetch_all, fetch_optional, sql};

/// The text of the statement that inserts a post if the authority of its author holds. `$lock` is that of
/// [`authority_holds!`].
macro_rules! insert {
    ($lock:literal) => {
        concat!(
            "INSERT INTO posts (author_id, title, body, status, version, created_at, updated_at, published_at)
             SELECT $1, $2, $3, $4, 1, $5, $5, $6 WHERE ",
            authority_holds!("$1", "$7", "$8", $lock),
            " RETURNING ",
            columns!()
        )
    };
}

/// The text of the statement that changes a post if it has this version and the authority of the caller holds. `$lock`
/// is that of [`authority_holds!`].
macro_rules! update {
    ($lock:literal) => {
        concat!(
            "UPDATE posts SET title = $3, body = $4, status = $5, published_at = $6, updated_at = $7,
                    version = version + 1
             WHERE id = $1 AND version = $2 AND deleted_at IS NULL AND ",
            authority_holds!("$8", "$9", "$10", $lock),
            " RETURNING ",
            columns!()
        )
    };
}

sql! {
    INSERT_SQLITE = insert!("");
    INSERT_POSTGRES = insert!(" FOR SHARE");
    // The parameter is a JSON array of objects. Inserts those whose authority holds, and returns each post with its
    // place in the array, from 1. The ids ascend with the places, which is how each row of RETURNING finds its place. For an
    // EXISTS in an OR, PostgreSQL may read all sessions.
    INSERT_ALL_POSTGRES = concat!(
        "WITH new AS (
             SELECT * FROM ROWS FROM (
                 json_to_recordset($1::json) AS (author_id BIGINT, epoch BIGINT, session_id BIGINT, title TEXT, body TEXT,
                                                 status TEXT, now BIGINT, published_at BIGINT)
             ) WITH ORDINALITY AS new (author_id, epoch, session_id, title, body, status, now, published_at, place)
         ), authors AS (
             SELECT id, epoch FROM users WHERE id IN (SELECT author_id FROM new) ORDER BY id FOR SHARE
         ), authorized AS (
             SELECT new.* FROM new JOIN authors ON authors.id = new.author_id AND authors.epoch = new.epoch
             WHERE session_id IS NULL OR (SELECT TRUE FROM sessions WHERE sessions.id = session_id)
         ), inserted AS (
             INSERT INTO posts (author_id, title, body, status, version, created_at, updated_at, published_at)
             SELECT author_id, title, body, status, 1, now, now, published_at FROM authorized ORDER BY place
             RETURNING ", columns!(), "
         )
         SELECT ", columns!(), ", place
         FROM (SELECT *, row_number() OVER (ORDER BY id) AS number FROM inserted) AS numbered_posts
         JOIN (SELECT place, row_number() OVER (ORDER BY place) AS number FROM authorized) AS numbered_places
             USING (number)");
    // The parameter of these two is a JSON array of ids.
    FIND_ALL_SQLITE = concat!("SELECT ", columns!(), " FROM posts
         WHERE id IN (SELECT value FROM json_each($1)) AND deleted_at IS NULL");
    FIND_ALL_POSTGRES = concat!("SELECT ", columns!(), " FROM posts
         WHERE id = ANY (translate($1, '[]', '{}')::BIGINT[]) AND deleted_at IS NULL");
    FIND_VISIBILITY = "SELECT author_id, status FROM posts WHERE id = $1 AND deleted_at IS NULL";
    UPDATE_SQLITE = update!("");
    UPDATE_POSTGRES = update!(" FOR SHARE");
    DELETE = "UPDATE posts SET deleted_at = $2 WHERE id = $1 AND deleted_at IS NULL";
    // Only the author and moderators ever saw these posts, so their text is erased too. No other post has an empty title.
    DELETE_NEVER_PUBLISHED = "UPDATE posts SET title = '', body = '', deleted_at = $2, version = version + 1
                     WHERE id IN (SELECT id FROM posts
                                  WHERE author_id = $1 AND published_at IS NULL AND title <> '' LIMIT $3)";
    DELETE_VERSION = "UPDATE posts SET deleted_at = $3
                      WHERE id = $1 AND version = $2 AND deleted_at IS NULL";
}

/// The largest body that is inserted together with other posts, in bytes, so that a large one holds up no others.
const MAX_BATCHED_BODY: usize = 16 * 1024;

/// The id of a post that existed and that the caller was allowed to see when [`find_visible`] checked it.
#[derive(Clone, Copy, Debug)]
pub struct VisiblePost(i64);

#[derive(sqlx::FromRow)]
struct VisibilityRow {
    author_id: i64,
    status: Status,
}

impl VisiblePost {
    /// Returns the id of the post.
    pub const fn id(self) -> i64 {
        self.0
    }
}

/// The call that reads the post with this id; `None` if there is none.
#[derive(Serialize)]
struct Find(i64);

impl BatchCall for Find {
    type Answer = Option<Post>;

    async fn run(db: &Db, calls: &[Self]) -> Result<Vec<Option<Post>>, db::Error> {
        let find_all = db.engine().choose(FIND_ALL_SQLITE, FIND_ALL_POSTGRES);
        let posts = fetch_all!(db.reader(), Post, find_all, db::json_parameter(calls)?)?;
        let find = |Self(id): &Self| posts.iter().find(|post| post.id == *id).cloned();
        Ok(calls.iter().map(find).collect())
    }
}

/// The call that inserts a post.
#[derive(Serialize)]
struct Insert {
    author_id: i64,
    epoch: i64,
    session_id: Option<i64>,
    title: String,
    body: String,
    status: Status,
    now: i64,
    published_at: Option<i64>,
}

/// A post that a batch inserted, and the place of its call in the batch, from 1. Posts are decoded by the position of
/// their columns, so the column `place` is the last one.
#[derive(sqlx::FromRow)]
struct Inserted {
    #[sqlx(try_from = "i64")]
    place: usize,
    #[sqlx(flatten)]
    post: Post,
}

impl BatchCall for Insert {
    /// `None` if the authority of the author has ended.
    type Answer = Option<Post>;

    /// For PostgreSQL only.
    async fn run(db: &Db, calls: &[Self]) -> Result<Vec<Option<Post>>, db::Error> {
        let rows = fetch_all!(
            db.writer(),
            Inserted,
            INSERT_ALL_POSTGRES,
            db::json_parameter(calls)?
        )?;
        let mut posts: Vec<Option<Post>> = calls.iter().map(|_| None).collect();
        for Inserted { place, post } in rows {
            if let Some(answer) = posts.get_mut(place - 1) {
                *answer = Some(post);
            }
        }
        Ok(posts)
    }
}

impl Insert {
    /// Returns `None` if the authority of the author has ended.
    async fn run_alone(&self, on: Executor<'_>) -> Result<Option<Post>, db::Error> {
        let insert = on.choose(INSERT_SQLITE, INSERT_POSTGRES);
        fetch_optional!(
            on,
            Post,
            insert,
            self.author_id,
            self.title.as_str(),
            self.body.as_str(),
            self.status.as_str(),
            self.now,
            self.published_at,
            self.epoch,
            self.session_id,
        )
    }
}

/// Stores a new post and returns it. Fails with [`Error::SignedOut`] if the author's authority has ended.
pub async fn create(
    target: &mut WriteTarget<'_>,
    author: Authority,
    new: NewPost,
    now: Timestamp,
) -> Result<Post, Error> {
    let insert = Insert {
        author_id: author.user_id,
        epoch: author.epoch,
        session_id: author.session_id,
        title: new.title.into(),
        body: new.body.into(),
        status: new.status,
        now: now.micros(),
        published_at: (new.status == Status::Published).then_some(now.micros()),
    };
    let may_share = insert.body.len() <= MAX_BATCHED_BODY;
    let post = match target {
        // On SQLite, the writer already groups single statements.
        WriteTarget::Db(db) if may_share && matches!(db.engine(), Engine::Postgres(())) => {
            db.call(insert).await?
        }
        target => insert.run_alone(target.on()).await?,
    };
    post.ok_or(Error::SignedOut)
}

/// Returns a post that the viewer may see. Fails with [`Error::NotFound`] for any other id.
pub async fn find(db: &Db, viewer: Option<Actor>, id: Id) -> Result<Post, Error> {
    let post = db.call(Find(id.get())).await?;
    post.filter(|post| actor::may_see(viewer, post.author_id, post.status))
        .ok_or(Error::NotFound)
}

/// Checks that the viewer may see a post, without reading its text. Fails like [`find`].
pub async fn find_visible(db: &Db, viewer: Option<Actor>, id: Id) -> Result<VisiblePost, Error> {
    let post = fetch_optional!(db.reader(), VisibilityRow, FIND_VISIBILITY, id.get())?;
    post.filter(|post| actor::may_see(viewer, post.author_id, post.status))
        .map(|_| VisiblePost(id.get()))
        .ok_or(Error::NotFound)
}

/// Returns a post that the actor may change. Fails with [`Error::NotFound`] if the actor may not see the post, and with
/// [`Error::NotPermitted`] if the actor may only see it.
pub async fn find_to_change(db: &Db, actor: Actor, id: Id) -> Result<Post, Error> {
    let post = find(db, Some(actor), id).await?;
    if actor.may_change(post.author_id) {
        Ok(post)
    } else {
        Err(Error::NotPermitted)
    }
}

/// Changes the post if it still has this version, and returns the changed post. Fails with [`Error::Stale`] if it has
/// another version or is deleted, and with [`Error::SignedOut`] if the caller's authority has ended. A patch without
/// effect is not written, so it does not fail for either reason.
pub async fn update(
    db: &Db,
    caller: Authority,
    post: Post,
    patch: PostPatch,
    now: Timestamp,
) -> Result<Post, Error> {
    let changed = patch.apply(&post, now);
    if changed == post {
        return Ok(post);
    }
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
        caller.user_id,
        caller.epoch,
        caller.session_id,
    )?;
    match stored {
        Some(stored) => Ok(stored),
        None if caller.holds(db.reader(), now).await? => Err(Error::Stale),
        None => Err(Error::SignedOut),
    }
}

/// Deletes the post, whatever its version. Fails with [`Error::NotFound`] if it was deleted meanwhile.
pub async fn delete(db: &Db, post: &Post, now: Timestamp) -> Result<(), Error> {
    match execute!(db.writer(), DELETE, post.id, now)? {
        0 => Err(Error::NotFound),
        _ => Ok(()),
    }
}

/// Deletes the post if it still has this version. Fails with [`Error::Stale`] otherwise.
pub async fn delete_version(db: &Db, post: &Post, now: Timestamp) -> Result<(), Error> {
    match execute!(db.writer(), DELETE_VERSION, post.id, post.version, now)? {
        0 => Err(Error::Stale),
        _ => Ok(()),
    }
}

/// Deletes at most `limit` of the posts that an author never published, and erases their text. Returns their number.
pub async fn delete_never_published(
    tx: &mut Tx,
    author_id: i64,
    limit: i64,
    now: Timestamp,
) -> Result<u64, db::Error> {
    execute!(tx.on(), DELETE_NEVER_PUBLISHED, author_id, now, limit)
}
