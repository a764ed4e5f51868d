//! Revocation of refresh token families, with the access tokens that were issued with them.

use super::is_unrevoked;
use crate::end_reason::EndReason;
use audit::events::{Event, EventName, EventRecorder};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use revocation::{Kind, RevokingTx};
use storage::db::{Error, Tx};
use storage::{execute, fetch_all, fetch_one, sql};

/// The assignments of a revocation at the time `$2` for the reason `$3`. The row, which tells the reason,
/// expires a day later: a client can begin and revoke families in any number.
macro_rules! revocation {
    () => {
        "revoked_at = $2, revocation_reason = $3,
         expires_at = CASE WHEN expires_at > $2 + 86400000000 THEN $2 + 86400000000 ELSE expires_at END"
    };
}

/// Returns the text of the statement that revokes the families with this condition at the time `$2` for the
/// reason `$3` on SQLite.
macro_rules! revoke_on_sqlite {
    ($condition:expr) => {
        concat!(
            "UPDATE refresh_families SET ",
            revocation!(),
            " WHERE ",
            $condition,
            " AND ",
            is_unrevoked!(),
            " RETURNING id, client_id, user_id"
        )
    };
}

/// Returns the text of the same statement on PostgreSQL. It locks the rows in the order of their ids, as
/// rotations do, so that a revocation and a rotation do not deadlock.
macro_rules! revoke_on_postgres {
    ($condition:expr) => {
        concat!(
            "WITH family AS (SELECT id FROM refresh_families WHERE ",
            $condition,
            " AND ",
            is_unrevoked!(),
            " ORDER BY id FOR UPDATE OF refresh_families)
             UPDATE refresh_families SET ",
            revocation!(),
            "
             FROM family WHERE refresh_families.id = family.id
             RETURNING refresh_families.id, client_id, user_id"
        )
    };
}

/// A condition on `refresh_families`: the family ends with the session `$session`, because a first-party
/// client received it there.
macro_rules! ends_with_session {
    ($session:literal) => {
        concat!(
            "session_id = ",
            $session,
            " AND (SELECT first_party FROM clients WHERE clients.id = refresh_families.client_id)"
        )
    };
}
pub(crate) use ends_with_session;

/// A condition on `refresh_families`: the family is one of the user `$1` with the client `$4`, and `$5` that
/// were used later have not ended at the time `$2`.
macro_rules! longest_unused {
    () => {
        concat!(
            "id IN (SELECT id FROM refresh_families
                    WHERE user_id = $1 AND client_id = $4 AND idle_expires_at > $2 AND expires_at > $2 AND ",
            is_unrevoked!(),
            " ORDER BY last_used_at DESC, created_at DESC, id LIMIT 1000000 OFFSET $5)"
        )
    };
}

/// A condition on `refresh_families`: the family is one of at most `$5` of the client `$1` that began with
/// the redirect URI `$4`.
macro_rules! of_redirect_uri {
    () => {
        concat!(
            "id IN (SELECT id FROM refresh_families WHERE client_id = $1 AND redirect_uri = $4 AND ",
            is_unrevoked!(),
            " LIMIT $5)"
        )
    };
}

sql! {
    REVOKE_ONE = revoke_on_sqlite!("id = $1");
    REVOKE_BY_USER_AND_CLIENT_SQLITE = revoke_on_sqlite!("user_id = $1 AND client_id = $4");
    REVOKE_BY_USER_AND_CLIENT_POSTGRES = revoke_on_postgres!("user_id = $1 AND client_id = $4");
    REVOKE_BY_SESSION_SQLITE = revoke_on_sqlite!(ends_with_session!("$1"));
    REVOKE_BY_SESSION_POSTGRES = revoke_on_postgres!(ends_with_session!("$1"));
    REVOKE_OF_REDIRECT_URI_SQLITE = revoke_on_sqlite!(of_redirect_uri!());
    REVOKE_OF_REDIRECT_URI_POSTGRES = revoke_on_postgres!(of_redirect_uri!());
    REVOKE_LONGEST_UNUSED_SQLITE = revoke_on_sqlite!(longest_unused!());
    REVOKE_LONGEST_UNUSED_POSTGRES = revoke_on_postgres!(longest_unused!());
    REVOKE_EVERY = concat!("UPDATE refresh_families SET revoked_at = $1, revocation_reason = $2 WHERE ", is_unrevoked!());
    USER_HAS_FAMILY = "SELECT EXISTS (SELECT 1 FROM refresh_families
                                      WHERE user_id = $1 AND user_epoch = $2 AND revoked_at IS NULL)";
    CLIENT_HAS_FAMILY = "SELECT EXISTS (SELECT 1 FROM refresh_families
                                        WHERE client_id = $1 AND client_epoch = $2 AND revoked_at IS NULL)";
}

