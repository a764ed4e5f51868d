//! The copy of the revocations in the memory of each replica.

use crate::revocation::{Kind, PendingAnnouncement};
use foundation::clock::{self, Timestamp};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use storage::db::{Db, Error, Version, Watch};
use storage::notifications::{Notification, Notifications};
use storage::{fetch_all, sql};
use tokio::sync::Mutex;

sql! {
    UNEXPIRED = "SELECT kind, subject, revoked_at, expires_at FROM revocations WHERE expires_at > $1";
    RECENT = "SELECT kind, subject, revoked_at, expires_at FROM revocations WHERE revoked_at > $1";
}

/// The time between two reads without a notification, because notifications may be lost.
const POLL_INTERVAL: Duration = Duration::from_millis(400);
/// The greatest age of the mirror at which it is used without reading the database first.
const MAX_AGE: Duration = Duration::from_secs(1);
/// The time by which each read overlaps the previous one. A row may be committed long after its `revoked_at`, and by a
/// machine whose clock is behind. The overlap is counted from the newest known row, so this machine's clock has little
/// influence.
const OVERLAP: Duration = Duration::from_secs(120);
/// The overlap of a read caused by a notification. The next regular read finds older rows.
const NOTIFIED_OVERLAP: Duration = Duration::from_secs(5);
/// The time in which notifications are collected before one read serves them all.
const DEBOUNCE: Duration = Duration::from_millis(5);
/// The greatest age at which the mirror is read incrementally. An older mirror, for example after the process was
/// suspended or the database was unavailable, is read as a whole.
const MAX_INCREMENTAL_AGE: Duration = Duration::from_secs(30);
/// The time limit of an incremental read. Callers that wait for the read fail with it.
const INCREMENTAL_READ_TIMEOUT: Duration = Duration::from_secs(2);
/// The time limit of a read of all rows.
const FULL_READ_TIMEOUT: Duration = Duration::from_secs(30);
/// The time between two removals of expired entries.
const PRUNE_INTERVAL: Duration = Duration::from_secs(60);

/// The current revocations, in memory. Cheap to clone; the clones share one mirror.
#[derive(Clone, Debug)]
pub struct RevocationMirror(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    db: Db,
    notifications: Notifications,
    /// The expiry of each revoked subject.
    revoked: RwLock<HashMap<Kind, HashMap<String, Timestamp>>>,
    /// The state of the reads. Locked during a read, so that only one runs at a time.
    reads: Mutex<ReadState>,
    /// A copy of [`ReadState::succeeded_at`] that is readable during a read.
    read_at: RwLock<Option<Instant>>,
}

/// The results of the previous reads.
#[derive(Debug)]
struct ReadState {
    watch: Watch,
    /// The database version before the last regular read.
    version: Option<Version>,
    /// The latest `revoked_at` of all rows read.
    newest: Option<Timestamp>,
    /// The start of the last successful regular read.
    succeeded_at: Option<Instant>,
    /// The end of the last read, if it failed.
    failed_at: Option<Instant>,
    /// The time at which expired entries were last removed.
    pruned_at: Instant,
}

/// The rows that a read covers, from few to all. `Recent` and `Full` are regular reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ReadScope {
    /// The rows within [`NOTIFIED_OVERLAP`] of the newest known one. Not a regular read: it may miss rows.
    Notified,
    /// The rows within [`OVERLAP`] of the newest known one.
    Recent,
    /// All unexpired rows.
    Full,
}

#[derive(sqlx::FromRow)]
struct Row {
    kind: String,
    subject: String,
    revoked_at: Timestamp,
    expires_at: Timestamp,
}

impl RevocationMirror {
    /// Creates an empty mirror of the revocations in `db`. [`follow`](Self::follow) fills it.
    pub fn new(db: &Db, notifications: Notifications) -> Self {
        let reads = ReadState {
            watch: db.watch(),
            version: None,
            newest: None,
            succeeded_at: None,
            failed_at: None,
            pruned_at: Instant::now(),
        };
        Self(Arc::new(Inner {
            db: db.with_statement_timeout(FULL_READ_TIMEOUT),
            notifications,
            revoked: RwLock::default(),
            reads: Mutex::new(reads),
            read_at: RwLock::default(),
        }))
    }

    /// Returns whether any of the subjects is revoked. Reads the database first if the mirror is older than one second.
    /// Fails if that read fails, or if the mirror was never filled. An empty list checks only that the revocations can
    /// be read.
    pub async fn any_revoked(&self, subjects: &[(Kind, &str)]) -> Result<bool, Error> {
        let read_at = *self.0.read_at.read().unwrap_or_else(PoisonError::into_inner);
        let read_at = read_at.ok_or_else(Error::timed_out)?;
        if read_at.elapsed() > MAX_AGE {
            let since = Instant::now().checked_sub(MAX_AGE).unwrap_or(read_at);
            let refreshed = self.refresh(ReadScope::Recent, since);
            let refreshed = tokio::time::timeout(INCREMENTAL_READ_TIMEOUT, refreshed).await;
            refreshed.unwrap_or_else(|_| Err(Error::timed_out()))?;
        }
        let revoked = self.0.revoked.read().unwrap_or_else(PoisonError::into_inner);
        Ok(subjects.iter().any(|(kind, subject)| {
            revoked
                .get(kind)
                .is_some_and(|subjects| subjects.contains_key(*subject))
        }))
    }

