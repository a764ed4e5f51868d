//! The periodic deletion of expired rows, and the replacement of deleted accounts in many events.

use access_tokens::verifiers;
use audit::{alerts, events, revocation};
use foundation::clock::{Timestamp, now};
use identity::grants::clients::registration;
use identity::grants::refresh_families;
use identity::{mailed_tokens, sessions};
use issuer::clients::{assertions, documents};
use issuer::registrations::initial_tokens;
use issuer::{codes, device_requests, flows, long_requests, pushed_requests};
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
    flows::prune(db, now).await?;
    assertions::prune(db, now).await?;
    long_requests::prune(db, now).await?;
    pushed_requests::prune(db, now).await?;
    mailed_tokens::prune(db, now).await?;
    sessions::prune(db, now).await?;
    sessions::prune_ended(db, now).await?;
    refresh_families::prune(db, now).await?;
    revocation::prune(db, now).await?;
    events::pseudonyms::replace_remaining(db).await?;
    events::prune(db, event_retention, now).await?;
    alerts::prune(db, event_retention, now).await?;
    device_requests::prune(db, now).await?;
    registration::prune(db, now).await?;
    initial_tokens::prune(db, now).await?;
    documents::prune(db, now).await?;
    verifiers::prune(db, now).await?;
    Ok(())
}
