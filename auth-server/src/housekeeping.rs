//! The periodic deletion of expired rows.

use audit::{alerts, events, revocation};
use foundation::clock;
use foundation::clock::Timestamp;
use identity::grants::refresh_families;
use identity::{mailed_tokens, sessions};
use issuer::clients::assertions;
use issuer::codes;
use std::time::Duration;
use storage::db::{Db, Error};

const INTERVAL: Duration = Duration::from_secs(60);

/// Deletes expired rows at each interval. Never returns.
pub(crate) async fn run(db: Db, event_retention: Duration) {
    loop {
        if let Err(error) = delete_expired(&db, event_retention, clock::now()).await {
            tracing::warn!(%error, "cannot delete expired rows");
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

async fn delete_expired(db: &Db, event_retention: Duration, now: Timestamp) -> Result<(), Error> {
    codes::prune(db, now).await?;
    assertions::prune(db, now).await?;
    mailed_tokens::prune(db, now).await?;
    sessions::prune(db, now).await?;
    refresh_families::prune(db, now).await?;
    revocation::prune(db, now).await?;
    events::prune(db, event_retention, now).await?;
    alerts::prune(db, event_retention, now).await?;
    Ok(())
}
