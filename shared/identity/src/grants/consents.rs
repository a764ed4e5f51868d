//! What a user has consented to, remembered per client and set of scopes: the apps that they are connected to.

use crate::grants::refresh_families;
use crate::grants::refresh_families::Selection;
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

sql! {
    FIND = "SELECT scope FROM consents WHERE user_id = $1 AND client_id = $2";
    // Locks the row, so that of two consents at once none is lost.
    REMEMBER = "INSERT INTO consents (user_id, client_id, scope, granted_at, id) VALUES ($1, $2, '', $3, $4)
                ON CONFLICT (user_id, client_id) DO UPDATE SET granted_at = excluded.granted_at
                RETURNING id, scope";
    SET = "UPDATE consents SET scope = $3 WHERE user_id = $1 AND client_id = $2";
    LOCK = "UPDATE consents SET scope = scope WHERE user_id = $1 AND client_id = $2 AND id = $3";
    // Joins the other tables of this module's parent.
    LIST = "SELECT clients.id, clients.name AS client_name, consents.scope, consents.granted_at,
                   (SELECT MAX(families.last_used_at) FROM families
                    WHERE families.user_id = consents.user_id AND families.client_id = consents.client_id)
                   AS last_used_at
            FROM consents JOIN clients ON clients.id = consents.client_id
            WHERE consents.user_id = $1 ORDER BY clients.id LIMIT 1000";
    DELETE = "DELETE FROM consents WHERE user_id = $1 AND client_id = $2";
    DELETE_OF_USER = "DELETE FROM consents WHERE user_id = $1";
}

/// An app that a user is connected to.
#[derive(Clone, Debug, Serialize, ToSchema, sqlx::FromRow)]
#[schema(as = Grant)]
pub struct ConnectedApp {
    /// The app's `client_id`.
    pub id: String,
    /// The name that it showed at consent.
    pub client_name: String,
    /// What the user has consented to, separated by spaces.
    pub scope: String,
    /// When they last did.
    pub granted_at: Timestamp,
    /// When the app last got tokens; absent where it never did, or long ago.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub last_used_at: Option<Timestamp>,
}

/// What the user has granted to the client so far.
pub async fn granted(db: &Db, user_id: i64, client_id: &str) -> Result<Scope, Error> {
    let row = fetch_optional!(db.reader(), (String,), FIND, user_id, client_id)?;
    Ok(row.and_then(|(scope,)| scope.parse().ok()).unwrap_or_default())
}

/// Adds `scope` to what the user has granted to the client, and gives the consent's id.
pub async fn remember(
    tx: &mut Tx,
    user_id: i64,
    client_id: &str,
    scope: &Scope,
    now: Timestamp,
) -> Result<String, Error> {
    let (id, granted) = fetch_one!(
        tx.on(),
        (String, String),
        REMEMBER,
        user_id,
        client_id,
        now,
        random::id()
    )?;
    let all = granted.parse::<Scope>().unwrap_or_default().union(scope);
    execute!(tx.on(), SET, user_id, client_id, all.to_string())?;
    Ok(id)
}

/// Whether the consent of this id still stands; if so it cannot be taken back before the caller's
/// transaction ends. A family is begun under this, and so never escapes the end of its consent.
pub async fn lock(tx: &mut Tx, user_id: i64, client_id: &str, id: &str) -> Result<bool, Error> {
    Ok(execute!(tx.on(), LOCK, user_id, client_id, id)? == 1)
}

/// The apps that a user is connected to, by id; a thousand at most.
pub async fn list(db: &Db, user_id: i64) -> Result<Vec<ConnectedApp>, Error> {
    fetch_all!(db.reader(), ConnectedApp, LIST, user_id)
}

/// Takes a consent back: every token that came of it is dead, and no code of it is exchanged any more. Gives
/// whether there was one.
pub async fn withdraw(
    db: &Db,
    revocations: &RevocationMirror,
    user_id: i64,
    client_id: &str,
    context: &RequestContext,
) -> Result<bool, Error> {
    let mut tx = db.begin().await?;
    if execute!(tx.on(), DELETE, user_id, client_id)? == 0 {
        return Ok(false);
    }
    let ended = Selection::OfUserAndClient(user_id, client_id);
    let announcement = refresh_families::revoke(&mut tx, ended, context).await?;
    Event::success(EventName::ConsentRevoked)
        .user(user_id)
        .client(client_id)
        .record(&mut tx, context)
        .await?;
    tx.commit().await?;
    revocations.announce(announcement).await;
    Ok(true)
}

/// Takes all consents of a user back. Their families are revoked by the caller.
pub(crate) async fn delete_all(tx: &mut Tx, user_id: i64) -> Result<(), Error> {
    execute!(tx.on(), DELETE_OF_USER, user_id).map(|_| ())
}
