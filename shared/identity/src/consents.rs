//! Consents: the scope that a user has granted to each client.

pub mod list;

use crate::clients::{Client, unused};
use crate::end_reason::EndReason;
use crate::refresh_families::{self, Selection};
use audit::events::{Event, EventName, EventRecorder};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::random;
use foundation::scope::Scope;
use revocation::RevokingTx;
use serde::Serialize;
use storage::db::{Db, Error, Tx};
use storage::{execute, fetch_all, fetch_one, fetch_optional, sql};
use utoipa::ToSchema;

/// The largest number of apps that [`list()`] returns: the limit of LIST.
pub const MAX_LISTED: usize = 1_000;

/// The columns of [`Access`] and their tables. Reads `clients` and `refresh_families` too, which the
/// neighboring modules own.
macro_rules! access {
    () => {
        "clients.name AS client_name, consents.scope, consents.granted_at,
         (SELECT MAX(refresh_families.last_used_at) FROM refresh_families
          WHERE refresh_families.user_id = consents.user_id AND refresh_families.client_id = consents.client_id)
         AS last_used_at
         FROM consents JOIN clients ON clients.id = consents.client_id"
    };
}

/// The text of the statement that grants access. It locks the row until SET_SCOPE has stored the union, so
/// that concurrent consents do not overwrite each other's scope. `$5` is the time of the client's last
/// change, before which a consent does not count. A client that has changed since gives no row. `$lock` is a
/// locking clause for the row of the client, or empty.
macro_rules! upsert {
    ($lock:literal) => {
        concat!(
            "INSERT INTO consents (user_id, client_id, scope, granted_at, id)
             SELECT $1, clients.id, '', $3, $4 FROM clients
             WHERE clients.id = $2 AND COALESCE(clients.identity_changed_at, 0) = COALESCE($5, 0)",
            $lock,
            " ON CONFLICT (user_id, client_id) DO UPDATE
              SET granted_at = excluded.granted_at,
                  scope = CASE WHEN consents.granted_at <= $5 THEN '' ELSE consents.scope END
              RETURNING id, scope"
        )
    };
}
use access;

sql! {
    FIND = "SELECT scope, granted_at FROM consents WHERE user_id = $1 AND client_id = $2";
    UPSERT_SQLITE = upsert!("");
    // Waits for a transaction that changes or deletes the client.
    UPSERT_POSTGRES = upsert!(" FOR SHARE");
    SET_SCOPE = "UPDATE consents SET scope = $3 WHERE user_id = $1 AND client_id = $2";
    LOCK_SQLITE, LOCK_POSTGRES =
        "SELECT user_id FROM consents WHERE user_id = $1 AND client_id = $2 AND id = $3";
    LIST = concat!(
        "SELECT clients.id, ", access!(), " WHERE consents.user_id = $1 ORDER BY clients.id LIMIT 1000");
    COUNT = "SELECT COUNT(*) FROM (SELECT 1 FROM consents WHERE user_id = $1 LIMIT $2) AS granted";
    DELETE = "DELETE FROM consents WHERE user_id = $1 AND client_id = $2 RETURNING user_id, client_id";
    DELETE_BY_ID = "DELETE FROM consents WHERE id = $1 RETURNING user_id, client_id";
    DELETE_ALL = "DELETE FROM consents WHERE user_id = $1";
}

/// The access that a user has granted to an app.
#[derive(Clone, Debug, Serialize, ToSchema, sqlx::FromRow)]
#[schema(as = GrantedAccess)]
pub struct Access {
    /// The app's name.
    pub client_name: String,
    /// The granted scope names, separated by spaces.
    pub scope: String,
    /// The time of the last consent.
    pub granted_at: Timestamp,
    /// The time at which the app last obtained tokens. Absent if it never did, or if the record was deleted
    /// since.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub last_used_at: Option<Timestamp>,
}

/// The result of [`add_scope`].
#[derive(Debug)]
pub struct AddedScope {
    /// The consent's id.
    pub consent_id: String,
    /// Whether the client lacked a part of the scope before.
    pub extends_access: bool,
}

/// An app to which a user has granted access, as the API represents it to this user.
#[derive(Clone, Debug, Serialize, ToSchema, sqlx::FromRow)]
#[schema(as = Grant)]
pub struct ConnectedApp {
    /// The app's `client_id`.
    pub id: String,
    /// The granted access.
    #[serde(flatten)]
    #[sqlx(flatten)]
    pub access: Access,
}

