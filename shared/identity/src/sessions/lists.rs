//! Lists of sessions, for their user and for administrators.

use super::{Lifetimes, Session};
use foundation::clock::Timestamp;
use serde::Serialize;
use storage::db::{Db, Error};
use storage::{fetch_all, sql};
use utoipa::ToSchema;

/// The columns of [`SessionSummary`].
macro_rules! columns {
    () => {
        "id, created_at, last_seen_at, expires_at, address, user_agent"
    };
}

sql! {
    LIST = concat!(
        "SELECT ", columns!(), ", id = $4 AS current FROM sessions
         WHERE user_id = $1 AND last_seen_at > $2 AND expires_at > $3 ORDER BY last_seen_at DESC, id DESC LIMIT 100");
    PAGE = concat!(
        "SELECT ", columns!(), ", user_id FROM sessions
         WHERE last_seen_at > $1 AND expires_at > $2 AND id < $3 ORDER BY id DESC LIMIT $4");
    PAGE_OF_USER = concat!(
        "SELECT ", columns!(), ", user_id FROM sessions
         WHERE user_id = $5 AND last_seen_at > $1 AND expires_at > $2 AND id < $3 ORDER BY id DESC LIMIT $4");
}

/// A session, without its secret.
#[derive(Clone, Debug, Serialize, ToSchema, sqlx::FromRow)]
pub struct SessionSummary {
    /// The session's id, which is not secret.
    pub id: i64,
    /// The time of the sign-in.
    pub created_at: Timestamp,
    /// The time of the last use, accurate to a minute.
    pub last_seen_at: Timestamp,
    /// The time at which the session ends, even if it is in use.
    pub expires_at: Timestamp,
    /// The IP address from which the user signed in.
    #[schema(required)]
    pub address: Option<String>,
    /// The `User-Agent` header of the sign-in.
    #[schema(required)]
    pub user_agent: Option<String>,
}

/// A session, as the API represents it to its user.
#[derive(Clone, Debug, Serialize, ToSchema, sqlx::FromRow)]
#[schema(as = Session)]
pub struct OwnSession {
    /// The session.
    #[serde(flatten)]
    #[sqlx(flatten)]
    pub session: SessionSummary,
    /// Whether this is the session of the current request.
    pub current: bool,
}

/// A session, as administrators see it.
#[derive(Clone, Debug, Serialize, ToSchema, sqlx::FromRow)]
pub struct UserSession {
    /// The session.
    #[serde(flatten)]
    #[sqlx(flatten)]
    pub session: SessionSummary,
    /// The user who signed in.
    pub user_id: i64,
}

/// Returns the live sessions of `session`'s user, the most recently used first, at most 100. Marks `session` as the
/// current one.
pub async fn list(
    db: &Db,
    session: &Session,
    lifetimes: Lifetimes,
    now: Timestamp,
) -> Result<Vec<OwnSession>, Error> {
    let idle_since = now.before(lifetimes.idle);
    fetch_all!(
        db.reader(),
        OwnSession,
        LIST,
        session.user.id,
        idle_since,
        now,
        session.id
    )
}

/// Returns up to `limit` live sessions, of this user or else of all users, the newest first: those with smaller ids
/// than `before`, or the newest of all.
pub async fn page(
    db: &Db,
    user_id: Option<i64>,
    before: Option<i64>,
    lifetimes: Lifetimes,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<UserSession>, Error> {
    let (on, idle_since) = (db.reader(), now.before(lifetimes.idle));
    let before = before.unwrap_or(i64::MAX);
    match user_id {
        None => fetch_all!(on, UserSession, PAGE, idle_since, now, before, limit),
        Some(id) => fetch_all!(on, UserSession, PAGE_OF_USER, idle_since, now, before, limit, id),
    }
}
