//! The copy of the revocations in the memory of each replica.

use crate::revocation::list::RevocationList;
use crate::revocation::{Kind, PendingAnnouncement, RETENTION, Revocation};
use foundation::clock::Timestamp;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use storage::db::{Db, Error, Version, Watch};
use storage::notifications::{Notification, Notifications};
use storage::{fetch_all, sql};
use tokio::sync::Mutex;

sql! {
    // The rows that were committed since the read with the position $1. The first row has the position of this read.
    NEW_SQLITE = "SELECT CAST(id AS TEXT) AS position, kind, subject, revoked_at
                  FROM revocations WHERE id > CAST($1 AS INTEGER)
                  ORDER BY id DESC";
    // The position is a snapshot: the set of the transactions that were finished. Returns a row without a revocation if there
    // is no new one. The first condition is the one that the index can serve.
    NEW_POSTGRES = "SELECT CAST(pg_current_snapshot() AS TEXT) AS position, new.kind, new.subject, new.revoked_at
                    FROM (SELECT 1) AS one LEFT JOIN revocations AS new
                        ON new.transaction_id >= pg_snapshot_xmin(CAST($1 AS pg_snapshot))
                       AND NOT pg_visible_in_snapshot(new.transaction_id, CAST($1 AS pg_snapshot))";
}

/// The position before all rows on SQLite, whose ids begin at 1.
const START_SQLITE: &str = "0";
/// The snapshot in which no transaction is finished.
const START_POSTGRES: &str = "1:1:";

/// The time between two reads without a notification, because notifications may be lost.
const POLL_INTERVAL: Duration = Duration::from_millis(400);
/// The greatest age of the mirror at which it is used without reading the database first.
const MAX_AGE: Duration = Duration::from_secs(1);
/// The time in which notifications are collected before one read serves them all.
const DEBOUNCE: Duration = Duration::from_millis(5);
/// The time between two removals of entries that are older than [`RETENTION`].
const PRUNE_INTERVAL: Duration = Duration::from_secs(60);
/// The time limit of a read of the new rows. Callers that wait for the read fail with it.
const READ_TIMEOUT: Duration = Duration::from_secs(2);
/// The time limit of a read of all rows.
const FULL_READ_TIMEOUT: Duration = Duration::from_secs(30);

/// The current revocations, in memory. Cheap to clone; the clones share one mirror.
#[derive(Clone, Debug)]
pub struct RevocationMirror(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    db: Db,
    notifications: Notifications,
    /// The list in Redis, if there is one.
    list: Option<RevocationList>,
    /// Whether this process keeps the list complete, from the database.
    maintains_list: AtomicBool,
    /// The time at which each revoked subject was read, by the monotonic clock.
    revoked: RwLock<HashMap<Kind, HashMap<String, Instant>>>,
    /// The state of the reads. Locked during a read, so that only one runs at a time.
    reads: Mutex<ReadState>,
    /// A copy of [`ReadState::succeeded_at`] that is readable during a read.
    read_at: RwLock<Option<Instant>>,
}

/// The results of the previous reads.
#[derive(Debug)]
struct ReadState {
    watch: Watch,
    /// The database version before the last read of the database.
    version: Option<Version>,
    /// The position of the last read of the database; `None` if the next one must read all rows.
    position: Option<String>,
    /// The id of the data set to which this process has added all revocations, if it maintains the list.
    maintained_data_set: Option<String>,
    /// The start of the last successful read.
    succeeded_at: Option<Instant>,
    /// The end of the last read, if it failed.
    failed_at: Option<Instant>,
    /// The time at which old entries were last removed.
    pruned_at: Instant,
}

#[derive(sqlx::FromRow)]
struct Row {
    position: String,
    kind: Option<String>,
    subject: Option<String>,
    revoked_at: Option<Timestamp>,
}

impl RevocationMirror {
    /// Creates an empty mirror of the revocations in `db`. [`follow`](Self::follow) fills it.
    pub fn new(db: &Db, notifications: Notifications) -> Self {
        let reads = ReadState {
            watch: db.watch(),
            version: None,
            position: None,
            maintained_data_set: None,
            succeeded_at: None,
            failed_at: None,
            pruned_at: Instant::now(),
        };
        Self(Arc::new(Inner {
            db: db.with_statement_timeout(FULL_READ_TIMEOUT),
            list: notifications.redis().map(RevocationList::new),
            maintains_list: AtomicBool::new(false),
            notifications,
            revoked: RwLock::default(),
            reads: Mutex::new(reads),
            read_at: RwLock::default(),
        }))
    }

