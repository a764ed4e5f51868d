//! The copy of the revocations in the memory of each replica.

mod source;

use crate::kind::{Kind, Revocation};
use crate::list::RevocationList;
use crate::list_maintenance::ListMaintenance;
use crate::revoked_subjects::RevokedSubjects;
use crate::rows::RevocationRows;
use foundation::{clock, time_limits};
use source::Source;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use storage::db::{Db, Error};
use storage::notifications::{Notification, Notifications};
use tokio::sync::{Mutex, watch};

/// The time between two reads without a notification, because notifications may be lost.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// The greatest age of the mirror at which it is used without a read of the new revocations.
const MAX_AGE: Duration = Duration::from_secs(1);
/// The time in which notifications are collected before one read serves them all.
const DEBOUNCE: Duration = Duration::from_millis(5);
/// The time between two removals of old subjects.
const PRUNE_INTERVAL: Duration = Duration::from_secs(60);
/// The time limit of a read of the new rows, which the factor of [`time_limits`] multiplies. Callers that
/// wait for the read fail with it.
const READ_TIMEOUT: Duration = Duration::from_secs(2);
/// The time after the start in which callers wait for the first read. A process accepts connections before it
/// has ended.
const FIRST_MAX_WAIT: Duration = Duration::from_secs(10);
/// The time limit of a read of all rows. Five million take half a minute on a busy machine with two cores.
const FULL_READ_TIMEOUT: Duration = Duration::from_secs(300);

/// The current revocations, in memory. Cheap to clone; the clones share one mirror.
#[derive(Clone, Debug)]
pub struct RevocationMirror(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    notifications: Notifications,
    /// The list in Redis, if there is one.
    list: Option<RevocationList>,
    /// Whether this process keeps the list complete, from the database.
    maintains_list: AtomicBool,
    revoked: RevokedSubjects,
    /// The state of the reads. Locked during a read, so that only one runs at a time.
    reads: Mutex<ReadState>,
    /// A copy of [`ReadState::succeeded_at`] that is readable during a read.
    read_at: watch::Sender<Option<Instant>>,
    /// The end of the time in which callers wait for the first read.
    first_wait_until: tokio::time::Instant,
    count_lag: fn(Duration),
}

/// The results of the previous reads.
#[derive(Debug)]
struct ReadState {
    rows: RevocationRows,
    source: Source,
    maintenance: ListMaintenance,
    /// The start of the last successful read.
    succeeded_at: Option<Instant>,
    /// The end of the last read, if it failed.
    failed_at: Option<Instant>,
    /// The time at which old entries were last removed.
    pruned_at: Instant,
}

impl RevocationMirror {
    /// Creates an empty mirror of the revocations in `db` and in the Redis of `notifications`, if it has one.
    /// [`follow`](Self::follow) fills it. `count_lag` counts the time that each revocation took.
    pub fn new(db: &Db, notifications: Notifications, count_lag: fn(Duration)) -> Self {
        let reads = ReadState {
            rows: RevocationRows::new(db.clone()),
            source: Source::Database {
                until: Instant::now(),
            },
            maintenance: ListMaintenance::default(),
            succeeded_at: None,
            failed_at: None,
            pruned_at: Instant::now(),
        };
        Self(Arc::new(Inner {
            list: notifications.redis().map(RevocationList::new),
            maintains_list: AtomicBool::new(false),
            notifications,
            revoked: RevokedSubjects::default(),
            reads: Mutex::new(reads),
            read_at: watch::Sender::default(),
            first_wait_until: tokio::time::Instant::now() + FIRST_MAX_WAIT,
            count_lag,
        }))
    }

    /// Keeps the list in Redis complete from now on. Called by the issuer before [`follow`](Self::follow).
    pub fn maintain_list(&self) {
        self.0.maintains_list.store(true, Ordering::Relaxed);
    }

