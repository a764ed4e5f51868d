//! The delivery loop of the tables whose rows wait to be sent: mails, alerts and logout tokens.
//!
//! Any number of processes may run the loop on the same table. A process claims a row with one conditional `UPDATE`
//! that moves the row's `due_at` to the end of a lease. If the process dies during the attempt, the row is due again
//! when the lease ends.

use foundation::clock::{self, Timestamp};
use std::sync::Arc;
use std::time::Duration;
use storage::db::Error;
use tokio::sync::Semaphore;

/// The age at which a row that could not be delivered is given up.
pub const GIVE_UP_AFTER: Duration = Duration::from_secs(3 * 24 * 3600);
/// The delay after the first failed attempt. It doubles with each further one, up to [`MAX_BACKOFF`].
const FIRST_BACKOFF: Duration = Duration::from_secs(1);
/// The longest delay between two attempts.
const MAX_BACKOFF: Duration = Duration::from_secs(3600);

/// A row whose next attempt is due.
#[derive(Clone, Copy, Debug, sqlx::FromRow)]
pub struct Due {
    /// The row's primary key.
    pub id: i64,
    /// The time of the next attempt. A claim changes this time, so that only one of several processes that read the row
    /// can claim it.
    pub due_at: Timestamp,
}

/// A table of rows to be sent, and the means to send them.
pub trait Outbox: Clone + Send + Sync + 'static {
    /// The name of one row in log messages.
    const ITEM: &'static str;
    /// The time between two queries for due rows.
    const POLL_INTERVAL: Duration;
    /// The number of rows that one process sends at the same time.
    const CONCURRENCY: usize;
    /// The time after which an attempt is canceled and has failed.
    const ATTEMPT_TIMEOUT: Duration;
    /// The time for which a claimed row is reserved. Longer than [`ATTEMPT_TIMEOUT`](Self::ATTEMPT_TIMEOUT), so that
    /// the result is recorded before another process can claim the row.
    const LEASE: Duration;

    /// A claimed row.
    type Claimed: Send + Sync;

    /// Returns rows that are due, the most overdue first.
    fn due(&self, now: Timestamp) -> impl Future<Output = Result<Vec<Due>, Error>> + Send;

    /// Claims a row until `lease_end`. Returns `None` if its `due_at` changed: another process claimed it.
    fn claim(
        &self,
        due: Due,
        lease_end: Timestamp,
    ) -> impl Future<Output = Result<Option<Self::Claimed>, Error>> + Send;

    /// Sends a claimed row. The error is logged, so it must not contain personal data or secrets.
    fn send(&self, claimed: &Self::Claimed) -> impl Future<Output = Result<(), String>> + Send;

    /// Records that a claimed row was sent.
    fn record_success(
        &self,
        claimed: &Self::Claimed,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Logs that an attempt failed, and postpones the row or gives it up.
    fn record_failure(
        &self,
        claimed: &Self::Claimed,
        error: &str,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), Error>> + Send;
}

/// Sends due rows until the task is aborted.
pub async fn run<O: Outbox>(outbox: O) {
    let slots = Arc::new(Semaphore::new(O::CONCURRENCY));
    loop {
        if let Err(error) = start_due(&outbox, &slots).await {
            tracing::warn!(%error, "cannot read the due {}s", O::ITEM);
        }
        tokio::time::sleep(O::POLL_INTERVAL).await;
    }
}

/// Starts an attempt for each due row, waiting for a free slot before each.
async fn start_due<O: Outbox>(outbox: &O, slots: &Arc<Semaphore>) -> Result<(), Error> {
    for due in outbox.due(clock::now()).await? {
        let slot = Arc::clone(slots).acquire_owned().await;
        let outbox = outbox.clone();
        tokio::spawn(async move {
            if let Err(error) = attempt(&outbox, due).await {
                tracing::warn!(%error, "cannot record an attempt to deliver {} {}", O::ITEM, due.id);
            }
            drop(slot);
        });
    }
    Ok(())
}

/// Claims a row, sends it and records the result. Does nothing if another process claimed the row.
async fn attempt<O: Outbox>(outbox: &O, due: Due) -> Result<(), Error> {
    let lease_end = clock::now().after(O::LEASE);
    let Some(claimed) = outbox.claim(due, lease_end).await? else {
        return Ok(());
    };
    let sent = tokio::time::timeout(O::ATTEMPT_TIMEOUT, outbox.send(&claimed)).await;
    match sent.unwrap_or_else(|_| Err("the attempt timed out".to_owned())) {
        Ok(()) => outbox.record_success(&claimed, clock::now()).await,
        Err(error) => outbox.record_failure(&claimed, &error, clock::now()).await,
    }
}

/// Returns the delay before the next attempt, after `attempts` failed ones.
pub fn backoff(attempts: i64) -> Duration {
    let doublings = u32::try_from(attempts.clamp(1, 20) - 1).unwrap_or_default();
    (FIRST_BACKOFF * 2_u32.pow(doublings)).min(MAX_BACKOFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_backoff_doubles_from_a_second_to_an_hour() {
        let seconds = |attempts| backoff(attempts).as_secs();
        assert_eq!([1, 2, 3, 12].map(seconds), [1, 2, 4, 2048]);
        assert_eq!([13, 20, 1_000_000, i64::MAX].map(seconds), [3600; 4]);
    }
}
