//! The periodic deletion of expired rows.

use audit::{alerts, events, revocation};
use foundation::clock::{Timestamp, now};
use identity::grants::refresh_families;
use identity::{mailed_tokens, sessions};
use issuer::clients::assertions;
use issuer::codes;
use std::time::Duration;
use storage::clock_check::ClockCheck;
use storage::db::{Db, Error};

const INTERVAL: Duration = Duration::from_secs(60);

/// Deletes expired rows at each interval, unless the clock differs from that of the database. Never returns.
pub(crate) async fn run(db: Db, clock: ClockCheck, event_retention: Duration) {
    loop {
        if clock.measure().await.is_ok()
            && let Err(error) = delete_expired(&db, event_retention, now()).await
        {
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
