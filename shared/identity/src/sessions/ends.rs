//! The ends of sessions: one, the others of a user, or all of them. Their reasons are kept for the browsers
//! that had them.

use super::Session;
use crate::end_reason::EndReason;
use crate::logout_notices;
use crate::refresh_families::{self, Selection};
use audit::events::{Event, EventName};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::secret::Secret;
use revocation::RevokingTx;
use storage::db::{Db, Error, Tx};
use storage::{delete_expired, execute, fetch_all, fetch_optional, sql};

/// Returns the columns of `ended_sessions` for sessions that end at the time `$2`, for the reason `$1`. If
/// all sessions of a user end, the one with the id `$4`, if it is not null, has another reason: the user made
/// the change in it.
macro_rules! kept_columns {
    (one) => {
        "sid_hash, CAST($1 AS TEXT), CAST($2 AS BIGINT), expires_at"
    };
    (all) => {
        "sid_hash, CASE WHEN id = $4 THEN 'changed_here' ELSE CAST($1 AS TEXT) END, CAST($2 AS BIGINT), expires_at"
    };
}

/// Returns the text of the statement that deletes the sessions with this condition on PostgreSQL, and keeps
/// the columns of one or of all.
macro_rules! end_on_postgres {
    ($ended:ident, $condition:literal) => {
        concat!(
            "WITH ended AS (DELETE FROM sessions WHERE ",
            $condition,
            " RETURNING id, sid_hash, expires_at),
             kept AS (INSERT INTO ended_sessions (sid_hash, reason, ended_at, expires_at)
                      SELECT ",
            kept_columns!($ended),
            " FROM ended)
             SELECT id FROM ended"
        )
    };
}

/// Returns the text of the statement that keeps the same columns on SQLite. The deletion follows in the same
/// transaction, which excludes all other writers. It has the same parameters, and uses only those of the
/// condition.
macro_rules! keep_reason_on_sqlite {
    ($ended:ident, $condition:literal) => {
        concat!(
            "INSERT INTO ended_sessions (sid_hash, reason, ended_at, expires_at) SELECT ",
            kept_columns!($ended),
            " FROM sessions WHERE ",
            $condition
        )
    };
}

sql! {
    END_ONE_POSTGRES = end_on_postgres!(one, "id = $3 AND user_id = $4");
    KEEP_REASON_OF_ONE_SQLITE = keep_reason_on_sqlite!(one, "id = $3 AND user_id = $4");
    DELETE_ONE_SQLITE = "DELETE FROM sessions WHERE id = $3 AND user_id = $4 RETURNING id";
    END_ALL_POSTGRES = end_on_postgres!(all, "user_id = $3");
    KEEP_REASON_OF_ALL_SQLITE = keep_reason_on_sqlite!(all, "user_id = $3");
    DELETE_ALL_SQLITE = "DELETE FROM sessions WHERE user_id = $3 RETURNING id";
    KEEP_REASON_OF_EVERY = concat!(
        "INSERT INTO ended_sessions (sid_hash, reason, ended_at, expires_at) SELECT ", kept_columns!(one), " FROM sessions");
    DELETE_EVERY = "DELETE FROM sessions";
    // The caller found no live session, so one that is stored within its lifetime was unused for too long.
    // One whose lifetime is over is stored until the next deletion of expired rows.
    FIND_END = "SELECT reason, ended_at FROM ended_sessions WHERE sid_hash = $1 AND expires_at > $2
                UNION ALL
                SELECT CASE WHEN expires_at > $2 THEN 'unused' ELSE 'expired' END,
                       CASE WHEN expires_at > $2 THEN last_seen_at ELSE expires_at END
                FROM sessions WHERE sid_hash = $1";
    PRUNE = delete_expired!("ended_sessions");
    DELETE = "DELETE FROM sessions WHERE id = $1";
    DELETE_BY_SID = "DELETE FROM sessions WHERE sid_hash = $1 RETURNING id";
    OTHERS = "SELECT id FROM sessions WHERE user_id = $1 AND id <> $2
              ORDER BY last_seen_at DESC, id DESC LIMIT 1000000 OFFSET $3";
}

/// Ends the session with this `sid` and returns its id, if there is one. Keeps no reason, because another
/// session takes its place in the browser. The caller revokes the refresh families.
pub async fn end_by_sid(tx: &mut Tx, sid: &Secret, now: Timestamp) -> Result<Option<i64>, Error> {
    let Some((id,)) = fetch_optional!(tx.on(), (i64,), DELETE_BY_SID, sid.hash())? else {
        return Ok(None);
    };
    logout_notices::queue_of_session(tx, id, now).await?;
    Ok(Some(id))
}

/// Ends the session with this id. Keeps no reason, because the user signs out in its browser. The caller
/// revokes the refresh families. If a concurrent request ended the session first, its clients get no second
/// notice.
pub async fn end(tx: &mut Tx, id: i64, now: Timestamp) -> Result<(), Error> {
    match execute!(tx.on(), DELETE, id)? {
        0 => Ok(()),
        _ => logout_notices::queue_of_session(tx, id, now).await,
    }
}

/// Ends all sessions of a user, for this reason, except the session `kept` and the `others` most recently
/// used ones. Revokes the refresh families of first-party clients that were created in them. Records an event
/// for each.
pub(super) async fn end_others(
    tx: &mut RevokingTx,
    user_id: i64,
    kept: i64,
    others: i64,
    reason: EndReason,
    context: &RequestContext,
) -> Result<(), Error> {
    let mut ids = fetch_all!(tx.on(), (i64,), OTHERS, user_id, kept, others)?;
    // Two requests that end sessions of a user lock their rows in the same order.
    ids.sort();
    for (id,) in ids {
        end_one(tx, user_id, id, reason, context).await?;
    }
    Ok(())
}

/// Ends a session of a user for this reason, in a transaction that this function commits, and revokes the
/// refresh families of first-party clients that were created in it. Returns whether the user has a session
/// with this id.
pub async fn revoke(
    mut tx: RevokingTx,
    user_id: i64,
    id: i64,
    reason: EndReason,
    context: &RequestContext,
) -> Result<bool, Error> {
    if !end_one(&mut tx, user_id, id, reason, context).await? {
        return Ok(false);
    }
    tx.commit().await?;
    Ok(true)
}

/// Ends a session of the user of `session`, perhaps that one, as [`revoke`] does.
pub async fn revoke_own(
    tx: RevokingTx,
    session: &Session,
    id: i64,
    context: &RequestContext,
) -> Result<bool, Error> {
    let reason = match id == session.id {
        true => EndReason::SignedOut,
        false => EndReason::SignedOutElsewhere,
    };
    revoke(tx, session.user.id, id, reason, context).await
}

/// Ends all sessions of the user of `session` but that one, in a transaction that this function commits, and
/// revokes the refresh families of first-party clients that were created in them.
pub async fn revoke_others(
    mut tx: RevokingTx,
    session: &Session,
    context: &RequestContext,
) -> Result<(), Error> {
    let (user_id, reason) = (session.user.id, EndReason::SignedOutElsewhere);
    end_others(&mut tx, user_id, session.id, 0, reason, context).await?;
    tx.commit().await
}

/// Ends a session of a user for this reason, and revokes the refresh families of first-party clients that
/// were created in it. Records an event. Returns whether the user has a session with this id.
async fn end_one(
    tx: &mut RevokingTx,
    user_id: i64,
    id: i64,
    reason: EndReason,
    context: &RequestContext,
) -> Result<bool, Error> {
    let (keep, end) = tx.on().choose(
        (Some(KEEP_REASON_OF_ONE_SQLITE), DELETE_ONE_SQLITE),
        (None, END_ONE_POSTGRES),
    );
    let (reason_name, now) = (reason.as_str(), context.now);
    if let Some(keep) = keep {
        execute!(tx.on(), keep, reason_name, now, id, user_id)?;
    }
    let ended = fetch_optional!(tx.on(), (i64,), end, reason_name, now, id, user_id)?;
    if ended.is_none() {
        return Ok(false);
    }
    logout_notices::queue_of_session(tx, id, now).await?;
    refresh_families::revoke(tx, Selection::OfSession(id), reason, context).await?;
    let event = Event::success(EventName::SessionRevoked).user(user_id);
    let detail = format!("session {id}: {}", reason.in_words());
    event.detail(detail).record(tx, context).await?;
    Ok(true)
}

/// Ends every session of a user for this reason. The session with the id `changed_in`, in which the user made
/// the change, ends for the reason [`EndReason::ChangedHere`]. The caller revokes the refresh families.
pub async fn end_all(
    tx: &mut Tx,
    user_id: i64,
    changed_in: Option<i64>,
    reason: EndReason,
    now: Timestamp,
) -> Result<(), Error> {
    let (keep, end) = tx.on().choose(
        (Some(KEEP_REASON_OF_ALL_SQLITE), DELETE_ALL_SQLITE),
        (None, END_ALL_POSTGRES),
    );
    let reason = reason.as_str();
    if let Some(keep) = keep {
        execute!(tx.on(), keep, reason, now, user_id, changed_in)?;
    }
    // The notices come second: the deletion waits for the code exchanges that hold a session, whose families
    // they need.
    let ended = fetch_all!(tx.on(), (i64,), end, reason, now, user_id, changed_in)?;
    let ended: Vec<i64> = ended.into_iter().map(|(id,)| id).collect();
    logout_notices::queue_of_sessions(tx, user_id, &ended, now).await
}

/// Ends the sessions of all users for this reason. The caller revokes the refresh families.
pub(crate) async fn end_every(tx: &mut Tx, reason: EndReason, now: Timestamp) -> Result<(), Error> {
    execute!(tx.on(), KEEP_REASON_OF_EVERY, reason.as_str(), now)?;
    execute!(tx.on(), DELETE_EVERY).map(|_| ())
}

/// Returns why and when the session with this `sid` ended, for a browser that has no live session. Returns
/// `None` if its lifetime has been over for more than a minute or so, or if the browser ended it itself, by a
/// sign-out or another sign-in.
pub async fn find_end(
    db: &Db,
    sid: &Secret,
    now: Timestamp,
) -> Result<Option<(EndReason, Timestamp)>, Error> {
    let row = fetch_optional!(db.reader(), (String, Timestamp), FIND_END, sid.hash(), now)?;
    Ok(row.map(|(reason, at)| (EndReason::stored(&reason), at)))
}

/// Deletes the reasons of sessions that would have expired by now. Returns their number.
pub async fn prune_ended(db: &Db, now: Timestamp) -> Result<u64, Error> {
    db.prune(PRUNE, now).await
}
