//! The comparison of this process's clock with that of the database. All processes compare times that others wrote, so
//! a process whose clock differs must not decide by it whether a key, a code, a session or a token has expired.

use crate::db::{Db, Error};
use crate::{fetch_one, sql};
use foundation::clock;
use foundation::clock::Timestamp;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

sql! {
    TIME_POSTGRES = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)";
}

/// The largest difference at which the process uses its clock.
const MAX_DIFFERENCE: Duration = Duration::from_secs(30);
/// The largest difference that is not logged.
const MAX_UNREPORTED_DIFFERENCE: Duration = Duration::from_secs(2);
/// The time between two measurements.
const INTERVAL: Duration = Duration::from_secs(10);
/// The time after which a difference above [`MAX_DIFFERENCE`] is measured again.
const REPEAT_INTERVAL: Duration = Duration::from_secs(1);

/// The result of the last measurement of the clock. Cheap to clone; the clones share it.
#[derive(Clone, Debug)]
pub struct ClockCheck {
    db: Db,
    agreement: Arc<watch::Sender<Agreement>>,
}

/// The agreement of the clock with that of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Agreement {
    /// Within [`MAX_UNREPORTED_DIFFERENCE`].
    Close,
    /// Within [`MAX_DIFFERENCE`].
    Sufficient,
    /// Not measured yet, or beyond [`MAX_DIFFERENCE`].
    None,
}

/// The error of a process whose clock differs from that of the database by more than 30 s, or was not compared with it
/// yet.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error(
    "the clock of this machine differs from that of the database by more than 30 s: synchronize both with a time server"
)]
pub struct ClockDiffers;

impl ClockCheck {
    /// Creates a check. On PostgreSQL it fails until the first [`measure`](Self::measure). On SQLite it always
    /// succeeds, because the database has the clock of this machine.
    pub fn new(db: Db) -> Self {
        let agreement = db.engine().choose(Agreement::Close, Agreement::None);
        Self {
            db,
            agreement: Arc::new(watch::Sender::new(agreement)),
        }
    }

    /// Fails if the clock differed at the last measurement, or if it was never measured.
    pub fn check(&self) -> Result<(), ClockDiffers> {
        match *self.agreement.borrow() {
            Agreement::Close | Agreement::Sufficient => Ok(()),
            Agreement::None => Err(ClockDiffers),
        }
    }

    /// Measures the clock, and logs a change of the result. Fails if the clock differs by more than 30 s in two
    /// measurements a second apart: a single one may fall into the moment at which a clock is set. If the database does
    /// not answer, the previous result holds.
    pub async fn measure(&self) -> Result<(), ClockDiffers> {
        let mut difference = self.difference().await;
        if difference.as_ref().is_ok_and(|length| *length > MAX_DIFFERENCE) {
            tokio::time::sleep(REPEAT_INTERVAL).await;
            difference = self.difference().await;
        }
        match difference {
            Ok(difference) => self.record(difference),
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

    /// Runs a task while the clock agrees. Drops the task when a measurement finds that the clock differs, and starts
    /// it again when the clock agrees again. Never returns.
    pub async fn run<F: Future<Output = ()>>(self, task: impl Fn() -> F) {
        let mut agreement = self.agreement.subscribe();
        loop {
            // The sender cannot be dropped, because `self` has it.
            let _ = agreement.wait_for(|is| *is != Agreement::None).await;
            let until_it_differs = async {
                let _ = agreement.wait_for(|is| *is == Agreement::None).await;
            };
            let forever = async {
                task().await;
                pending::<()>().await;
            };
            tokio::select! {
                () = until_it_differs => {}
                () = forever => {}
            }
        }
    }

    /// Returns the smallest difference of the two clocks that explains the measurement: the database may have read its
    /// clock at any time between the query and the answer.
    async fn difference(&self) -> Result<Duration, Error> {
        let Some(sql) = self.db.engine().choose(None, Some(TIME_POSTGRES)) else {
            return Ok(Duration::ZERO);
        };
        let before = clock::now();
        let (database,) = fetch_one!(self.db.reader(), (Timestamp,), sql)?;
        let after = clock::now();
        Ok(before.since(database).max(database.since(after)))
    }

    /// Stores the result of a measurement, and logs it if it is new.
    fn record(&self, difference: Duration) {
        let agreement = match difference {
            length if length > MAX_DIFFERENCE => Agreement::None,
            length if length > MAX_UNREPORTED_DIFFERENCE => Agreement::Sufficient,
            _ => Agreement::Close,
        };
        let is_new = self
            .agreement
            .send_if_modified(|is| std::mem::replace(is, agreement) != agreement);
        let seconds = difference.as_secs_f64();
        match agreement {
            Agreement::None if is_new => {
                tracing::error!(seconds, "{ClockDiffers}. Until then this process answers 503");
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
