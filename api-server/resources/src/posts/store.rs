//! Posts in the database.

use super::actor::{self, Actor};
use super::error::Error;
use super::fields::{NewPost, Status};
use super::patch::PostPatch;
use super::post::{Post, columns};
use foundation::clock::Timestamp;
use foundation::ids::Id;
use serde::Serialize;
use storage::db;
use storage::db::{BatchCall, Db, Engine, Executor, Tx, WriteTarget};
use storage::{execute, fetch_all, fetch_one, fetch_optional, sql};

sql! {
    INSERT = concat!(
        "INSERT INTO posts (author_id, title, body, status, version, created_at, updated_at, published_at)
         VALUES ($1, $2, $3, $4, 1, $5, $5, $6) RETURNING ", columns!());
    // The parameter is a JSON array of objects. The ids ascend in its order.
    INSERT_ALL_POSTGRES = concat!(
        "INSERT INTO posts (author_id, title, body, status, version, created_at, updated_at, published_at)
         SELECT author_id, title, body, status, 1, now, now, published_at
         FROM ROWS FROM (json_to_recordset($1::json) AS (author_id BIGINT, title TEXT, body TEXT, status TEXT,
                                                         now BIGINT, published_at BIGINT))
              WITH ORDINALITY AS new (author_id, title, body, status, now, published_at, place)
         ORDER BY place RETURNING ", columns!());
    // The parameter of these two is a JSON array of ids.
    FIND_ALL_SQLITE = concat!("SELECT ", columns!(), " FROM posts
         WHERE id IN (SELECT value FROM json_each($1)) AND deleted_at IS NULL");
    FIND_ALL_POSTGRES = concat!("SELECT ", columns!(), " FROM posts
         WHERE id = ANY (translate($1, '[]', '{}')::BIGINT[]) AND deleted_at IS NULL");
    FIND_VISIBILITY = "SELECT author_id, status FROM posts WHERE id = $1 AND deleted_at IS NULL";
    UPDATE = concat!(
        "UPDATE posts SET title = $3, body = $4, status = $5, published_at = $6, updated_at = $7,
                version = version + 1
         WHERE id = $1 AND version = $2 AND deleted_at IS NULL RETURNING ", columns!());
    DELETE = "UPDATE posts SET deleted_at = $2 WHERE id = $1 AND deleted_at IS NULL";
    // Only the author and moderators ever saw these posts, so their text is erased too.
    DELETE_NEVER_PUBLISHED = "UPDATE posts SET title = '', body = '', deleted_at = $2, version = version + 1
                     WHERE author_id = $1 AND published_at IS NULL";
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
    title: String,
    body: String,
    status: Status,
    now: i64,
    published_at: Option<i64>,
}

impl BatchCall for Insert {
    type Answer = Post;

    /// For PostgreSQL only.
    async fn run(db: &Db, calls: &[Self]) -> Result<Vec<Post>, db::Error> {
        let mut posts = fetch_all!(db.writer(), Post, INSERT_ALL_POSTGRES, db::json_parameter(calls)?)?;
        posts.sort_unstable_by_key(|post| post.id);
        Ok(posts)
    }
}

impl Insert {
    async fn run_alone(&self, on: Executor<'_>) -> Result<Post, db::Error> {
        fetch_one!(
            on,
            Post,
            INSERT,
            self.author_id,
            self.title.as_str(),
            self.body.as_str(),
            self.status.as_str(),
            self.now,
            self.published_at,
        )
    }
}

/// Stores a new post and returns it.
pub async fn create(
    target: &mut WriteTarget<'_>,
    author: Actor,
    new: NewPost,
    now: Timestamp,
) -> Result<Post, Error> {
    let insert = Insert {
        author_id: author.user_id,
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
    Ok(post)
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
/// another version or is deleted. A patch without effect is not written.
pub async fn update(db: &Db, post: Post, patch: PostPatch, now: Timestamp) -> Result<Post, Error> {
    let changed = patch.apply(&post, now);
    if changed == post {
        return Ok(post);
    }
    let stored = fetch_optional!(
        db.writer(),
        Post,
        UPDATE,
        changed.id,
        changed.version,
        changed.title.as_str(),
        changed.body.as_str(),
        changed.status.as_str(),
        changed.published_at,
        now,
    )?;
    stored.ok_or(Error::Stale)
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

/// Deletes the posts that an author never published, and erases their text.
pub async fn delete_never_published(tx: &mut Tx, author_id: i64, now: Timestamp) -> Result<(), db::Error> {
    execute!(tx.on(), DELETE_NEVER_PUBLISHED, author_id, now).map(|_| ())
}
