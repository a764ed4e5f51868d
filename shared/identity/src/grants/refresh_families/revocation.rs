//! Revocation of refresh token families, with the access tokens that were issued with them.

use audit::events::{Event, EventName};
use audit::revocation::{self, FamilyOwner, PendingAnnouncement};
use foundation::context::RequestContext;
use storage::db::{Error, Tx};
use storage::{fetch_all, sql};

/// Returns the text of the statement that revokes the families with this condition at the time `$2` on SQLite.
macro_rules! revoke_on_sqlite {
    ($condition:literal) => {
        concat!(
            "UPDATE refresh_families SET revoked_at = $2 WHERE ",
            $condition,
            " AND revoked_at IS NULL
             RETURNING id, client_id, user_id"
        )
    };
}

/// Returns the text of the same statement on PostgreSQL. It locks the rows in the order of their ids, as rotations do, so that
/// a revocation and a rotation do not deadlock.
macro_rules! revoke_on_postgres {
    ($condition:literal) => {
        concat!(
            "WITH family AS (SELECT id FROM refresh_families WHERE ",
            $condition,
            " AND revoked_at IS NULL
                             ORDER BY id FOR UPDATE)
             UPDATE refresh_families SET revoked_at = $2 FROM family WHERE refresh_families.id = family.id
             RETURNING refresh_families.id, client_id, user_id"
        )
    };
}

sql! {
    REVOKE_ONE = "UPDATE refresh_families SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL
                  RETURNING id, client_id, user_id";
    REVOKE_BY_USER_SQLITE = revoke_on_sqlite!("user_id = $1");
    REVOKE_BY_USER_POSTGRES = revoke_on_postgres!("user_id = $1");
    REVOKE_BY_USER_AND_CLIENT_SQLITE = revoke_on_sqlite!("user_id = $1 AND client_id = $3");
    REVOKE_BY_USER_AND_CLIENT_POSTGRES = revoke_on_postgres!("user_id = $1 AND client_id = $3");
    REVOKE_BY_CLIENT_SQLITE = revoke_on_sqlite!("client_id = $1");
    REVOKE_BY_CLIENT_POSTGRES = revoke_on_postgres!("client_id = $1");
    REVOKE_BY_SESSION_SQLITE = revoke_on_sqlite!(
        "session_id = $1 AND client_id IN (SELECT id FROM clients WHERE first_party)");
    REVOKE_BY_SESSION_POSTGRES = revoke_on_postgres!(
        "session_id = $1 AND client_id IN (SELECT id FROM clients WHERE first_party)");
}

/// The families to revoke.
#[derive(Clone, Copy, Debug)]
pub enum Selection<'a> {
    /// The family with this id.
    Family(&'a str),
    /// All families of a user.
    OfUser(i64),
    /// All families of a user with one client.
    OfUserAndClient(i64, &'a str),
    /// All families of a client.
    OfClient(&'a str),
    /// The families that were created in a session, except those of third-party clients.
    OfSession(i64),
}

#[derive(sqlx::FromRow)]
struct RevokedRow {
    id: String,
    client_id: String,
    user_id: i64,
}

/// Revokes refresh families and the access tokens that were issued with them, and records one event for all of them. No
/// effect if the selection contains no family that is not yet revoked. Call
/// [`RevocationMirror::announce`](audit::revocation::RevocationMirror::announce) after the commit.
pub async fn revoke(
    tx: &mut Tx,
    selection: Selection<'_>,
    context: &RequestContext,
) -> Result<PendingAnnouncement, Error> {
    let now = context.now;
    let (by_user, by_user_and_client, by_client, by_session) = tx.on().choose(
        (
            REVOKE_BY_USER_SQLITE,
            REVOKE_BY_USER_AND_CLIENT_SQLITE,
            REVOKE_BY_CLIENT_SQLITE,
            REVOKE_BY_SESSION_SQLITE,
        ),
        (
            REVOKE_BY_USER_POSTGRES,
            REVOKE_BY_USER_AND_CLIENT_POSTGRES,
            REVOKE_BY_CLIENT_POSTGRES,
            REVOKE_BY_SESSION_POSTGRES,
        ),
    );
    let rows = match selection {
        Selection::Family(id) => fetch_all!(tx.on(), RevokedRow, REVOKE_ONE, id, now)?,
        Selection::OfUser(id) => fetch_all!(tx.on(), RevokedRow, by_user, id, now)?,
        Selection::OfUserAndClient(id, client_id) => {
            fetch_all!(tx.on(), RevokedRow, by_user_and_client, id, now, client_id)?
        }
        Selection::OfClient(id) => fetch_all!(tx.on(), RevokedRow, by_client, id, now)?,
        Selection::OfSession(id) => fetch_all!(tx.on(), RevokedRow, by_session, id, now)?,
    };
    let Some(first) = rows.first() else {
        return Ok(PendingAnnouncement::none());
    };
    let event = Event::success(EventName::TokenRevoked);
    let (owner, event) = match selection {
        // The ids of the grants of all users would make an event of any length.
        Selection::OfClient(id) => {
            let detail = format!("all {} grants", rows.len());
            (FamilyOwner::Client(id), event.client(id).detail(detail))
        }
        _ => {
            let ids: Vec<&str> = rows.iter().map(|family| family.id.as_str()).collect();
            let event = event
                .user(first.user_id)
                .detail(format!("grants {}", ids.join(" ")));
            let event = match rows.len() {
                1 => event.client(&first.client_id),
                _ => event,
            };
            (FamilyOwner::User(first.user_id), event)
        }
    };
    let announcement = revocation::revoke_families(tx, owner, now).await?;
    event.record(tx, context).await?;
    Ok(announcement)
}
