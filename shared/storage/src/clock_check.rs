//! The comparison of this process's clock with that of the database. All processes compare times that others
//! wrote, so a process whose clock differs must not decide by it whether a key, a code, a session or a token
//! has expired.

use crate::db::{Db, Engine, Error};
use crate::{fetch_one, sql};
use foundation::clock::{Clock, Timestamp};
use foundation::{clock, random};
use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, watch};

sql! {
    TIME_POSTGRES = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)";
}

/// The largest difference at which the process uses its clock.
pub const MAX_DIFFERENCE: Duration = Duration::from_secs(30);
/// The largest difference that is not logged.
pub const MAX_UNREPORTED_DIFFERENCE: Duration = Duration::from_secs(2);
/// The time between two measurements.
const INTERVAL: Duration = Duration::from_secs(10);
/// The time after which a difference above [`MAX_DIFFERENCE`] is measured again.
const REPEAT_INTERVAL: Duration = Duration::from_secs(1);
/// The longest pause before a task begins. Tasks that began at the same moment would query at the same
/// moments ever after, each on a connection of its own.
const MAX_FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The result of the last measurement of the clock. Cheap to clone; the clones share it.
#[derive(Clone, Debug)]
pub struct ClockCheck {
    db: Db,
    last: Arc<watch::Sender<Measurement>>,
    /// The time of the last measurement for a request that failed. Locked during a measurement, so that one
    /// request measures for all.
    measured_for_request: Arc<Mutex<Option<Instant>>>,
}

/// The result of the last successful measurement and the time at which it ended, by both clocks of this
/// machine.
#[derive(Clone, Copy, Debug)]
struct Measurement {
    /// The microseconds by which the clock of this machine was ahead of that of the database, negative if it
    /// was behind; `None` if it was never measured.
    ahead_by: Option<i64>,
    wall: Timestamp,
    monotonic: Instant,
}

/// The agreement of the clock with that of the database, which the log tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Agreement {
    /// Within [`MAX_UNREPORTED_DIFFERENCE`].
    Close,
    /// Within [`MAX_DIFFERENCE`].
    Sufficient,
    /// Beyond [`MAX_DIFFERENCE`].
    None,
}

impl Measurement {
    fn ended(ahead_by: Option<i64>) -> Self {
        Self {
            ahead_by,
            wall: clock::now(),
            monotonic: Instant::now(),
        }
    }

    /// Returns the microseconds by which the clock of this machine is ahead of that of the database now:
    /// those that were measured, and those by which the wall clock was set since, which the monotonic clock
    /// tells.
    fn ahead_by_now(&self) -> Option<i64> {
        let unset = self.wall.after(self.monotonic.elapsed());
        let set_by = clock::now().micros().saturating_sub(unset.micros());
        Some(self.ahead_by?.saturating_add(set_by))
    }

    fn agreement(&self) -> Option<Agreement> {
        self.ahead_by.map(agreement_at)
    }

    fn is_sufficient(&self) -> bool {
        self.agreement()
            .is_some_and(|agreement| agreement != Agreement::None)
    }
}

/// Returns the agreement of two clocks that differ by these microseconds.
fn agreement_at(ahead_by: i64) -> Agreement {
    match length(ahead_by) {
        length if length > MAX_DIFFERENCE => Agreement::None,
        length if length > MAX_UNREPORTED_DIFFERENCE => Agreement::Sufficient,
        _ => Agreement::Close,
    }
}

/// The error of a process whose clock differs from that of the database by more than 30 s, or was not
/// compared with it yet.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error(
    "the clock of this machine differs from that of the database by more than 30 s: synchronize both with a time server"
)]
pub struct ClockDiffers;

impl ClockCheck {
    /// Creates a check. On PostgreSQL it fails until the first [`measure`](Self::measure). On SQLite it
    /// always succeeds, because the database has the clock of this machine.
    pub fn new(db: Db) -> Self {
        let ahead_by = db.engine().choose(Some(0), None);
        Self {
            db,
            last: Arc::new(watch::Sender::new(Measurement::ended(ahead_by))),
            measured_for_request: Arc::default(),
        }
    }

    /// Fails if the clock differs, as it was measured and set since, or if it was never measured.
    pub fn check(&self) -> Result<(), ClockDiffers> {
        match self.clock()?.differs() {
            false => Ok(()),
            true => Err(ClockDiffers),
        }
    }

    /// Returns the clock by which to judge what may be done although the clock of this machine differs: that
    /// of the database, as it was measured last. Fails if it was never measured.
    pub fn clock(&self) -> Result<Clock, ClockDiffers> {
        let ahead_by = self.ahead_by_now().ok_or(ClockDiffers)?;
        Ok(match agreement_at(ahead_by) {
            Agreement::Close | Agreement::Sufficient => Clock::default(),
            Agreement::None => Clock::of_database(ahead_by),
        })
    }

