//! A change of the master key: seals every row of the issuer under the new one.

use super::master_keys::MasterKeys;
use super::{Error, installation_secret, table};
use audit::events::{Event, EventName};
use foundation::context::RequestContext;
use serde::Serialize;
use storage::db::Db;

/// The result of a reseal.
#[derive(Debug, Serialize)]
pub struct Resealed {
    /// The number of rows that the previous master key sealed, and that the master key seals now.
    pub resealed: u64,
}

/// Seals the installation secret and the private keys under the master key, in one transaction. A repetition
/// changes nothing. Fails with [`Error::Sealed`], without a change, if neither of the master keys opens a
/// row.
pub async fn reseal(db: &Db, master_keys: &MasterKeys, context: &RequestContext) -> Result<Resealed, Error> {
    let mut tx = db.begin().await?;
    // First the secret, whose lock keeps other transactions from staging a key under the previous master key.
    let mut resealed = installation_secret::reseal(&mut tx, master_keys).await?;
    for key in table::list_published(tx.on()).await? {
        if let Some(sealed) = key.reseal(master_keys)? {
            resealed += table::replace_private_key(&mut tx, &key.kid, &sealed).await?;
        }
    }
    if resealed > 0 {
        let event = Event::success(EventName::KeysResealed).detail(format!("{resealed} rows"));
        event.record(&mut tx, context).await?;
    }
    tx.commit().await?;
    Ok(Resealed { resealed })
}
