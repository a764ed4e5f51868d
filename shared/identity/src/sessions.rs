//! Sessions: what a `sid` cookie stands for.

use crate::grants::refresh_families;
use crate::grants::refresh_families::Selection;
use crate::users::{Row as UserRow, User};
use audit::events::{Event, EventName};
use audit::revocation::RevocationMirror;
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::random;
use foundation::secret::Secret;
use serde::Serialize;
use std::time::Duration;
use storage::db::{Db, Error, Tx};
use storage::{execute, fetch_all, fetch_one, fetch_optional, sql};
use utoipa::ToSchema;

sql! {
    INSERT = "INSERT INTO sessions (sid_hash, user_id, created_at, last_seen_at, expires_at, address, user_agent)
              VALUES ($1, $2, $3, $3, $4, $5, $6) RETURNING id";
    // Joins the other table of this module's parent: one round trip a request.
    FIND = "SELECT s.id AS session_id, s.last_seen_at, s.expires_at, u.password_change_required,
                   u.id, u.email, u.email_verified, u.role, u.created_at, u.updated_at
            FROM sessions s JOIN users u ON u.id = s.user_id
            WHERE s.sid_hash = $1 AND s.last_seen_at > $2 AND s.expires_at > $3 AND u.disabled_at IS NULL";
    LIST = "SELECT id, created_at, last_seen_at, expires_at, address, user_agent, id = $4 AS current FROM sessions
            WHERE user_id = $1 AND last_seen_at > $2 AND expires_at > $3
            ORDER BY last_seen_at DESC, id DESC LIMIT 100";
    TOUCH = "UPDATE sessions SET last_seen_at = $2 WHERE id = $1 AND last_seen_at < $2";
    LOCK = "UPDATE sessions SET last_seen_at = last_seen_at WHERE id = $1 AND expires_at > $2";
    DELETE = "DELETE FROM sessions WHERE id = $1";
    DELETE_OF = "DELETE FROM sessions WHERE id = $1 AND user_id = $2";
    DELETE_BY_SID = "DELETE FROM sessions WHERE sid_hash = $1 RETURNING id";
    DELETE_OF_USER = "DELETE FROM sessions WHERE user_id = $1";
    PRUNE = "DELETE FROM sessions WHERE expires_at <= $1";
}

/// A session's last use is written once in this time, not at every request.
const TOUCH_EVERY: Duration = Duration::from_secs(60);

/// How long a request waits for that.
const TOUCH_PATIENCE: Duration = Duration::from_millis(500);

/// How long a session lives unused, and in all.
#[derive(Clone, Copy, Debug)]
pub struct Lifetimes {
    /// From one use to the next.
    pub idle: Duration,
    /// From sign-in on.
    pub absolute: Duration,
}

/// A live session and its user.
#[derive(Clone, Debug)]
pub struct Session {
    /// The session's id, which is no secret.
    pub id: i64,
    /// Who signed in.
    pub user: User,
    /// Whether the user may do nothing before choosing another password.
    pub password_change_required: bool,
    /// When it ends at the latest.
    pub expires_at: Timestamp,
}

#[derive(sqlx::FromRow)]
struct Row {
    session_id: i64,
    last_seen_at: Timestamp,
    expires_at: Timestamp,
    password_change_required: bool,
    #[sqlx(flatten)]
    user: UserRow,
}

/// A session as its user is shown it.
#[derive(Clone, Debug, Serialize, ToSchema, sqlx::FromRow)]
#[schema(as = Session)]
pub struct SessionSummary {
    /// Identifies the session; no secret.
    pub id: i64,
    /// When the user signed in.
    pub created_at: Timestamp,
    /// When it was last used, to the minute.
    pub last_seen_at: Timestamp,
    /// When it ends at the latest.
    pub expires_at: Timestamp,
    /// From where the user signed in.
    #[schema(required)]
    pub address: Option<String>,
    /// With what program, as that says of itself.
    #[schema(required)]
    pub user_agent: Option<String>,
    /// Whether it is the one that asks.
    pub current: bool,
}