    /// Returns whether any of the subjects is revoked. Reads the new revocations first if the mirror is older
    /// than one second. Fails if that read fails, or if the mirror was never filled; in the first seconds of
    /// the process, waits until it is. An empty list checks only that the revocations can be read.
    pub async fn any_revoked(&self, subjects: &[(Kind, &str)]) -> Result<bool, Error> {
        let read_at = self.last_read().await?;
        if read_at.elapsed() > MAX_AGE {
            let since = Instant::now().checked_sub(MAX_AGE).unwrap_or(read_at);
            let limit = time_limits::multiplied(READ_TIMEOUT);
            let refreshed = tokio::time::timeout(limit, self.refresh(since)).await;
            refreshed.unwrap_or_else(|_| Err(Error::timed_out()))?;
        }
        Ok(self.0.revoked.contain_any(subjects))
    }

    /// Returns the start of the last successful read. If there was none yet, waits for the first one in the
    /// first seconds of the process: otherwise a replica would refuse what the others accept.
    async fn last_read(&self) -> Result<Instant, Error> {
        let last = *self.0.read_at.borrow();
        if let Some(at) = last {
            return Ok(at);
        }
        let mut read_at = self.0.read_at.subscribe();
        let first = tokio::time::timeout_at(self.0.first_wait_until, read_at.wait_for(Option::is_some)).await;
        let at = first.ok().and_then(Result::ok).and_then(|at| *at);
        at.ok_or_else(Error::timed_out)
    }

    /// Applies committed revocations: adds them to this mirror and to the list in Redis, and notifies the
    /// other processes, which otherwise find them at their next read.
    pub(super) async fn announce(&self, revocations: &[Revocation]) {
        if revocations.is_empty() {
            return;
        }
        self.learn(revocations);
        if let Some(list) = &self.0.list
            && let Err(error) = list.add(revocations).await
        {
            tracing::warn!(%error, "cannot add revocations to the list in Redis: an issuer adds them later");
        }
        let changed = Notification::RevocationsChanged;
        self.0.notifications.publish(changed).await;
    }

    /// Reads all revocations, then the new ones until the task is aborted: at each notification and at each
    /// `POLL_INTERVAL`.
    pub async fn follow(self) {
        let mut notifications = self.0.notifications.subscribe();
        let mut is_due = true;
        loop {
            if is_due && let Err(error) = self.refresh(Instant::now()).await {
                tracing::warn!(%error, "cannot read the revocations");
            }
            tokio::time::sleep(DEBOUNCE).await;
            is_due = match tokio::time::timeout(POLL_INTERVAL, notifications.next()).await {
                Err(_) => true,
                Ok(first) => {
                    std::iter::successors(Some(first), |_| notifications.try_next())
                        .filter(concerns_revocations)
                        .count()
                        > 0
                }
            };
        }
    }

    /// Reads the new revocations, one caller at a time. A caller that waited for the lock reuses the result
    /// of a read that began, or of a read that failed, after `since`.
    async fn refresh(&self, since: Instant) -> Result<(), Error> {
        let mut reads = self.0.reads.lock().await;
        let is_after_since = |at: Option<Instant>| at.is_some_and(|at| at >= since);
        if is_after_since(reads.succeeded_at) {
            return Ok(());
        }
        if is_after_since(reads.failed_at) {
            return Err(Error::timed_out());
        }
        let limit = match reads.rows.reads_all() {
            true => FULL_READ_TIMEOUT,
            false => time_limits::multiplied(READ_TIMEOUT),
        };
        let outcome = tokio::time::timeout(limit, self.read(&mut reads)).await;
        let outcome = outcome.unwrap_or_else(|_| Err(Error::timed_out()));
        reads.failed_at = outcome.is_err().then(Instant::now);
        outcome
    }

