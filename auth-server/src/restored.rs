//! A database that was restored from a backup, before a program serves from it.

use crate::settings::IssuerSettings;
use crate::startup_error;
use foundation::context::RequestContext;
use futures_util::future::LocalBoxFuture;
use identity::restored;
use issuer::keys::{KeyStore, MasterKeys, State};
use issuer::{pushed_requests, registrations::initial_tokens};
use resources::posts;
use revocation::RevocationMirror;
use runtime::settings::CommonSettings;
use runtime::startup;
use storage::db::Db;
use storage::notifications::Notifications;

/// Makes the database one that continues after everything that was given out since its backup: ids and entity
/// tags do not repeat, and no session, token or one-time value is valid. Replaces the signing keys, because
/// the access tokens since the backup are not known. Fails if the master keys do not open the keys in it.
pub fn end_all<'a>(
    db: &'a Db,
    common: &'a CommonSettings,
    settings: &'a IssuerSettings,
    master_keys: MasterKeys,
) -> LocalBoxFuture<'a, Result<(), startup::Error>> {
    // Boxed, so that the compiler makes its only copy in this crate.
    Box::pin(async move {
        let context = RequestContext::without_request();
        let mut tx = db.begin().await?;
        tx.skip_used_ids(context.now).await?;
        restored::end_all(&mut tx, context.now).await?;
        mail::delete_every(&mut tx).await?;
        pushed_requests::delete_every(&mut tx).await?;
        initial_tokens::delete_every(&mut tx).await?;
        posts::renew_versions(&mut tx, context.now).await?;
        tx.commit().await?;
        let notifications = Notifications::new(common.redis.client()?);
        let keys = KeyStore {
            db: db.clone(),
            master_keys,
            bits: settings.signing_keys.key_bits,
            max_age: settings.signing_keys.jwks_max_age,
            lifetime: settings.signing_keys.signing_key_lifetime,
            revocations: RevocationMirror::new(db, notifications.clone(), |_| ()),
            notifications,
        };
        // The staged key comes first, so that it does not become the active one.
        let mut published = keys.published().await?;
        published.sort_by_key(|key| key.state != State::Staged);
        for key in published {
            let discarded = keys.discard(&key.kid, None, &context).await;
            discarded.map_err(startup_error)?;
        }
        Ok(())
    })
}
