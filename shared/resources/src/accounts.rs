//! The content of an account in the API, and the deletion of the account with it.

use crate::{idempotency, posts};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use identity::Identity;
use identity::accounts::{self, Error};
use identity::credential_check::PresentedCredentials;
use identity::sessions::Session;
use storage::db::{self, Db, Tx};
use storage::{execute, fetch_one, fetch_optional, sql};

sql! {
    // Each part reads at most `$2` entries of an index.
    COUNT = "WITH drafts AS (SELECT published_at FROM posts
                 WHERE status = 'draft' AND author_id = $1 AND deleted_at IS NULL LIMIT $2)
             SELECT (SELECT COUNT(published_at) FROM drafts)
                  + (SELECT COUNT(*) FROM (SELECT 1 FROM posts
                     WHERE status = 'published' AND author_id = $1 AND deleted_at IS NULL LIMIT $2) AS published),
                    (SELECT COUNT(*) - COUNT(published_at) FROM drafts),
                    (SELECT COUNT(*) FROM (SELECT 1 FROM comments WHERE author_id = $1 AND deleted_at IS NULL
                     LIMIT $2) AS written),
                    (SELECT COUNT(*) FROM (SELECT 1 FROM payments WHERE user_id = $1 LIMIT $2) AS made)";
    ADD_UNFINISHED = "INSERT INTO unfinished_erasures (user_id) VALUES ($1)";
    FIND_UNFINISHED = "SELECT user_id FROM unfinished_erasures ORDER BY user_id LIMIT 1";
    DELETE_UNFINISHED = "DELETE FROM unfinished_erasures WHERE user_id = $1";
}

/// The number of posts and of receipts that the deletion of an account erases itself, in a few milliseconds.
/// Few accounts have more.
const ERASED_AT_ONCE: i64 = 500;

/// The number up to which [`content`] counts each kind exactly.
pub const COUNTED: u64 = 1000;

/// The numbers of the posts, comments and payments that a user made and has not deleted. A number over
/// [`COUNTED`] is a lower bound.
#[derive(Clone, Copy, Debug)]
pub struct Content {
    /// Posts that are or were published, which outlive the account.
    pub posts: u64,
    /// Posts that were never published, which end with the account.
    pub drafts: u64,
    /// Comments, which outlive the account.
    pub comments: u64,
    /// Payments, which outlive the account.
    pub payments: u64,
}

/// Counts the posts, comments and payments of a user. Fails if the database does.
pub async fn content(db: &Db, user_id: i64) -> Result<Content, db::Error> {
    let (on, limit) = (db.reader(), COUNTED.cast_signed() + 1);
    let (posts, drafts, comments, payments) = fetch_one!(on, (i64, i64, i64, i64), COUNT, user_id, limit)?;
    Ok(Content {
        posts: posts.cast_unsigned(),
        drafts: drafts.cast_unsigned(),
        comments: comments.cast_unsigned(),
        payments: payments.cast_unsigned(),
    })
}

/// Verifies the credentials of the session's user, or the recent sign-in if `presented` is `None`, and
/// deletes their account, the posts that were never published, and the receipts that are stored under
/// idempotency keys. If there are many of these, [`erase_remaining`] deletes the others after the commit.
/// Other posts, comments and payments remain and belong to the anonymized user. Fails like
/// [`accounts::delete`].
pub async fn delete(
    identity: &Identity,
    session: &Session,
    presented: Option<&PresentedCredentials>,
    context: &RequestContext,
) -> Result<(), Error> {
    let mut tx = accounts::delete(identity, session, presented, context).await?;
    let user_id = session.user.id;
    if !erase_batch(&mut tx, user_id, ERASED_AT_ONCE, context.now).await? {
        execute!(tx.on(), ADD_UNFINISHED, user_id)?;
    }
    Ok(tx.commit().await?)
}

/// Erases what [`delete`] left, in small transactions with pauses. Stops if another process does the same.
/// Fails if the database does; the next call goes on.
pub async fn erase_remaining(db: &Db, now: Timestamp) -> Result<(), db::Error> {
    db.change_under_lease("erasures", |limit| async move {
        let mut tx = db.begin().await?;
        let Some((user_id,)) = fetch_optional!(tx.on(), (i64,), FIND_UNFINISHED)? else {
            return Ok(0);
        };
        if erase_batch(&mut tx, user_id, limit, now).await? {
            execute!(tx.on(), DELETE_UNFINISHED, user_id)?;
        }
        tx.commit().await?;
        // There may be data of another account.
        Ok(limit.cast_unsigned())
    })
    .await
    .map(|_| ())
}

/// Erases at most `limit` posts and `limit` receipts of a deleted account. Returns whether none are left.
async fn erase_batch(tx: &mut Tx, user_id: i64, limit: i64, now: Timestamp) -> Result<bool, db::Error> {
    // Receipts come first: the deletion of expired ones also locks them before it counts what their users
    // store.
    let receipts = idempotency::delete_of_user(tx, user_id, limit).await?;
    let posts = posts::delete_never_published(tx, user_id, limit, now).await?;
    Ok(posts.max(receipts) < limit.cast_unsigned())
}