/// Begins a session with an identifier of its own, and gives that.
pub async fn start(
    tx: &mut Tx,
    user_id: i64,
    lifetimes: Lifetimes,
    context: &RequestContext,
) -> Result<Secret, Error> {
    let (sid, now) = (random::token(), context.now);
    fetch_one!(
        tx.on(),
        (i64,),
        INSERT,
        sid.hash(),
        user_id,
        now,
        now.after(lifetimes.absolute),
        context.address.map(|address| address.to_string()),
        context.user_agent.as_deref(),
    )?;
    Ok(sid)
}

/// The live session of a `sid`, and notes its use.
pub async fn find(
    db: &Db,
    sid: &Secret,
    lifetimes: Lifetimes,
    now: Timestamp,
) -> Result<Option<Session>, Error> {
    let idle_since = now.before(lifetimes.idle);
    let Some(row) = fetch_optional!(db.reader(), Row, FIND, sid.hash(), idle_since, now)? else {
        return Ok(None);
    };
    if now.since(row.last_seen_at) > TOUCH_EVERY.min(lifetimes.idle / 10) {
        touch(db.clone(), row.session_id, now).await;
    }
    Ok(Some(Session {
        id: row.session_id,
        user: row.user.into(),
        password_change_required: row.password_change_required,
        expires_at: row.expires_at,
    }))
}

/// Notes a session's use. A request waits for that only so long, and never fails with it.
async fn touch(db: Db, id: i64, now: Timestamp) {
    let noted = tokio::spawn(async move {
        if let Err(error) = execute!(db.writer(), TOUCH, id, now) {
            tracing::warn!(%error, "a session's use was not noted");
        }
    });
    let _ = tokio::time::timeout(TOUCH_PATIENCE, noted).await;
}

/// Whether the session still lives; if so it cannot end before the caller's transaction does. What is
/// begun in a session (a refresh family) is begun under this, and so never escapes its ending.
pub async fn lock(tx: &mut Tx, id: i64, now: Timestamp) -> Result<bool, Error> {
    Ok(execute!(tx.on(), LOCK, id, now)? == 1)
}

/// Ends the session of a `sid`, and gives its id.
pub async fn end_by_sid(tx: &mut Tx, sid: &Secret) -> Result<Option<i64>, Error> {
    let ended = fetch_optional!(tx.on(), (i64,), DELETE_BY_SID, sid.hash())?;
    Ok(ended.map(|(id,)| id))
}

/// Ends one session.
pub async fn end(tx: &mut Tx, id: i64) -> Result<(), Error> {
    execute!(tx.on(), DELETE, id).map(|_| ())
}

/// The live sessions of this one's user, the last used first; a hundred at most.
pub async fn list(
    db: &Db,
    session: &Session,
    lifetimes: Lifetimes,
    now: Timestamp,
) -> Result<Vec<SessionSummary>, Error> {
    let idle_since = now.before(lifetimes.idle);
    fetch_all!(
        db.reader(),
        SessionSummary,
        LIST,
        session.user.id,
        idle_since,
        now,
        session.id
    )
}

/// Ends a session of this user, and what first-party clients began in it. Gives whether there was one.
pub async fn end_of(
    db: &Db,
    revocations: &RevocationMirror,
    user_id: i64,
    id: i64,
    context: &RequestContext,
) -> Result<bool, Error> {
    let mut tx = db.begin().await?;
    if execute!(tx.on(), DELETE_OF, id, user_id)? == 0 {
        return Ok(false);
    }
    let announcement = refresh_families::revoke(&mut tx, Selection::OfSession(id), context).await?;
    let event = Event::success(EventName::SessionRevoked).user(user_id);
    event
        .detail(format!("session {id}"))
        .record(&mut tx, context)
        .await?;
    tx.commit().await?;
    revocations.announce(announcement).await;
    Ok(true)
}

/// Ends every session of a user.
pub async fn end_all(tx: &mut Tx, user_id: i64) -> Result<(), Error> {
    execute!(tx.on(), DELETE_OF_USER, user_id).map(|_| ())
}

/// Deletes sessions that ended of old age.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, Error> {
    execute!(db.writer(), PRUNE, now)
}
