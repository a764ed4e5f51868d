//! The end of clients that describe themselves by a document and that no user allows any more.

use foundation::clock::Timestamp;
use storage::db::{Db, Error};
use storage::sql;

sql! {
    // Reads the table `client_documents` too, which another module owns. An administrator's decision against
    // a client is kept.
    PRUNE = "
        DELETE FROM clients WHERE id IN (
            SELECT document.client_id FROM client_documents AS document JOIN clients ON clients.id = document.client_id
            WHERE document.fetched_at <= $1 AND clients.disabled_at IS NULL
              AND NOT EXISTS (SELECT 1 FROM consents WHERE consents.client_id = document.client_id)
            ORDER BY document.fetched_at LIMIT $2)";
}

/// Deletes the clients with documents that were last fetched at `time` or before and that no user has
/// consented to, but none that an administrator has disabled. Returns their number.
pub async fn prune(db: &Db, time: Timestamp) -> Result<u64, Error> {
    db.prune(PRUNE, time).await
}