    /// Applies a committed revocation: reads it into this mirror and notifies the other processes, which otherwise find
    /// it at their next regular read. A failed read is only logged: the revocation is committed, and
    /// [`any_revoked`](Self::any_revoked) fails once the mirror is too old and the database cannot be read.
    pub async fn announce(&self, announcement: PendingAnnouncement) {
        if !announcement.is_due {
            return;
        }
        let now = Instant::now();
        let (refreshed, ()) = tokio::join!(
            self.refresh(ReadScope::Recent, now),
            self.0.notifications.publish(Notification::RevocationsChanged)
        );
        if let Err(error) = refreshed {
            tracing::warn!(%error, "cannot read a new revocation into the mirror");
        }
    }

    /// Reads all revocations, then the new ones until the task is aborted: at each notification and at each
    /// `POLL_INTERVAL`.
    pub async fn follow(self) {
        let mut notifications = self.0.notifications.subscribe();
        let mut scope = Some(ReadScope::Full);
        loop {
            if let Some(scope) = scope
                && let Err(error) = self.refresh(scope, Instant::now()).await
            {
                tracing::warn!(%error, "cannot read the revocations");
            }
            tokio::time::sleep(DEBOUNCE).await;
            scope = match tokio::time::timeout(POLL_INTERVAL, notifications.next()).await {
                Err(_) => Some(ReadScope::Recent),
                Ok(first) => std::iter::successors(Some(first), |_| notifications.try_next())
                    .filter_map(|notification| scope_of(&notification))
                    .max(),
            };
        }
    }

    /// Reads the database, one caller at a time. A caller that waited for the lock reuses the result of a regular read
    /// that began, or of a read that failed, after `since`.
    async fn refresh(&self, scope: ReadScope, since: Instant) -> Result<(), Error> {
        let mut reads = self.0.reads.lock().await;
        let is_after_since = |at: Option<Instant>| at.is_some_and(|at| at >= since);
        if scope != ReadScope::Full && is_after_since(reads.succeeded_at) {
            return Ok(());
        }
        if is_after_since(reads.failed_at) {
            return Err(Error::timed_out());
        }
        let age = reads.succeeded_at.map(|at| at.elapsed());
        let scope = match scope {
            _ if age.is_none_or(|age| age > MAX_INCREMENTAL_AGE) => ReadScope::Full,
            // Many notifications in a row must not delay the regular reads.
            ReadScope::Notified if age.is_some_and(|age| age > POLL_INTERVAL) => ReadScope::Recent,
            scope => scope,
        };
        let limit = match scope {
            ReadScope::Full => FULL_READ_TIMEOUT,
            ReadScope::Recent | ReadScope::Notified => INCREMENTAL_READ_TIMEOUT,
        };
        let read = tokio::time::timeout(limit, self.read(scope, &mut reads)).await;
        let outcome = read.unwrap_or_else(|_| Err(Error::timed_out()));
        reads.failed_at = outcome.is_err().then(Instant::now);
        outcome
    }

    /// Reads the rows of `scope` into the mirror. A regular read also updates the state of the reads.
    async fn read(&self, scope: ReadScope, reads: &mut ReadState) -> Result<(), Error> {
        let (started_at, now) = (Instant::now(), clock::now());
        let version = reads.watch.version().await?;
        // Without a known row there is nothing to overlap: read from the beginning.
        let newest = reads.newest.unwrap_or(Timestamp::from_micros(0)).min(now);
        let db = self.0.db.reader();
        let rows = match scope {
            ReadScope::Full => fetch_all!(db, Row, UNEXPIRED, now)?,
            _ if version.is_some() && version == reads.version => Vec::new(),
            ReadScope::Recent => fetch_all!(db, Row, RECENT, newest.before(OVERLAP))?,
            ReadScope::Notified => fetch_all!(db, Row, RECENT, newest.before(NOTIFIED_OVERLAP))?,
        };
        self.insert(rows, reads);
        if scope == ReadScope::Notified {
            // The short overlap may have missed older rows.
            return Ok(());
        }
        if reads.pruned_at.elapsed() > PRUNE_INTERVAL {
            self.remove_expired(now);
            reads.pruned_at = started_at;
        }
        reads.version = version;
        reads.succeeded_at = Some(started_at);
        *self.0.read_at.write().unwrap_or_else(PoisonError::into_inner) = Some(started_at);
        Ok(())
    }

    fn insert(&self, rows: Vec<Row>, reads: &mut ReadState) {
        if rows.is_empty() {
            return;
        }
        let mut revoked = self.0.revoked.write().unwrap_or_else(PoisonError::into_inner);
        for row in rows {
            reads.newest = reads.newest.max(Some(row.revoked_at));
            if let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.as_str() == row.kind) {
                revoked
                    .entry(kind)
                    .or_default()
                    .insert(row.subject, row.expires_at);
            }
        }
    }

    fn remove_expired(&self, now: Timestamp) {
        let mut revoked = self.0.revoked.write().unwrap_or_else(PoisonError::into_inner);
        for subjects in revoked.values_mut() {
            subjects.retain(|_, expires_at| *expires_at > now);
        }
    }
}

/// Returns the rows to read because of a notification, if any.
fn scope_of(notification: &Notification) -> Option<ReadScope> {
    match notification {
        Notification::RevocationsChanged => Some(ReadScope::Notified),
        Notification::Missed => Some(ReadScope::Full),
        Notification::SigningKeysChanged(_) => None,
    }
}