    /// Returns the clock as [`clock`](Self::clock) does, for a request that may be about to sign something.
    /// If the clock of this machine was set since the last measurement, measures it first, once a second if
    /// the database does not answer.
    pub async fn clock_for_request(&self) -> Result<Clock, ClockDiffers> {
        if self.was_set() {
            let mut measured = self.measured_for_request.lock().await;
            let is_recent = measured.is_some_and(|at| at.elapsed() < REPEAT_INTERVAL);
            if !is_recent && self.was_set() {
                // The result is read below.
                let _ = self.measure().await;
                *measured = self.was_set().then(Instant::now);
            }
        }
        self.clock()
    }

    fn ahead_by_now(&self) -> Option<i64> {
        let last = *self.last.borrow();
        match self.db.engine() {
            // The database has the clock of this machine.
            Engine::Sqlite(()) => last.ahead_by,
            Engine::Postgres(()) => last.ahead_by_now(),
        }
    }

    /// Returns whether the clock, which agreed at the last measurement, was set so that it differs.
    fn was_set(&self) -> bool {
        let ahead_by = self.ahead_by_now();
        let differs = ahead_by.is_some_and(|ahead_by| agreement_at(ahead_by) == Agreement::None);
        differs && self.last.borrow().is_sufficient()
    }

    /// Measures the clock, and logs a change of the result. Fails if the clock differs by more than 30 s in
    /// two measurements a second apart: a single one may fall into the moment at which a clock is set. If the
    /// database does not answer, the previous result holds, and what the clock was set by since.
    pub async fn measure(&self) -> Result<(), ClockDiffers> {
        let mut ahead_by = self.ahead_by().await;
        if ahead_by
            .as_ref()
            .is_ok_and(|micros| length(*micros) > MAX_DIFFERENCE)
        {
            tokio::time::sleep(REPEAT_INTERVAL).await;
            ahead_by = self.ahead_by().await;
        }
        match ahead_by {
            Ok(ahead_by) => self.record(ahead_by),
            Err(error) => tracing::warn!(%error, "cannot compare the clock with that of the database"),
        }
        self.check()
    }

    /// Measures the clock every 10 s, and every second while it differs. Never returns.
    pub async fn follow(self) {
        loop {
            tokio::time::sleep(match self.check() {
                Ok(()) => INTERVAL,
                Err(ClockDiffers) => REPEAT_INTERVAL,
            })
            .await;
            // `measure` has stored and logged the result.
            let _ = self.measure().await;
        }
    }

    /// Runs a task while the clock agrees, after a pause of random length. Drops the task when a measurement
    /// finds that the clock differs, and starts it again when the clock agrees again. Never returns.
    pub async fn run<F: Future<Output = ()>>(self, task: impl Fn() -> F) {
        let mut last = self.last.subscribe();
        loop {
            // The sender cannot be dropped, because `self` has it.
            let _ = last.wait_for(Measurement::is_sufficient).await;
            let until_it_differs = async {
                let _ = last.wait_for(|last| !last.is_sufficient()).await;
            };
            let forever = async {
                tokio::time::sleep(random::duration_up_to(MAX_FIRST_PAUSE)).await;
                task().await;
                pending::<()>().await;
            };
            tokio::select! {
                () = until_it_differs => {}
                () = forever => {}
            }
        }
    }

    /// Returns the microseconds by which the clock of this machine is ahead of that of the database, negative
    /// if it is behind: the smallest difference that explains the measurement, because the database may have
    /// read its clock at any time between the query and the answer.
    pub async fn ahead_by(&self) -> Result<i64, Error> {
        let Some(sql) = self.db.engine().choose(None, Some(TIME_POSTGRES)) else {
            return Ok(0);
        };
        let before = clock::now();
        let (database,) = fetch_one!(self.db.reader(), (Timestamp,), sql)?;
        Ok(clock::ahead_of(database, before, clock::now()))
    }

    /// Stores the result of a measurement, and logs it if it is new.
    fn record(&self, ahead_by: i64) {
        let agreement = agreement_at(ahead_by);
        let former = self.last.send_replace(Measurement::ended(Some(ahead_by)));
        let is_new = former.agreement() != Some(agreement);
        let seconds = length(ahead_by).as_secs_f64();
        match agreement {
            Agreement::None if is_new => {
                tracing::error!(
                    seconds,
                    "{ClockDiffers}. Until then this process grants, signs and rotates nothing, and serves only keys, metadata, sign-out and revocations"
                );
            }
            Agreement::Sufficient if is_new => {
                tracing::warn!(
                    seconds,
                    "the clock of this machine differs from that of the database"
                );
            }
            _ => {}
        }
    }
}

/// Returns the length of a difference in microseconds.
pub fn length(micros: i64) -> Duration {
    Duration::from_micros(micros.unsigned_abs())
}