/// Returns the scope that the user has granted to the client as it is now, which may be empty: a consent to a
/// client that has changed its name, redirect URIs or keys since does not count.
pub async fn granted_scope(db: &Db, user_id: i64, client: &Client) -> Result<Scope, Error> {
    let (on, id) = (db.reader(), client.id.as_str());
    let row = fetch_optional!(on, (String, Timestamp), FIND, user_id, id)?;
    let is_current = |granted_at| {
        client
            .identity_changed_at
            .is_none_or(|change| granted_at > change)
    };
    let current = row.filter(|(_, granted_at)| is_current(*granted_at));
    Ok(current
        .and_then(|(scope, _)| scope.parse().ok())
        .unwrap_or_default())
}

/// Adds `scope` to the [granted scope](granted_scope) of the user for the client, and creates the consent if
/// there is none. The client then counts as used. Returns `None` if the client was deleted or has changed its
/// name, redirect URIs or keys since it was read: the transaction must then be rolled back.
pub async fn add_scope(
    tx: &mut Tx,
    user_id: i64,
    client: &Client,
    scope: &Scope,
    now: Timestamp,
) -> Result<Option<AddedScope>, Error> {
    unused::record_first_use(tx, client).await?;
    let client_id = client.id.as_str();
    let (id, change) = (random::id(), client.identity_changed_at);
    let on = tx.on();
    let sql = on.choose(UPSERT_SQLITE, UPSERT_POSTGRES);
    let consent = fetch_optional!(on, (String, String), sql, user_id, client_id, now, id, change)?;
    let Some((consent_id, granted)) = consent else {
        return Ok(None);
    };
    let granted: Scope = granted.parse().unwrap_or_default();
    let union = granted.union(*scope).to_string();
    execute!(tx.on(), SET_SCOPE, user_id, client_id, union)?;
    Ok(Some(AddedScope {
        consent_id,
        extends_access: !granted.covers(*scope),
    }))
}

/// Locks the consent's row until the transaction ends, and returns whether the consent still exists. If so, a
/// refresh family that is created in this transaction cannot outlive the consent.
pub async fn lock(tx: &mut Tx, user_id: i64, client_id: &str, id: &str) -> Result<bool, Error> {
    let on = tx.on();
    let lock = on.choose(LOCK_SQLITE, LOCK_POSTGRES);
    Ok(fetch_optional!(on, (i64,), lock, user_id, client_id, id)?.is_some())
}

/// Returns the apps to which a user has granted access, ordered by id, at most [`MAX_LISTED`].
pub async fn list(db: &Db, user_id: i64) -> Result<Vec<ConnectedApp>, Error> {
    fetch_all!(db.reader(), ConnectedApp, LIST, user_id)
}

/// Returns the number of apps to which a user has granted access, or `most` if there are more.
pub async fn count(db: &Db, user_id: i64, most: u64) -> Result<u64, Error> {
    let (count,) = fetch_one!(db.reader(), (i64,), COUNT, user_id, most.cast_signed())?;
    Ok(count.cast_unsigned())
}

/// Revokes a user's consent to a client, with the families that it began, in a transaction that this function
/// commits. Returns whether there was a consent.
pub async fn revoke(
    mut tx: RevokingTx,
    events: &EventRecorder,
    user_id: i64,
    client_id: &str,
    context: &RequestContext,
) -> Result<bool, Error> {
    let deleted = fetch_optional!(tx.on(), (i64, String), DELETE, user_id, client_id)?;
    end_access(tx, events, deleted, context).await
}

/// Revokes the consent with this id and the user's refresh families with the client, in a transaction that
/// this function commits. Authorization codes of the consent can no longer be exchanged. Returns whether
/// there was a consent.
pub(crate) async fn revoke_by_id(
    mut tx: RevokingTx,
    events: &EventRecorder,
    id: &str,
    context: &RequestContext,
) -> Result<bool, Error> {
    let deleted = fetch_optional!(tx.on(), (i64, String), DELETE_BY_ID, id)?;
    end_access(tx, events, deleted, context).await
}

/// Ends the access under the consent of a user to a client that the transaction deleted, and commits. Returns
/// whether there was a consent.
async fn end_access(
    mut tx: RevokingTx,
    events: &EventRecorder,
    deleted: Option<(i64, String)>,
    context: &RequestContext,
) -> Result<bool, Error> {
    let Some((user_id, client_id)) = deleted else {
        return Ok(false);
    };
    let selection = Selection::OfUserAndClient(user_id, &client_id);
    refresh_families::revoke(&mut tx, selection, EndReason::ConsentRevoked, context).await?;
    let event = Event::success(EventName::ConsentRevoked).user(user_id);
    let event = event.client(&client_id);
    events.record_in(&mut tx, event, context).await?;
    tx.commit().await?;
    Ok(true)
}

/// Deletes all consents of a user. The caller revokes the refresh families.
pub(crate) async fn delete_all(tx: &mut Tx, user_id: i64) -> Result<(), Error> {
    execute!(tx.on(), DELETE_ALL, user_id).map(|_| ())
}
