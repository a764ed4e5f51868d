//! The ends of sessions: one, the others of a user, or all of them.

use super::Session;
use crate::grants::refresh_families::{self, Selection};
use crate::logout_notices;
use audit::events::{Event, EventName};
use audit::revocation::{PendingAnnouncement, RevocationMirror};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::secret::Secret;
use storage::db::{Error, Tx};
use storage::{execute, fetch_all, fetch_optional, sql};

sql! {
    DELETE = "DELETE FROM sessions WHERE id = $1";
    DELETE_OF_USER = "DELETE FROM sessions WHERE id = $1 AND user_id = $2";
    DELETE_BY_SID = "DELETE FROM sessions WHERE sid_hash = $1 RETURNING id";
    DELETE_ALL = "DELETE FROM sessions WHERE user_id = $1 RETURNING id";
    // `id + 0` is compared in place of `id`, so that PostgreSQL finds the sessions by their user.
    DELETE_OTHERS = "DELETE FROM sessions WHERE user_id = $1 AND id + 0 IN (
                                 SELECT id FROM sessions WHERE user_id = $1 AND id + 0 <> $2
                                 ORDER BY last_seen_at DESC, id DESC LIMIT 1000000 OFFSET $3)
                             RETURNING id";
}

/// Ends the session with this `sid` and returns its id, if there is one. The caller revokes the refresh families.
pub async fn end_by_sid(tx: &mut Tx, sid: &Secret, now: Timestamp) -> Result<Option<i64>, Error> {
    let Some((id,)) = fetch_optional!(tx.on(), (i64,), DELETE_BY_SID, sid.hash())? else {
        return Ok(None);
    };
    logout_notices::queue_of_session(tx, id, now).await?;
    Ok(Some(id))
}

/// Ends the session with this id. The caller revokes the refresh families. If a concurrent request ended the session
/// first, its clients get no second notice.
pub async fn end(tx: &mut Tx, id: i64, now: Timestamp) -> Result<(), Error> {
    match execute!(tx.on(), DELETE, id)? {
        0 => Ok(()),
        _ => logout_notices::queue_of_session(tx, id, now).await,
    }
}

/// Ends all sessions of a user except the session `kept` and the `others` most recently used ones. Revokes the refresh families of
/// first-party clients that were created in them. Records an event with `reason` for each. Returns the revocations to announce after the
/// commit.
pub(super) async fn end_others(
    tx: &mut Tx,
    user_id: i64,
    kept: i64,
    others: i64,
    reason: &str,
    context: &RequestContext,
) -> Result<Vec<PendingAnnouncement>, Error> {
    let ended = fetch_all!(tx.on(), (i64,), DELETE_OTHERS, user_id, kept, others)?;
    let ended: Vec<i64> = ended.into_iter().map(|(id,)| id).collect();
    logout_notices::queue_of_sessions(tx, user_id, &ended, context.now).await?;
    let mut announcements = Vec::new();
    for id in ended {
        announcements.push(refresh_families::revoke(tx, Selection::OfSession(id), context).await?);
        let event = Event::success(EventName::SessionRevoked).user(user_id);
        let event = event.detail(format!("session {id}, {reason}"));
        event.record(tx, context).await?;
    }
    Ok(announcements)
}

/// Ends a session of a user, in a transaction that this function commits, and revokes the refresh families of first-party
/// clients that were created in it. Returns whether the user has a session with this id.
pub async fn revoke(
    mut tx: Tx,
    revocations: &RevocationMirror,
    user_id: i64,
    id: i64,
    context: &RequestContext,
) -> Result<bool, Error> {
    if execute!(tx.on(), DELETE_OF_USER, id, user_id)? == 0 {
        return Ok(false);
    }
    logout_notices::queue_of_session(&mut tx, id, context.now).await?;
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

/// Ends all sessions of the user of `session` but that one, in a transaction that this function commits, and revokes the refresh families of
/// first-party clients that were created in them.
pub async fn revoke_others(
    mut tx: Tx,
    revocations: &RevocationMirror,
    session: &Session,
    context: &RequestContext,
) -> Result<(), Error> {
    let reason = format!("ended with all others in session {}", session.id);
    let announcements = end_others(&mut tx, session.user.id, session.id, 0, &reason, context).await?;
    tx.commit().await?;
    for announcement in announcements {
        revocations.announce(announcement).await;
    }
    Ok(())
}

/// Ends every session of a user. The caller revokes the refresh families.
pub async fn end_all(tx: &mut Tx, user_id: i64, now: Timestamp) -> Result<(), Error> {
    // The notices come second: the deletion waits for the code exchanges that hold a session, whose families they need.
    let ended = fetch_all!(tx.on(), (i64,), DELETE_ALL, user_id)?;
    let ended: Vec<i64> = ended.into_iter().map(|(id,)| id).collect();
    logout_notices::queue_of_sessions(tx, user_id, &ended, now).await
}