    /// Reads the new revocations from the stream in Redis, or else from the database.
    async fn read(&self, reads: &mut ReadState) -> Result<(), Error> {
        let started_at = Instant::now();
        if !self.read_stream(reads).await {
            self.read_database(reads).await?;
        }
        if reads.pruned_at.elapsed() > PRUNE_INTERVAL {
            self.0.revoked.remove_expired(clock::now());
            reads.pruned_at = started_at;
        }
        reads.succeeded_at = Some(started_at);
        self.0.read_at.send_replace(Some(started_at));
        if let Some(list) = self.maintained_list() {
            self.maintain(list, &mut reads.maintenance).await;
        }
        if let (Source::Database { until }, Some(list)) = (&reads.source, self.followed_list())
            && *until <= started_at
        {
            reads.source = match list.end_of_stream().await {
                Ok(Some(position)) => Source::DatabaseBefore(position),
                Ok(None) | Err(_) => Source::database(),
            };
        }
        Ok(())
    }

    /// Adds the revocations beyond the position in the stream. Returns false if the database must be read
    /// instead.
    async fn read_stream(&self, reads: &mut ReadState) -> bool {
        // If this read is canceled, the next one is from the database.
        let source = std::mem::replace(&mut reads.source, Source::database());
        let (Source::Stream(position), Some(list)) = (&source, self.followed_list()) else {
            reads.source = source;
            return false;
        };
        match list.read_stream(position, clock::now()).await {
            Ok(Some((position, revocations))) => {
                self.learn(&revocations);
                reads.source = Source::Stream(position);
                true
            }
            Ok(None) => {
                tracing::info!("the list of revocations in Redis is not complete: reading the database");
                false
            }
            Err(error) => {
                tracing::warn!(%error, "cannot read the list of revocations in Redis: reading the database");
                false
            }
        }
    }

    /// Adds the new rows.
    async fn read_database(&self, reads: &mut ReadState) -> Result<(), Error> {
        match reads.rows.read(|page| self.learn(page)).await? {
            Some(new) => {
                self.learn(&new);
                if self.maintained_list().is_some() {
                    reads.maintenance.extend(new);
                }
            }
            None => reads.maintenance.forget(),
        }
        if let Source::DatabaseBefore(position) = &reads.source {
            tracing::info!("following the list of revocations in Redis");
            reads.source = Source::Stream(position.clone());
        }
        Ok(())
    }

    /// Adds revocations, and counts for each new one how long it took to take effect here. Those of the first
    /// read are older than the process, and a row that has expired may be read again before it is deleted.
    fn learn(&self, revocations: &[Revocation]) {
        let (now, has_read) = (clock::now(), self.0.read_at.borrow().is_some());
        let new = self.0.revoked.add(revocations).into_iter();
        for revocation in new.filter(|revocation| has_read && revocation.expires_at > now) {
            (self.0.count_lag)(now.since(revocation.revoked_at));
        }
    }

    /// Adds what the list lacks, of which the process that revoked did not tell the followers of the stream.
    async fn maintain(&self, list: &RevocationList, maintenance: &mut ListMaintenance) {
        match maintenance.complete(list, &self.0.revoked).await {
            Ok(false) => {}
            Ok(true) => {
                let changed = Notification::RevocationsChanged;
                self.0.notifications.publish(changed).await;
            }
            Err(error) => tracing::warn!(%error, "cannot add revocations to the list in Redis"),
        }
    }

    /// Returns the list if this process maintains it.
    fn maintained_list(&self) -> Option<&RevocationList> {
        let list = self.0.list.as_ref();
        list.filter(|_| self.0.maintains_list.load(Ordering::Relaxed))
    }

    /// Returns the list if this process follows its stream. A process that maintains the list reads the
    /// database instead.
    fn followed_list(&self) -> Option<&RevocationList> {
        let list = self.0.list.as_ref();
        list.filter(|_| !self.0.maintains_list.load(Ordering::Relaxed))
    }
}

fn concerns_revocations(notification: &Notification) -> bool {
    match notification {
        Notification::RevocationsChanged | Notification::Missed => true,
        Notification::SigningKeysChanged(_) => false,
    }
}
