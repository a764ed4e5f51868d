//! Consents: the scope that a user has granted to each client.

use crate::grants::refresh_families::{self, Selection};
use audit::events::{Event, EventName};
use audit::revocation::RevocationMirror;
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::random;
use foundation::scope::Scope;
use serde::Serialize;
use storage::db::{Db, Error, Tx};
use storage::{execute, fetch_all, fetch_one, fetch_optional, sql};
use utoipa::ToSchema;

/// The columns of [`Access`] and their tables. Reads `clients` and `refresh_families` too, which the neighboring
/// modules own.
macro_rules! access {
    () => {
        "clients.name AS client_name, consents.scope, consents.granted_at,
         (SELECT MAX(refresh_families.last_used_at) FROM refresh_families
          WHERE refresh_families.user_id = consents.user_id AND refresh_families.client_id = consents.client_id)
         AS last_used_at
         FROM consents JOIN clients ON clients.id = consents.client_id"
    };
}

/// Returns the text of the statement for a page of the consents with this condition on the user `$1` and the client
/// `$2`, in the order of its index.
macro_rules! page {
    ($condition:literal, $order:literal) => {
        concat!(
            "SELECT consents.id, consents.user_id, consents.client_id, ",
            access!(),
            " WHERE ",
            $condition,
            " ORDER BY ",
            $order,
            " LIMIT $3"
        )
    };
}

sql! {
    FIND = "SELECT scope FROM consents WHERE user_id = $1 AND client_id = $2";
    // Locks the row until SET_SCOPE has stored the union, so that concurrent consents do not overwrite each other's
    // scope.
    UPSERT = "INSERT INTO consents (user_id, client_id, scope, granted_at, id) VALUES ($1, $2, '', $3, $4)
                ON CONFLICT (user_id, client_id) DO UPDATE SET granted_at = excluded.granted_at
                RETURNING id, scope";
    SET_SCOPE = "UPDATE consents SET scope = $3 WHERE user_id = $1 AND client_id = $2";
    LOCK = "UPDATE consents SET scope = scope WHERE user_id = $1 AND client_id = $2 AND id = $3";
    LIST = concat!(
        "SELECT clients.id, ", access!(), " WHERE consents.user_id = $1 ORDER BY clients.id LIMIT 1000");
    PAGE = page!(
        "(consents.user_id, consents.client_id) > ($1, $2)", "consents.user_id, consents.client_id");
    PAGE_OF_USER = page!("consents.user_id = $1 AND consents.client_id > $2", "consents.client_id");
    PAGE_OF_CLIENT_SQLITE = page!(
        "consents.client_id = $2 AND consents.user_id > $1", "consents.client_id, consents.user_id");
    // The client is compared by `<=`, because from `=` PostgreSQL concludes that the order is that of the users, and
    // may read the consents of all clients in that order.
    PAGE_OF_CLIENT_POSTGRES = page!(
        "(consents.client_id, consents.user_id) > ($2, $1) AND consents.client_id <= $2",
        "consents.client_id, consents.user_id");
    PAGE_OF_USER_AND_CLIENT = page!("consents.user_id = $1 AND consents.client_id = $2", "consents.user_id");
    DELETE = "DELETE FROM consents WHERE user_id = $1 AND client_id = $2 RETURNING user_id, client_id";
    DELETE_BY_ID = "DELETE FROM consents WHERE id = $1 RETURNING user_id, client_id";
    DELETE_GRANTED_BEFORE = "DELETE FROM consents WHERE user_id = $1 AND granted_at < $2";
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
    /// The time at which the app last obtained tokens. Absent if it never did, or if the record was deleted since.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub last_used_at: Option<Timestamp>,
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

/// A consent, as administrators see it.
#[derive(Clone, Debug, Serialize, ToSchema, sqlx::FromRow)]
pub struct Consent {
    /// The consent's id.
    pub id: String,
    /// The user who consented.
    pub user_id: i64,
    /// The app's `client_id`.
    pub client_id: String,
    /// The granted access.
    #[serde(flatten)]
    #[sqlx(flatten)]
    pub access: Access,
}

/// The condition on listed consents. A field that is `None` imposes no condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only consents of this user.
    pub user_id: Option<i64>,
    /// Only consents to this client.
    pub client_id: Option<String>,
}

/// The position of a consent in the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The user who consented.
    pub user_id: i64,
    /// The app's `client_id`.
    pub client_id: String,
}

