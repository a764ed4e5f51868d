//! The stored receipts in the database.

use super::error::Error;
use super::key::Claim;
use crate::storage_use::{self, Allowance, Refusal, size_of_row, stored_bytes};
use foundation::clock::Timestamp;
use identity::authority_holds;
use serde::Serialize;
use serde::de::DeserializeOwned;
use storage::db::{self, Db, Executor, Tx};
use storage::{delete_expired, execute, fetch_optional, sql};

/// The text of the statement that stores a receipt if the authority of the claim holds and its user stores at
/// most `$9` bytes. An expired row that is not deleted yet is overwritten. `$lock` is that of
/// [`authority_holds!`], `$count_lock` that of [`stored_bytes!`].
macro_rules! save {
    ($lock:literal, $count_lock:literal) => {
        concat!(
            "INSERT INTO idempotency_keys (id, user_id, fingerprint, receipt, expires_at)
             SELECT $1, $2, $3, $4, $5 WHERE ",
            authority_holds!("$2", "$7", "$8", $lock),
            " AND ",
            stored_bytes!("$2", $count_lock),
            " <= $9 ON CONFLICT (id) DO UPDATE
             SET fingerprint = excluded.fingerprint, receipt = excluded.receipt, expires_at = excluded.expires_at
             WHERE idempotency_keys.expires_at <= $6"
        )
    };
}

sql! {
    FIND = "SELECT fingerprint, receipt FROM idempotency_keys
            WHERE id = $1 AND expires_at > $2";
    SAVE_SQLITE = save!("", "");
    SAVE_POSTGRES = save!(" FOR SHARE", " FOR NO KEY UPDATE");
    DELETE_OF_USER = "DELETE FROM idempotency_keys
                      WHERE id IN (SELECT id FROM idempotency_keys WHERE user_id = $1 LIMIT $2)";
    PRUNE = delete_expired!("idempotency_keys");
}

/// Returns the unexpired receipt that is stored for a claim. Fails with [`Error::KeyReused`] if it is that of
/// a call with another body, and with [`Error::Receipt`] if it is of another type.
pub(super) async fn find<R: DeserializeOwned>(
    on: Executor<'_>,
    claim: &Claim,
    now: Timestamp,
) -> Result<Option<R>, Error> {
    match fetch_optional!(on, (Vec<u8>, String), FIND, claim.id(), now)? {
        None => Ok(None),
        Some((fingerprint, receipt)) if fingerprint == claim.fingerprint => {
            Ok(Some(serde_json::from_str(&receipt)?))
        }
        Some(_) => Err(Error::KeyReused),
    }
}

/// Stores the receipt of the write of this transaction. The id is unique, so if several transactions with one
/// key race, only one commits; the others fail with [`Error::InProgress`]. Fails with [`Error::Refused`] if
/// the authority of the claim has ended or its user would store more than the quota.
pub(super) async fn save(
    tx: &mut Tx,
    claim: &Claim,
    receipt: &impl Serialize,
    now: Timestamp,
    expires_at: Timestamp,
) -> Result<(), Error> {
    let Allowance { authority, quota } = claim.allowance;
    let user_id = authority.user_id;
    // The receipt is so small that it counts as part of the row.
    let most = quota.before(size_of_row(&[]));
    let on = tx.on();
    let save = on.choose(SAVE_SQLITE, SAVE_POSTGRES);
    let saved = execute!(
        on,
        save,
        claim.id(),
        user_id,
        claim.fingerprint.as_slice(),
        serde_json::to_string(receipt)?,
        expires_at,
        now,
        authority.epoch,
        authority.session_id,
        most,
    )?;
    if saved == 1 {
        return Ok(());
    }
    if !authority.holds(tx.on(), now).await? {
        return Err(Refusal::SignedOut.into());
    }
    match storage_use::fits(tx.on(), user_id, most).await? {
        true => Err(Error::InProgress),
        false => Err(Refusal::QuotaExceeded.into()),
    }
}

/// Deletes the expired receipts, and returns their number.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, db::Error> {
    db.prune(PRUNE, now).await
}

/// Deletes at most `limit` of the receipts that are stored for a user. Returns their number.
pub async fn delete_of_user(tx: &mut Tx, user_id: i64, limit: i64) -> Result<u64, db::Error> {
    execute!(tx.on(), DELETE_OF_USER, user_id, limit)
}
