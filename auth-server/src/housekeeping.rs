//! The periodic deletion of expired rows.

use issuer::codes;
use shared::clock::{self, Timestamp};
use shared::db::{Db, Error};
use shared::grants::families;
use shared::identity::{mailed_tokens, sessions};
use shared::{alerts, events, revocation};
use std::time::Duration;

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
    mailed_tokens::prune(db, now).await?;
    sessions::prune(db, now).await?;
    families::prune(db, now).await?;
    revocation::prune(db, now).await?;
    events::prune(db, event_retention, now).await?;
    alerts::prune(db, event_retention, now).await?;
    Ok(())
}
