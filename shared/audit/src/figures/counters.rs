//! The counters of a process, which it writes to the database once a minute.

use super::counts::COLUMNS;
use super::live_tokens::Unwritten;
use super::{Counts, Figure, Timing, add, begin_of_minute};
use foundation::clock::{self, Timestamp};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;
use storage::db::Db;

/// The time between two looks at the clock.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The counters of this process. They are one static, as those of libraries for metrics, because everything
/// in the process counts in them.
pub static COUNTERS: Counters = Counters::new();

/// The counts since they were last written. A process that is killed loses those of its last minute.
#[derive(Debug)]
pub struct Counters {
    counts: [AtomicU64; COLUMNS.len()],
    /// The minute to which the counts belong, as the microseconds of its begin.
    minute: AtomicI64,
    tokens: Unwritten,
}

impl Counters {
    /// Returns counters that are zero.
    pub(super) const fn new() -> Self {
        Self {
            counts: [const { AtomicU64::new(0) }; COLUMNS.len()],
            minute: AtomicI64::new(0),
            tokens: Unwritten::new(),
        }
    }

    /// Adds `n` to a figure.
    pub fn count(&self, figure: Figure, n: u64) {
        self.counts[figure.column()].fetch_add(n, Ordering::Relaxed);
    }

    /// Counts a duration.
    pub fn time(&self, timing: Timing, duration: Duration) {
        let millis = u64::try_from(duration.as_micros().div_ceil(1_000)).unwrap_or(u64::MAX);
        self.counts[timing.column(millis)].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an access token that the key with this `kid` signed.
    pub fn issue(&self, kid: &str, expires_at: Timestamp) {
        self.tokens.count(kid, expires_at);
    }

    /// Sets the minute to which the first counts belong: that of the time `now`. Called once, when the
    /// process starts.
    pub fn begin(&self, now: Timestamp) {
        self.minute
            .store(begin_of_minute(now).micros(), Ordering::Relaxed);
    }

    /// Adds the counts of each minute that has ended to its row, by one statement, unless nothing was
    /// counted, and those of issued tokens to theirs. Counts that cannot be written become part of the next
    /// minute. Runs until the task is aborted, and goes on if it is started again.
    pub async fn follow(&self, db: Db) {
        loop {
            let present = begin_of_minute(clock::now());
            let minute = self.minute.swap(present.micros(), Ordering::Relaxed);
            if minute != present.micros() {
                self.write(&db, Timestamp::from_micros(minute)).await;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Adds the counts to the row of the present minute. Called when the process stops.
    pub async fn finish(&self, db: &Db) {
        self.write(db, begin_of_minute(clock::now())).await;
    }

    async fn write(&self, db: &Db, minute: Timestamp) {
        self.tokens.write(db).await;
        let counts = self.take();
        if counts.is_empty() {
            return;
        }
        if let Err(error) = add(db, minute, &counts).await {
            tracing::warn!(%error, "cannot store the figures of a minute");
            for (counter, count) in self.counts.iter().zip(counts.0) {
                counter.fetch_add(count, Ordering::Relaxed);
            }
        }
    }

    /// Returns the counts and sets the counters to zero.
    pub(super) fn take(&self) -> Counts {
        let mut counts = Counts::default();
        for (count, counter) in counts.0.iter_mut().zip(self.counts.iter()) {
            *count = counter.swap(0, Ordering::Relaxed);
        }
        counts
    }
}