    /// Makes this process keep the list in Redis complete. Called by the issuer before [`follow`](Self::follow).
    pub fn maintain_list(&self) {
        self.0.maintains_list.store(true, Ordering::Relaxed);
    }

    /// Returns whether any of the subjects is revoked. Reads the database first if the mirror is older than one second.
    /// Fails if that read fails, or if the mirror was never filled. An empty list checks only that the revocations can
    /// be read.
    pub async fn any_revoked(&self, subjects: &[(Kind, &str)]) -> Result<bool, Error> {
        let read_at = *self.0.read_at.read().unwrap_or_else(PoisonError::into_inner);
        let read_at = read_at.ok_or_else(Error::timed_out)?;
        if read_at.elapsed() > MAX_AGE {
            let since = Instant::now().checked_sub(MAX_AGE).unwrap_or(read_at);
            let refreshed = tokio::time::timeout(READ_TIMEOUT, self.refresh(since)).await;
            refreshed.unwrap_or_else(|_| Err(Error::timed_out()))?;
        }
        let revoked = self.0.revoked.read().unwrap_or_else(PoisonError::into_inner);
        Ok(subjects.iter().any(|(kind, subject)| {
            revoked
                .get(kind)
                .is_some_and(|subjects| subjects.contains_key(*subject))
        }))
    }

