//! What a user has consented to, remembered per client and set of scopes.

use crate::clock::Timestamp;
use crate::db::{Db, Error, Tx};
use crate::scope::Scope;
use crate::{execute, fetch_one, fetch_optional, sql};

sql! {
    FIND = "SELECT scope FROM consents WHERE user_id = $1 AND client_id = $2";
    // Locks the row, so that of two consents at once none is lost.
    HOLD = "INSERT INTO consents (user_id, client_id, scope, granted_at) VALUES ($1, $2, '', $3)
            ON CONFLICT (user_id, client_id) DO UPDATE SET granted_at = excluded.granted_at RETURNING scope";
    SET = "UPDATE consents SET scope = $3 WHERE user_id = $1 AND client_id = $2";
}

/// What the user has granted to the client so far.
pub async fn granted(db: &Db, user_id: i64, client_id: &str) -> Result<Scope, Error> {
    let row = fetch_optional!(db.reader(), (String,), FIND, user_id, client_id)?;
    Ok(row.and_then(|(scope,)| scope.parse().ok()).unwrap_or_default())
}

/// Adds `scope` to what the user has granted to the client.
pub async fn remember(
    tx: &mut Tx,
    user_id: i64,
    client_id: &str,
    scope: &Scope,
    now: Timestamp,
) -> Result<(), Error> {
    let (granted,) = fetch_one!(tx.on(), (String,), HOLD, user_id, client_id, now)?;
    let all = granted.parse::<Scope>().unwrap_or_default().union(scope);
    execute!(tx.on(), SET, user_id, client_id, all.to_string()).map(|_| ())
}
