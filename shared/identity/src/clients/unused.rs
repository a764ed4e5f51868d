//! The first use of a client that no administrator registered, and the end of those that were never used.

use super::{Client, ClientType, columns};
use foundation::clock::Timestamp;
use storage::db::{Db, Error, Tx};
use storage::{execute, fetch_all, fetch_one, sql};

sql! {
    RECORD_FIRST_USE = "UPDATE clients SET unused_until = NULL WHERE id = $1";
    // The newest ones are those whose users are about to come back with their first code.
    NEWEST = concat!(
        "SELECT ", columns!(), " FROM clients WHERE unused_until IS NOT NULL ORDER BY unused_until DESC LIMIT 1000");
    COUNT = "SELECT COUNT(*) FROM clients WHERE unused_until IS NOT NULL";
    // The condition is repeated, because a client may be used while the statement waits for its row.
    PRUNE = "DELETE FROM clients
             WHERE id IN (SELECT id FROM clients WHERE unused_until <= $1 AND disabled_at IS NULL
                          ORDER BY unused_until LIMIT $2)
               AND unused_until <= $1";
}

/// Records that a client gets its first code or token, so that it does not expire any more. No statement for
/// a client that was used before.
pub async fn record_first_use(tx: &mut Tx, client: &Client) -> Result<(), Error> {
    if client.unused_until.is_some() {
        execute!(tx.on(), RECORD_FIRST_USE, client.id.as_str())?;
    }
    Ok(())
}

/// Returns the public ones among the newest 1,000 clients that were never used, without disabled ones.
pub async fn newest_apps(db: &Db) -> Result<Vec<Client>, Error> {
    let mut clients = fetch_all!(db.reader(), Client, NEWEST)?;
    clients.retain(|client| {
        matches!(client.kind, ClientType::Spa | ClientType::Native) && client.disabled_at.is_none()
    });
    Ok(clients)
}

/// Returns the number of the clients that were never used, also those whose time has ended.
pub async fn count(db: &Db) -> Result<i64, Error> {
    Ok(fetch_one!(db.reader(), (i64,), COUNT)?.0)
}

/// Deletes the clients that were not used in time, but none that an administrator has disabled. Returns their
/// number.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, Error> {
    db.prune(PRUNE, now).await
}