    /// Applies committed revocations: adds them to this mirror and to the list in Redis, and notifies the other processes, which
    /// otherwise find them at their next read.
    pub async fn announce(&self, announcement: PendingAnnouncement) {
        let revocations = announcement.revocations;
        if revocations.is_empty() {
            return;
        }
        self.insert(revocations.iter().map(|one| (one.kind, one.subject.clone())));
        if let Some(list) = &self.0.list
            && let Err(error) = list.add(&revocations).await
        {
            tracing::warn!(%error, "cannot add revocations to the list in Redis: an issuer adds them later");
        }
        self.0
            .notifications
            .publish(Notification::RevocationsChanged)
            .await;
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

    /// Reads the database, one caller at a time. A caller that waited for the lock reuses the result of a read that began,
    /// or of a read that failed, after `since`.
    async fn refresh(&self, since: Instant) -> Result<(), Error> {
        let mut reads = self.0.reads.lock().await;
        let is_after_since = |at: Option<Instant>| at.is_some_and(|at| at >= since);
        if is_after_since(reads.succeeded_at) {
            return Ok(());
        }
        if is_after_since(reads.failed_at) {
            return Err(Error::timed_out());
        }
        let limit = match reads.position {
            None => FULL_READ_TIMEOUT,
            Some(_) => READ_TIMEOUT,
        };
        let outcome = tokio::time::timeout(limit, self.read(&mut reads)).await;
        let outcome = outcome.unwrap_or_else(|_| Err(Error::timed_out()));
        reads.failed_at = outcome.is_err().then(Instant::now);
        outcome
    }

    /// Reads the new revocations.
    async fn read(&self, reads: &mut ReadState) -> Result<(), Error> {
        let started_at = Instant::now();
        self.read_database(reads).await?;
        if reads.pruned_at.elapsed() > PRUNE_INTERVAL {
            self.remove_old();
            reads.pruned_at = started_at;
        }
        reads.succeeded_at = Some(started_at);
        *self.0.read_at.write().unwrap_or_else(PoisonError::into_inner) = Some(started_at);
        Ok(())
    }

    /// Adds the rows beyond the position of the last read, or all rows if there is none. Adds them to the list too if this process
    /// maintains it.
    async fn read_database(&self, reads: &mut ReadState) -> Result<(), Error> {
        let version = reads.watch.version().await?;
        let maintained = self.maintained_list();
        let data_set = match maintained {
            Some(list) => list.data_set().await.ok(),
            None => None,
        };
        if data_set.is_some() && data_set != reads.maintained_data_set {
            // An emptied or replaced Redis needs every revocation.
            reads.position = None;
        }
        // If this read fails or is canceled, there is no position, and the next one reads all rows: the database may have
        // failed over to a server that lost the last transactions and uses their numbers again.
        let position = reads.position.take();
        let (position, revocations) = match position {
            Some(position) if version.is_some() && version == reads.version => (position, Vec::new()),
            Some(position) => self.rows_beyond(position).await?,
            None => self.all_rows().await?,
        };
        self.insert(revocations.iter().map(|one| (one.kind, one.subject.clone())));
        if let Some((list, data_set)) = maintained.zip(data_set) {
            let added = list.complete(&data_set, &revocations).await;
            let is_complete = added.unwrap_or_else(|error| {
                tracing::warn!(%error, "cannot add revocations to the list in Redis");
                false
            });
            reads.maintained_data_set = is_complete.then_some(data_set);
        }
        reads.position = Some(position);
        reads.version = version;
        Ok(())
    }

    /// Returns the list if this process maintains it.
    fn maintained_list(&self) -> Option<&RevocationList> {
        let list = self.0.list.as_ref();
        list.filter(|_| self.0.maintains_list.load(Ordering::Relaxed))
    }

    /// Returns the new position and the revocations beyond a position, or all revocations if the database was replaced by an older
    /// copy.
    async fn rows_beyond(&self, position: String) -> Result<(String, Vec<Revocation>), Error> {
        let rows = self.fetch_beyond(&position).await?;
        match rows.first().map(|row| row.position.clone()) {
            Some(new) if is_earlier(&new, &position) => self.all_rows().await,
            new => Ok((new.unwrap_or(position), revocations(rows))),
        }
    }

    /// Returns the position and all revocations.
    async fn all_rows(&self) -> Result<(String, Vec<Revocation>), Error> {
        let start = self.0.db.engine().choose(START_SQLITE, START_POSTGRES);
        let rows = self.fetch_beyond(start).await?;
        let position = rows.first().map_or(start, |row| &row.position).to_owned();
        Ok((position, revocations(rows)))
    }

    async fn fetch_beyond(&self, position: &str) -> Result<Vec<Row>, Error> {
        let sql = self.0.db.engine().choose(NEW_SQLITE, NEW_POSTGRES);
        fetch_all!(self.0.db.reader(), Row, sql, position)
    }

    fn insert(&self, subjects: impl IntoIterator<Item = (Kind, String)>) {
        let now = Instant::now();
        let mut revoked = self.0.revoked.write().unwrap_or_else(PoisonError::into_inner);
        for (kind, subject) in subjects {
            revoked.entry(kind).or_default().insert(subject, now);
        }
    }

    /// Removes the entries of tokens that expired long ago. Those of keys stay, as their rows do.
    fn remove_old(&self) {
        let mut revoked = self.0.revoked.write().unwrap_or_else(PoisonError::into_inner);
        for (kind, subjects) in revoked.iter_mut() {
            subjects.retain(|_, read_at| *kind == Kind::Key || read_at.elapsed() < RETENTION);
        }
    }
}

/// Returns the revocations of these rows. A kind that this version does not know is left out.
fn revocations(rows: Vec<Row>) -> Vec<Revocation> {
    let revocation = |row: Row| {
        Some(Revocation {
            kind: Kind::named(&row.kind?)?,
            subject: row.subject?,
            revoked_at: row.revoked_at?,
        })
    };
    rows.into_iter().filter_map(revocation).collect()
}

/// Returns whether fewer transactions had begun at one position than at another, which means that the database was replaced by an
/// older copy. Always false for positions on SQLite.
fn is_earlier(position: &str, than: &str) -> bool {
    let next_transaction = |snapshot: &str| snapshot.split(':').nth(1)?.parse::<u64>().ok();
    next_transaction(position) < next_transaction(than)
}

fn concerns_revocations(notification: &Notification) -> bool {
    match notification {
        Notification::RevocationsChanged | Notification::Missed => true,
        Notification::SigningKeysChanged(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_with_fewer_transactions_is_earlier() {
        assert!(is_earlier("90:95:", "90:100:92,93"));
        assert!(!is_earlier("90:100:92,93", "90:100:"));
        assert!(!is_earlier("90:101:", "90:100:"));
        assert!(!is_earlier("7", "9"));
    }
}