/// The families to revoke.
#[derive(Clone, Copy, Debug)]
pub enum Selection<'a> {
    /// The family with this id.
    Family(&'a str),
    /// All families of a user with one client.
    OfUserAndClient(i64, &'a str),
    /// The families of a user with one client that have been unused for the longest time.
    LongestUnused {
        /// The user.
        user_id: i64,
        /// The client.
        client_id: &'a str,
        /// The number of families that remain.
        keep: i64,
    },
    /// The families that were created in a session, except those of third-party clients.
    OfSession(i64),
}

#[derive(sqlx::FromRow)]
struct RevokedRow {
    id: String,
    client_id: String,
    user_id: i64,
}

/// Revokes refresh families for this reason, and the access tokens that were issued with them, and records
/// one event for all of them. No effect if the selection contains no family that is not yet revoked.
pub async fn revoke(
    tx: &mut RevokingTx,
    selection: Selection<'_>,
    reason: EndReason,
    context: &RequestContext,
) -> Result<(), Error> {
    match revoke_selected(tx, selection, reason, context.now).await? {
        Some(event) => event.record(tx, context).await,
        None => Ok(()),
    }
}

/// Revokes refresh families as [`revoke`] does. The event is counted if it is not the first of its kind in
/// this minute: for requests that a client can repeat in any number.
pub async fn revoke_repeatedly(
    tx: &mut RevokingTx,
    selection: Selection<'_>,
    reason: EndReason,
    events: &EventRecorder,
    context: &RequestContext,
) -> Result<(), Error> {
    match revoke_selected(tx, selection, reason, context.now).await? {
        Some(event) => events.record_in(tx, event, context).await,
        None => Ok(()),
    }
}

/// Revokes refresh families, and returns the event to record, if there is one.
async fn revoke_selected(
    tx: &mut RevokingTx,
    selection: Selection<'_>,
    reason: EndReason,
    now: Timestamp,
) -> Result<Option<Event>, Error> {
    let (on, reason) = (tx.on(), reason.as_str());
    let rows = match selection {
        Selection::Family(id) => fetch_all!(on, RevokedRow, REVOKE_ONE, id, now, reason)?,
        Selection::OfUserAndClient(id, client_id) => {
            let sql = on.choose(
                REVOKE_BY_USER_AND_CLIENT_SQLITE,
                REVOKE_BY_USER_AND_CLIENT_POSTGRES,
            );
            fetch_all!(on, RevokedRow, sql, id, now, reason, client_id)?
        }
        Selection::LongestUnused {
            user_id,
            client_id,
            keep,
        } => {
            let sql = on.choose(REVOKE_LONGEST_UNUSED_SQLITE, REVOKE_LONGEST_UNUSED_POSTGRES);
            fetch_all!(on, RevokedRow, sql, user_id, now, reason, client_id, keep)?
        }
        Selection::OfSession(id) => {
            let sql = on.choose(REVOKE_BY_SESSION_SQLITE, REVOKE_BY_SESSION_POSTGRES);
            fetch_all!(on, RevokedRow, sql, id, now, reason)?
        }
    };
    let Some(first) = rows.first() else {
        return Ok(None);
    };
    let event = Event::success(EventName::TokenRevoked).user(first.user_id);
    let event = match rows.len() {
        1 => event.client(&first.client_id),
        _ => event,
    };
    let ids: Vec<String> = rows.into_iter().map(|family| family.id).collect();
    let event = event.detail(format!("grants {}", ids.join(" ")));
    revocation::revoke_families(tx, ids, now).await?;
    Ok(Some(event))
}

/// Revokes at most `limit` families of a client that began with this redirect URI, and records one event for
/// all of them. Returns their number.
pub async fn revoke_of_redirect_uri(
    tx: &mut RevokingTx,
    client_id: &str,
    redirect_uri: &str,
    limit: i64,
    context: &RequestContext,
) -> Result<u64, Error> {
    let now = context.now;
    let (on, reason) = (tx.on(), EndReason::RedirectUriRemoved.as_str());
    let sql = on.choose(REVOKE_OF_REDIRECT_URI_SQLITE, REVOKE_OF_REDIRECT_URI_POSTGRES);
    let rows = fetch_all!(on, RevokedRow, sql, client_id, now, reason, redirect_uri, limit)?;
    if rows.is_empty() {
        return Ok(0);
    }
    let (count, ids) = (rows.len(), rows.into_iter().map(|family| family.id).collect());
    revocation::revoke_families(tx, ids, now).await?;
    let event = Event::success(EventName::TokenRevoked).client(client_id);
    let event = event.detail(format!(
        "{count} grants that began with the redirect URI {redirect_uri}"
    ));
    event.record(tx, context).await?;
    Ok(count as u64)
}

/// Revokes all families and access tokens of a user that belong to this epoch, and records an event. No
/// effect if there is no such family. The caller has begun the next epoch, and has ended the user's sessions,
/// so that no exchange of a code adds a family to this epoch.
pub(crate) async fn revoke_all_of_user(
    tx: &mut RevokingTx,
    user_id: i64,
    epoch: i64,
    context: &RequestContext,
) -> Result<(), Error> {
    let (has_family,) = fetch_one!(tx.on(), (bool,), USER_HAS_FAMILY, user_id, epoch)?;
    if !has_family {
        return Ok(());
    }
    revocation::revoke_epoch(tx, Kind::User, user_id, epoch, context.now).await?;
    let event = Event::success(EventName::TokenRevoked).user(user_id);
    event.detail("all grants").record(tx, context).await
}

/// Revokes the families of all users for this reason. The caller discards the keys of their access tokens.
pub(crate) async fn revoke_every(tx: &mut Tx, reason: EndReason, now: Timestamp) -> Result<(), Error> {
    execute!(tx.on(), REVOKE_EVERY, now, reason.as_str()).map(|_| ())
}

/// Revokes all families and access tokens of a client that belong to this epoch, and records an event if
/// there is such a family. The caller has begun the next epoch, and has deleted the client's codes, so that
/// no exchange adds a family to this epoch.
pub async fn revoke_all_of_client(
    tx: &mut RevokingTx,
    client_id: &str,
    epoch: i64,
    context: &RequestContext,
) -> Result<(), Error> {
    revocation::revoke_epoch(tx, Kind::Client, client_id, epoch, context.now).await?;
    let (has_family,) = fetch_one!(tx.on(), (bool,), CLIENT_HAS_FAMILY, client_id, epoch)?;
    if !has_family {
        return Ok(());
    }
    let event = Event::success(EventName::TokenRevoked).client(client_id);
    event.detail("all grants").record(tx, context).await
}
