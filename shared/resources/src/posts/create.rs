//! The statements that insert posts. On PostgreSQL, concurrent calls share one.

use super::error::Error;
use super::fields::{NewPost, Status};
use crate::receipt::Created;
use crate::storage_use::{Allowance, size_of_row, stored_bytes};
use foundation::clock::Timestamp;
use identity::authority_holds;
use storage::db::{self, Array, BatchCall, Db, Engine, Executor, WriteTarget};
use storage::{fetch_all, fetch_optional, sql};

/// The text of the statement that inserts a post if the authority of its author holds and the author stores
/// at most `$9` bytes. `$lock` is that of [`authority_holds!`], `$count_lock` that of [`stored_bytes!`].
macro_rules! insert {
    ($lock:literal, $count_lock:literal) => {
        concat!(
            "INSERT INTO posts (author_id, title, body, status, version, created_at, updated_at, published_at)
             SELECT $1, $2, $3, $4, 1, $5, $5, $6 WHERE ",
            authority_holds!("$1", "$7", "$8", $lock),
            " AND ",
            stored_bytes!("$1", $count_lock),
            " <= $9 RETURNING id"
        )
    };
}

sql! {
    INSERT_SQLITE = insert!("", "");
    INSERT_POSTGRES = insert!(" FOR SHARE", " FOR NO KEY UPDATE");
    // Inserts the posts whose authority holds and which, with those before them of the same author, the quota
    // allows. Returns the id of each post with its place in the arrays, from 1. The ids ascend with the
    // places, which is how each row of RETURNING finds its place. For an EXISTS in an OR, PostgreSQL may read
    // all sessions.
    INSERT_ALL_POSTGRES =
        "WITH new AS (
             SELECT *
             FROM unnest($1::BIGINT[], $2::BIGINT[], $3::BIGINT[], $4::TEXT[], $5::TEXT[], $6::TEXT[], $7::BIGINT[],
                         $8::BIGINT[], $9::BIGINT[], $10::BIGINT[])
                 WITH ORDINALITY AS new (author_id, epoch, session_id, title, body, status, now, published_at, size,
                                         quota, place)
         ), authors AS (
             SELECT id, epoch FROM users WHERE id = ANY ($1) ORDER BY id FOR SHARE
         ), counts AS (
             SELECT user_id, bytes FROM storage_use WHERE user_id IN (SELECT id FROM authors)
             ORDER BY user_id FOR NO KEY UPDATE
         ), authorized AS (
             SELECT new.* FROM new JOIN authors ON authors.id = new.author_id AND authors.epoch = new.epoch
             WHERE session_id IS NULL OR (SELECT TRUE FROM sessions WHERE sessions.id = session_id)
         ), sums AS (
             SELECT authorized.*, SUM(size) OVER (PARTITION BY author_id ORDER BY place) AS sum FROM authorized
         ), fitting AS (
             SELECT sums.* FROM sums JOIN counts ON counts.user_id = sums.author_id WHERE bytes + sum <= quota
         ), inserted AS (
             INSERT INTO posts (author_id, title, body, status, version, created_at, updated_at, published_at)
             SELECT author_id, title, body, status, 1, now, now, published_at FROM fitting ORDER BY place
             RETURNING id
         )
         SELECT id, place
         FROM (SELECT id, row_number() OVER (ORDER BY id) AS number FROM inserted) AS numbered_posts
         JOIN (SELECT place, row_number() OVER (ORDER BY place) AS number FROM fitting) AS numbered_places
             USING (number)";
}

/// The largest body that is inserted together with other posts, in bytes, so that a large one holds up no
/// others.
const MAX_BATCHED_BODY: usize = 16 * 1024;

/// The call that inserts a post.
struct Insert {
    author_id: i64,
    epoch: i64,
    session_id: Option<i64>,
    title: String,
    body: String,
    status: Status,
    now: i64,
    published_at: Option<i64>,
    size: i64,
    quota: i64,
}

impl BatchCall for Insert {
    /// The id; `None` if the authority of the author has ended or the quota does not allow the post.
    type Answer = Option<i64>;

    /// The author, whose storage use the insertion counts.
    fn contended_row(&self) -> Option<i64> {
        Some(self.author_id)
    }

    /// For PostgreSQL only.
    async fn run(db: &Db, calls: &[Self]) -> Result<Vec<Option<i64>>, db::Error> {
        let rows = fetch_all!(
            db.writer(),
            (i64, i64),
            INSERT_ALL_POSTGRES,
            Array::of(calls, |post| post.author_id),
            Array::of(calls, |post| post.epoch),
            Array::of_optional(calls, |post| post.session_id),
            Array::of(calls, |post| post.title.as_str()),
            Array::of(calls, |post| post.body.as_str()),
            Array::of(calls, |post| post.status.as_str()),
            Array::of(calls, |post| post.now),
            Array::of_optional(calls, |post| post.published_at),
            Array::of(calls, |post| post.size),
            Array::of(calls, |post| post.quota),
        )?;
        let mut ids = vec![None; calls.len()];
        for (id, place) in rows {
            let place = usize::try_from(place - 1).ok();
            if let Some(answer) = place.and_then(|place| ids.get_mut(place)) {
                *answer = Some(id);
            }
        }
        Ok(ids)
    }
}

impl Insert {
    /// Returns the id; `None` for the reasons of [`BatchCall::Answer`].
    async fn run_alone(&self, on: Executor<'_>, most: i64) -> Result<Option<i64>, db::Error> {
        let insert = on.choose(INSERT_SQLITE, INSERT_POSTGRES);
        let row = fetch_optional!(
            on,
            (i64,),
            insert,
            self.author_id,
            self.title.as_str(),
            self.body.as_str(),
            self.status.as_str(),
            self.now,
            self.published_at,
            self.epoch,
            self.session_id,
            most,
        )?;
        Ok(row.map(|(id,)| id))
    }
}

/// Stores a new post, and returns what makes it with the request. Fails with [`Error::Refused`] if the
/// author's authority has ended or the author would store more than the quota.
pub async fn create(
    target: &mut WriteTarget<'_>,
    allowance: Allowance,
    new: &NewPost,
    now: Timestamp,
) -> Result<Created, Error> {
    let Allowance { authority, quota } = allowance;
    let (title, body) = (new.title.as_str(), new.body.as_str());
    let size = size_of_row(&[title, body]);
    let most = quota.before(size);
    let insert = Insert {
        author_id: authority.user_id,
        epoch: authority.epoch,
        session_id: authority.session_id,
        title: title.to_owned(),
        body: body.to_owned(),
        status: new.status,
        now: now.micros(),
        published_at: new.status.first_published_at(now).map(Timestamp::micros),
        size,
        quota: quota.bytes(),
    };
    let may_share = body.len() <= MAX_BATCHED_BODY;
    let shared = match target {
        // On SQLite, the writer already groups single statements.
        WriteTarget::Db(db) if may_share && matches!(db.engine(), Engine::Postgres(())) => Some(*db),
        _ => None,
    };
    let id = match shared {
        Some(db) => db.call(insert).await?,
        None => insert.run_alone(target.on(), most).await?,
    };
    match id {
        Some(id) => Ok(Created { id, created_at: now }),
        None => Err(allowance.refusal(target, now).await?.into()),
    }
}
