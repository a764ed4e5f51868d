//! Revocation of access tokens: rows in the database, the list in Redis, and the [`RevocationMirror`] that
//! holds them in the memory of every replica, so that verifying a token costs no query.

mod kind;
mod list;
mod list_maintenance;
mod mirror;
mod revoked_subjects;
mod revoking_tx;
mod rows;

pub use kind::{Kind, RETENTION, epoch_subject};
pub use mirror::RevocationMirror;
pub use revoking_tx::{
    RevokingTx, has_revoked_many_tokens, prune, revoke_epoch, revoke_families, revoke_key, revoke_token,
};

/// Returns every SQL statement of this crate with its name, for the test that prepares each on both engines.
pub fn statements() -> Vec<(String, String)> {
    storage::named_statements([revoking_tx::STATEMENTS, rows::STATEMENTS]).collect()
}
