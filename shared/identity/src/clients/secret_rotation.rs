//! The secrets of confidential clients (RFC 6749 §2.3.1). A rotation can leave the former secret valid for a
//! while, in which the servers of the client change to the new one. A row has columns for two secrets, so
//! that there are never more.

use super::Client;
use foundation::clock::Timestamp;
use foundation::random;
use foundation::secret::Secret;
use std::time::Duration;
use storage::db::{Db, Error, Tx};
use storage::{execute, fetch_optional, sql};

sql! {
    // Without an overlap, the expiry $4 is not after the time $3, and the former secret is forgotten.
    ROTATE = concat!(
        "UPDATE clients SET secret_created_at = $3, secret_hash = $2, secret_last_used_at = NULL,
                previous_secret_hash = CASE WHEN CAST($4 AS BIGINT) > $3 THEN secret_hash END,
                previous_secret_created_at = CASE WHEN CAST($4 AS BIGINT) > $3 THEN secret_created_at END,
                previous_secret_last_used_at = CASE WHEN CAST($4 AS BIGINT) > $3 THEN secret_last_used_at END,
                previous_secret_expires_at = CASE WHEN CAST($4 AS BIGINT) > $3 THEN $4 END
         WHERE id = $1 AND secret_hash IS NOT NULL
         RETURNING ", super::columns!());
    RECORD_USE = "UPDATE clients
                  SET secret_last_used_at = CASE WHEN secret_hash = $2 THEN $3 ELSE secret_last_used_at END,
                      previous_secret_last_used_at =
                          CASE WHEN previous_secret_hash = $2 THEN $3 ELSE previous_secret_last_used_at END
                  WHERE id = $1";
}

/// Replaces the secret of a client by a new one. The former secret stays valid for the time `overlap` from
/// `now` on; the one before that ends. Returns the client and the new secret, of which only a hash is stored.
/// Returns `None`, without effect, if there is no confidential client with this id.
pub async fn rotate(
    tx: &mut Tx,
    id: &str,
    overlap: Duration,
    now: Timestamp,
) -> Result<Option<(Client, Secret)>, Error> {
    let secret = random::token();
    let end = now.after(overlap);
    let client = fetch_optional!(tx.on(), Client, ROTATE, id, secret.hash(), now, end)?;
    Ok(client.map(|client| (client, secret)))
}

/// Stores the time of the last use of the secret with this hash.
pub(super) async fn record_use(db: &Db, id: &str, hash: &[u8], now: Timestamp) -> Result<(), Error> {
    execute!(db.writer(), RECORD_USE, id.to_owned(), hash.to_vec(), now).map(|_| ())
}
