//! The installation secret: random, in one row, and sealed. The keys of refresh tokens and of flows derive
//! from it and not from the master key, so that they outlive a change of the master key.

use super::master_keys::MasterKeys;
use super::{Error, table};
use foundation::sealing::SealingKey;
use storage::db::{Db, Tx};
use storage::{execute, fetch_optional, sql};

sql! {
    FIND = "SELECT sealed FROM installation_secret";
    FIND_FOR_SHARE_POSTGRES = "SELECT sealed FROM installation_secret FOR SHARE";
    FIND_FOR_UPDATE_POSTGRES = "SELECT sealed FROM installation_secret FOR UPDATE";
    // Of several issuers that start on an empty database, one inserts its secret.
    INSERT = "INSERT INTO installation_secret (id, sealed) VALUES (1, $1) ON CONFLICT DO NOTHING";
    REPLACE = "UPDATE installation_secret SET sealed = $1";
}

/// The name under which the secret is sealed.
const SEAL_NAME: &str = "installation secret";

/// Returns the secret of this database. Generates it, sealed under the master key, if there is none. Fails
/// with [`Error::Sealed`] if neither of the master keys opens it or, before it is generated, a signing key.
pub async fn open(db: &Db, master_keys: &MasterKeys) -> Result<SealingKey, Error> {
    let mut stored: Option<(Vec<u8>,)> = fetch_optional!(db.reader(), (Vec<u8>,), FIND)?;
    if stored.is_none() {
        // If a wrong master key sealed the secret, a start with the right one would fail too.
        for key in table::list_published(db.reader()).await? {
            key.unseal(master_keys)?;
        }
        let new = SealingKey::generate().to_text();
        let sealed = master_keys.current.seal(SEAL_NAME, new.as_bytes());
        execute!(db.writer(), INSERT, sealed)?;
        stored = fetch_optional!(db.reader(), (Vec<u8>,), FIND)?;
    }
    let (sealed,) = stored.ok_or(Error::NoSecret)?;
    let (plain, _) = unseal(&sealed, master_keys)?;
    let text = String::from_utf8(plain).unwrap_or_default();
    text.parse().map_err(|_| sealed_otherwise())
}

/// Returns the secret, as [`open`] does. Fails with [`Error::Sealed`] also if neither of the master keys
/// opens a signing key.
pub async fn open_with_signing_keys(db: &Db, master_keys: &MasterKeys) -> Result<SealingKey, Error> {
    for key in table::list_published(db.reader()).await? {
        key.unseal(master_keys)?;
    }
    open(db, master_keys).await
}

/// Returns the key under which this transaction seals new rows: the key of the secret, so that every issuer
/// that could start can open them. A reseal waits until the transaction ends. Fails with [`Error::Sealed`] if
/// the key is neither of the master keys.
pub(super) async fn lock_sealing_key<'a>(
    tx: &mut Tx,
    master_keys: &'a MasterKeys,
) -> Result<&'a SealingKey, Error> {
    let sealed = find_locked(tx, FIND_FOR_SHARE_POSTGRES).await?;
    unseal(&sealed, master_keys).map(|(_, key)| key)
}

/// Seals the secret under the master key. Returns the number of rows that this changed, 0 or 1. Until the
/// transaction ends, no other can seal a row. Fails with [`Error::Sealed`] if neither of the master keys
/// opens the secret.
pub(super) async fn reseal(tx: &mut Tx, master_keys: &MasterKeys) -> Result<u64, Error> {
    let sealed = find_locked(tx, FIND_FOR_UPDATE_POSTGRES).await?;
    let resealed = master_keys.reseal(SEAL_NAME, &sealed);
    match resealed.map_err(|_| sealed_otherwise())? {
        Some(resealed) => Ok(execute!(tx.on(), REPLACE, resealed)?),
        None => Ok(0),
    }
}

/// Returns the sealed secret, which `on_postgres` locks.
async fn find_locked(tx: &mut Tx, on_postgres: &'static str) -> Result<Vec<u8>, Error> {
    // On SQLite, the transaction excludes all other writers.
    let sql = tx.on().choose(FIND, on_postgres);
    let found: Option<(Vec<u8>,)> = fetch_optional!(tx.on(), (Vec<u8>,), sql)?;
    found.map(|(sealed,)| sealed).ok_or(Error::NoSecret)
}

fn unseal<'a>(sealed: &[u8], master_keys: &'a MasterKeys) -> Result<(Vec<u8>, &'a SealingKey), Error> {
    let opened = master_keys.open(SEAL_NAME, sealed);
    opened.map_err(|_| sealed_otherwise())
}

fn sealed_otherwise() -> Error {
    Error::Sealed(format!("the {SEAL_NAME}"))
}
