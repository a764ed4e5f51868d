//! The delivery loop of the tables whose rows wait to be sent: mails, alerts and logout tokens.
//!
//! Any number of processes may run the loop on the same table. A process claims a row with one conditional
//! `UPDATE` that moves the row's `due_at` to the end of a lease. If the process dies during the attempt, the
//! row is due again when the lease ends.

use crate::db::Error;
use foundation::clock::{self, Timestamp};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// The age at which a row that could not be delivered is given up.
pub const GIVE_UP_AFTER: Duration = Duration::from_secs(3 * 24 * 3600);
/// The delay after the first failed attempt. It doubles with each further one, up to [`MAX_BACKOFF`].
const FIRST_BACKOFF: Duration = Duration::from_secs(1);
/// The longest delay between two attempts.
const MAX_BACKOFF: Duration = Duration::from_secs(3600);

/// A row whose next attempt is due.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct Due {
    /// The row's primary key.
    pub id: i64,
    /// The time of the next attempt. A claim changes this time, so that only one of several processes that
    /// read the row can claim it.
    pub due_at: Timestamp,
    /// The server that the row is sent to, if the table has rows for different ones.
    #[sqlx(default)]
    pub recipient: String,
}

/// The reason why an attempt failed.
#[derive(Debug)]
pub struct Failure {
    /// The reason in words. It is logged, so it must not contain personal data or secrets.
    pub reason: String,
    /// Whether the recipient did not answer, so that other rows to it would fail too.
    pub is_unanswered: bool,
}

/// A table of rows to be sent, and the means to send them.
pub trait Outbox: Clone + Send + Sync + 'static {
    /// The name of one row in log messages.
    const ITEM: &'static str;
    /// The time between two queries for due rows.
    const POLL_INTERVAL: Duration;
    /// The number of rows that one process sends at the same time.
    const CONCURRENCY: usize;
    /// The number of rows that one process sends at the same time to one recipient. If it is smaller, a
    /// recipient that does not answer leaves room for the others.
    const CONCURRENCY_PER_RECIPIENT: usize = Self::CONCURRENCY;
    /// The time after which an attempt is canceled and has failed.
    const ATTEMPT_TIMEOUT: Duration;
    /// The time for which a claimed row is reserved. Longer than [`ATTEMPT_TIMEOUT`](Self::ATTEMPT_TIMEOUT),
    /// so that the result is recorded before another process can claim the row.
    const LEASE: Duration;

    /// A claimed row.
    type Claimed: Send + Sync;

    /// Returns rows that are due, the most overdue first, or the most overdue one of each recipient first.
    fn due(&self, now: Timestamp) -> impl Future<Output = Result<Vec<Due>, Error>> + Send;

    /// Claims a row until `lease_end`. Returns `None` if its `due_at` changed: another process claimed it.
    fn claim(
        &self,
        due: Due,
        lease_end: Timestamp,
    ) -> impl Future<Output = Result<Option<Self::Claimed>, Error>> + Send;

    /// Sends a claimed row.
    fn send(&self, claimed: &Self::Claimed) -> impl Future<Output = Result<(), Failure>> + Send;

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
        failure: &Failure,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), Error>> + Send;
}

impl From<String> for Failure {
    /// Creates a failure that says nothing about other rows.
    fn from(reason: String) -> Self {
        Self {
            reason,
            is_unanswered: false,
        }
    }
}

/// The rows of one recipient.
struct Lane {
    /// A permit for each row that may be sent at the same time.
    turns: Arc<Semaphore>,
    /// Starts the attempts of the rows that were last found to be due. Dropped, it starts no further attempt.
    starting: JoinSet<()>,
}

/// Sends due rows until the task is aborted or dropped. Attempts that have begun then still end and record
/// their results.
pub async fn run<O: Outbox>(outbox: O) {
    let slots = Arc::new(Semaphore::new(O::CONCURRENCY));
    let mut lanes = HashMap::new();
    loop {
        if let Err(error) = start_due(&outbox, &slots, &mut lanes).await {
            tracing::warn!(%error, "cannot read the due {}s", O::ITEM);
        }
        tokio::time::sleep(O::POLL_INTERVAL).await;
    }
}

/// Starts the attempts of the due rows. Those of a recipient whose earlier rows still wait for their turn
/// stay due.
async fn start_due<O: Outbox>(
    outbox: &O,
    slots: &Arc<Semaphore>,
    lanes: &mut HashMap<String, Lane>,
) -> Result<(), Error> {
    let mut by_recipient = HashMap::<String, Vec<Due>>::new();
    for due in outbox.due(clock::now()).await? {
        by_recipient.entry(due.recipient.clone()).or_default().push(due);
    }
    for (recipient, rows) in by_recipient {
        let lane = lanes.entry(recipient).or_insert_with(|| Lane {
            turns: Arc::new(Semaphore::new(O::CONCURRENCY_PER_RECIPIENT)),
            starting: JoinSet::new(),
        });
        while lane.starting.try_join_next().is_some() {}
        if lane.starting.is_empty() {
            let start = start_all(outbox.clone(), Arc::clone(slots), Arc::clone(&lane.turns), rows);
            lane.starting.spawn(start);
        }
    }
    Ok(())
}

/// Starts an attempt for each row, waiting for a turn and a free slot before each.
async fn start_all<O: Outbox>(outbox: O, slots: Arc<Semaphore>, turns: Arc<Semaphore>, rows: Vec<Due>) {
    for due in rows {
        let turn = Arc::clone(&turns).acquire_owned().await;
        let slot = Arc::clone(&slots).acquire_owned().await;
        let outbox = outbox.clone();
        tokio::spawn(async move {
            let id = due.id;
            let name = format!("deliver {}", O::ITEM);
            if let Err(error) = traces::step(name, attempt(&outbox, due)).await {
                tracing::warn!(%error, "cannot record an attempt to deliver {} {id}", O::ITEM);
            }
            drop((turn, slot));
        });
    }
}

/// Claims a row, sends it and records the result. Does nothing if another process claimed the row.
async fn attempt<O: Outbox>(outbox: &O, due: Due) -> Result<(), Error> {
    let lease_end = clock::now().after(O::LEASE);
    let Some(claimed) = outbox.claim(due, lease_end).await? else {
        return Ok(());
    };
    let sent = tokio::time::timeout(O::ATTEMPT_TIMEOUT, outbox.send(&claimed)).await;
    let timed_out = |_| {
        Err(Failure {
            reason: "the attempt timed out".to_owned(),
            is_unanswered: true,
        })
    };
    match sent.unwrap_or_else(timed_out) {
        Ok(()) => outbox.record_success(&claimed, clock::now()).await,
        Err(failure) => outbox.record_failure(&claimed, &failure, clock::now()).await,
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