/// Returns the scope that the user has granted to the client, which may be empty.
pub async fn granted_scope(db: &Db, user_id: i64, client_id: &str) -> Result<Scope, Error> {
    let row = fetch_optional!(db.reader(), (String,), FIND, user_id, client_id)?;
    Ok(row.and_then(|(scope,)| scope.parse().ok()).unwrap_or_default())
}

/// Adds `scope` to the scope that the user has granted to the client, and creates the consent if there is none. Returns
/// the consent's id.
pub async fn add_scope(
    tx: &mut Tx,
    user_id: i64,
    client_id: &str,
    scope: &Scope,
    now: Timestamp,
) -> Result<String, Error> {
    let (id, granted) = fetch_one!(
        tx.on(),
        (String, String),
        UPSERT,
        user_id,
        client_id,
        now,
        random::id()
    )?;
    let union = granted.parse::<Scope>().unwrap_or_default().union(*scope);
    execute!(tx.on(), SET_SCOPE, user_id, client_id, union.to_string())?;
    Ok(id)
}

/// Locks the consent's row until the transaction ends, and returns whether the consent still exists. If so, a refresh
/// family that is created in this transaction cannot outlive the consent.
pub async fn lock(tx: &mut Tx, user_id: i64, client_id: &str, id: &str) -> Result<bool, Error> {
    Ok(execute!(tx.on(), LOCK, user_id, client_id, id)? == 1)
}

/// Returns the apps to which a user has granted access, ordered by id, at most 1,000.
pub async fn list(db: &Db, user_id: i64) -> Result<Vec<ConnectedApp>, Error> {
    fetch_all!(db.reader(), ConnectedApp, LIST, user_id)
}

/// Returns up to `limit` consents that match `filter`, ordered by user and client: those after the position `after`,
/// which is that of a consent that matches, or the first ones.
pub async fn page(db: &Db, filter: &Filter, after: Position, limit: i64) -> Result<Vec<Consent>, Error> {
    let on = db.reader();
    let statement = match (filter.user_id, &filter.client_id) {
        (None, None) => PAGE,
        (Some(_), None) => PAGE_OF_USER,
        (None, Some(_)) => on.choose(PAGE_OF_CLIENT_SQLITE, PAGE_OF_CLIENT_POSTGRES),
        (Some(_), Some(_)) => PAGE_OF_USER_AND_CLIENT,
    };
    let user_id = filter.user_id.unwrap_or(after.user_id);
    let client_id = filter.client_id.clone().unwrap_or(after.client_id);
    fetch_all!(on, Consent, statement, user_id, client_id.as_str(), limit)
}

/// Revokes a user's consent to a client, as [`revoke_by_id`] does. Returns whether there was a consent.
pub async fn revoke(
    db: &Db,
    revocations: &RevocationMirror,
    user_id: i64,
    client_id: &str,
    context: &RequestContext,
) -> Result<bool, Error> {
    let mut tx = db.begin().await?;
    let deleted = fetch_optional!(tx.on(), (i64, String), DELETE, user_id, client_id)?;
    end_access(tx, revocations, deleted, context).await
}

/// Revokes the consent with this id and the user's refresh families with the client. Authorization codes of the consent
/// can no longer be exchanged. Returns whether there was a consent.
pub async fn revoke_by_id(
    db: &Db,
    revocations: &RevocationMirror,
    id: &str,
    context: &RequestContext,
) -> Result<bool, Error> {
    let mut tx = db.begin().await?;
    let deleted = fetch_optional!(tx.on(), (i64, String), DELETE_BY_ID, id)?;
    end_access(tx, revocations, deleted, context).await
}

/// Ends the access under the consent of a user to a client that the transaction deleted, and commits. Returns whether
/// there was a consent.
async fn end_access(
    mut tx: Tx,
    revocations: &RevocationMirror,
    deleted: Option<(i64, String)>,
    context: &RequestContext,
) -> Result<bool, Error> {
    let Some((user_id, client_id)) = deleted else {
        return Ok(false);
    };
    let selection = Selection::OfUserAndClient(user_id, &client_id);
    let announcement = refresh_families::revoke(&mut tx, selection, context).await?;
    Event::success(EventName::ConsentRevoked)
        .user(user_id)
        .client(&client_id)
        .record(&mut tx, context)
        .await?;
    tx.commit().await?;
    revocations.announce(announcement).await;
    Ok(true)
}

/// Deletes the consents that a user granted before `time`. The caller revokes the refresh families.
pub(crate) async fn delete_granted_before(tx: &mut Tx, user_id: i64, time: Timestamp) -> Result<(), Error> {
    execute!(tx.on(), DELETE_GRANTED_BEFORE, user_id, time).map(|_| ())
}
