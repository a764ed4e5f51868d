//! The identity of an installation, and the keys that belong to it.

use crate::startup_error;
use foundation::sealing::SealingKey;
use foundation::secret;
use foundation::settings::InvalidSetting;
use futures_util::future::LocalBoxFuture;
use issuer::keys::{MasterKeys, installation_secret};
use runtime::startup;
use storage::db::Db;

/// Returns a text that identifies the installation and reveals nothing of it. Fails unless these keys open
/// the secrets in its database.
pub fn identify<'a>(
    db: &'a Db,
    master_keys: &'a MasterKeys,
    account_key: &'a SealingKey,
) -> LocalBoxFuture<'a, Result<String, startup::Error>> {
    // Boxed, so that the compiler makes its only copy in this crate.
    Box::pin(async move {
        let opened = installation_secret::open_with_signing_keys(db, master_keys).await;
        let opened = opened.map_err(startup_error)?;
        check_account_key(db, account_key).await?;
        Ok(secret::encode(&secret::hash(&format!(
            "installation {}",
            opened.to_text()
        ))))
    })
}

/// Fails unless this key opens the secrets of accounts and the queued mails.
pub(crate) async fn check_account_key(db: &Db, account_key: &SealingKey) -> Result<(), startup::Error> {
    if identity::opens_seeds(db, account_key).await? && mail::opens_queue(db, account_key).await? {
        return Ok(());
    }
    let reason = "ACCOUNT_KEY: another key sealed the secrets of accounts in this database";
    Err(InvalidSetting(reason.to_owned()).into())
}
