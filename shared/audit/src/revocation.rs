//! Revocation: durable rows, and the [`RevocationMirror`] of them that every replica holds in memory, so that a
//! request costs no query.

use foundation::clock;
use foundation::clock::Timestamp;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use storage::db::{Db, Error, Tx, Version, Watch};
use storage::notifications::{Notification, Notifications};
use storage::{execute, fetch_all, sql};
use tokio::sync::Mutex;

sql! {
    // A row for each family of a user that was revoked at this moment, however many.
    DENY_FAMILIES = "INSERT INTO revocations (kind, subject, revoked_at, expires_at)
                     SELECT 'family', id, $2, $3 FROM families WHERE user_id = $1 AND revoked_at = $2
                     ON CONFLICT (kind, subject) DO NOTHING";
    DENY = "INSERT INTO revocations (kind, subject, revoked_at, expires_at) VALUES ($1, $2, $3, $4)
            ON CONFLICT (kind, subject) DO NOTHING";
    ALL = "SELECT kind, subject, revoked_at, expires_at FROM revocations WHERE expires_at > $1";
    RECENT = "SELECT kind, subject, revoked_at, expires_at FROM revocations WHERE revoked_at > $1";
    PRUNE = "DELETE FROM revocations WHERE expires_at <= $1";
}

/// How long a revocation is kept. The tokens it covers are dead after 600 s; the rest is for clocks that
/// jump and come back.
pub const KEPT: Duration = Duration::from_secs(48 * 3600);
/// How often the mirror re-reads without being told to: whoever revoked something may not have been able to
/// tell.
const POLL: Duration = Duration::from_millis(400);
/// A mirror older than this is re-read before it answers.
const FRESH: Duration = Duration::from_secs(1);
/// Each re-read goes back this far from the newest row that is known: a row may be committed long after its
/// time was taken, by a machine whose clock is behind. What this machine's clock says matters little.
const OVERLAP: Duration = Duration::from_secs(120);
/// A re-read at somebody's word goes back this far: what it misses, the next one has.
const NOTIFIED_OVERLAP: Duration = Duration::from_secs(5);
/// Words that come together are one.
const DEBOUNCE: Duration = Duration::from_millis(5);
/// After a pause longer than this (a stopped process, a lost database) everything is read anew.
const GAP: Duration = Duration::from_secs(30);
/// A read that takes longer has failed; those who wait for it fail with it.
const READ_TIMEOUT: Duration = Duration::from_secs(2);
/// The same for a read of everything.
const WHOLE_READ_TIMEOUT: Duration = Duration::from_secs(30);
/// How often what is over is looked for, and forgotten.
const SWEEP: Duration = Duration::from_secs(60);

/// What a revocation names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One access token, by its `jti`.
    Jti,
    /// All tokens of a user (`sub`).
    User,
    /// All tokens of a client (`client_id`).
    Client,
    /// All tokens of one grant (`grant_id`).
    Family,
    /// All tokens signed by one key (`kid`).
    Key,
}

const KINDS: [Kind; 5] = [Kind::Jti, Kind::User, Kind::Client, Kind::Family, Kind::Key];

impl Kind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Jti => "jti",
            Self::User => "user",
            Self::Client => "client",
            Self::Family => "family",
            Self::Key => "key",
        }
    }
}

/// A revocation that the caller's transaction wrote and that other processes do not know yet. Pass it to
/// [`RevocationMirror::announce`] after the commit; drop it where the transaction is rolled back.
#[derive(Debug)]
#[must_use = "announce the revocation after the commit: RevocationMirror::announce"]
pub struct PendingAnnouncement {
    is_due: bool,
}

impl PendingAnnouncement {
    /// The announcement of a transaction that revoked nothing.
    pub const fn none() -> Self {
        Self { is_due: false }
    }
}

/// Writes, in the caller's transaction, that no access token is accepted of the families of this user that
/// were revoked at `revoked_at`.
pub async fn deny_families(
    tx: &mut Tx,
    user_id: i64,
    revoked_at: Timestamp,
) -> Result<PendingAnnouncement, Error> {
    execute!(
        tx.on(),
        DENY_FAMILIES,
        user_id,
        revoked_at,
        revoked_at.after(KEPT)
    )?;
    Ok(PendingAnnouncement { is_due: true })
}

/// Writes, in the caller's transaction, that no access token signed by this key is accepted. For ever: who
/// has a copy of it can go on signing.
pub async fn deny_key(tx: &mut Tx, kid: &str, now: Timestamp) -> Result<PendingAnnouncement, Error> {
    let never = Timestamp::from_micros(i64::MAX);
    execute!(tx.on(), DENY, Kind::Key.as_str(), kid, now, never)?;
    Ok(PendingAnnouncement { is_due: true })
}

/// Deletes rows whose tokens have all expired.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, Error> {
    execute!(db.writer(), PRUNE, now)
}

/// What is revoked, in memory. Cheap to clone; the clones share one mirror.
#[derive(Clone, Debug)]
pub struct RevocationMirror(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    db: Db,
    notifications: Notifications,
    revoked: RwLock<HashMap<Kind, HashMap<String, Timestamp>>>,
    /// How the last reads went; the lock is held while one is under way.
    reads: Mutex<Reads>,
    fresh: RwLock<Option<Instant>>,
}

/// What was read, and when by the monotonic clock.
#[derive(Debug)]
struct Reads {
    watch: Watch,
    /// As it stood before the last read that went back all the way.
    version: Option<Version>,
    /// The latest `revoked_at` of all rows read.
    newest: Option<Timestamp>,
    complete_at: Option<Instant>,
    failed_at: Option<Instant>,
    swept_at: Instant,
}

/// What to read; more is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Extent {
    /// What another process has just written.
    Latest,
    /// What is not known yet.
    New,
    /// Everything.
    All,
}

#[derive(sqlx::FromRow)]
struct Row {
    kind: String,
    subject: String,
    revoked_at: Timestamp,
    expires_at: Timestamp,
}

impl RevocationMirror {
    /// A mirror of this database, not read yet.
    pub fn new(db: Db, notifications: Notifications) -> Self {
        let reads = Reads {
            watch: db.watch(),
            version: None,
            newest: None,
            complete_at: None,
            failed_at: None,
            swept_at: Instant::now(),
        };
        Self(Arc::new(Inner {
            db,
            notifications,
            revoked: RwLock::default(),
            reads: Mutex::new(reads),
            fresh: RwLock::default(),
        }))
    }

    /// Whether any of these is revoked. Re-reads first where the mirror is older than a second, and
    /// fails rather than guesses where it cannot.
    pub async fn any_revoked(&self, subjects: &[(Kind, &str)]) -> Result<bool, Error> {
        let read_at = *self.0.fresh.read().unwrap_or_else(PoisonError::into_inner);
        // Before the first read there is nothing to answer from: `follow` is at it.
        let read_at = read_at.ok_or_else(Error::timed_out)?;
        if read_at.elapsed() > FRESH {
            let since = Instant::now().checked_sub(FRESH).unwrap_or(read_at);
            let read = tokio::time::timeout(READ_TIMEOUT, self.catch_up(Extent::New, since)).await;
            read.unwrap_or_else(|_| Err(Error::timed_out()))?;
        }
        let revoked = self.0.revoked.read().unwrap_or_else(PoisonError::into_inner);
        Ok(subjects.iter().any(|(kind, subject)| {
            revoked
                .get(kind)
                .is_some_and(|subjects| subjects.contains_key(*subject))
        }))
    }

    /// Makes what was just revoked take effect: here now, in the other processes at once if they can be
    /// told, and else at their next look. Call it after the commit. What fails here is no failure of what
    /// was committed: a mirror that cannot be read answers nothing.
    pub async fn announce(&self, announcement: PendingAnnouncement) {
        if !announcement.is_due {
            return;
        }
        let now = Instant::now();
        let (read, ()) = tokio::join!(
            self.catch_up(Extent::New, now),
            self.0.notifications.publish(Notification::RevocationsChanged)
        );
        if let Err(error) = read {
            tracing::warn!(%error, "what was just revoked is not read yet");
        }
    }

    /// Reads everything, and then for ever what is new: at every word, and several times a second without
    /// one.
    pub async fn follow(self) {
        let mut messages = self.0.notifications.subscribe();
        let mut extent = Some(Extent::All);
        loop {
            if let Some(extent) = extent
                && let Err(error) = self.catch_up(extent, Instant::now()).await
            {
                tracing::warn!(%error, "cannot re-read the revocations");
            }
            tokio::time::sleep(DEBOUNCE).await;
            extent = match tokio::time::timeout(POLL, messages.next()).await {
                Err(_) => Some(Extent::New),
                Ok(word) => std::iter::successors(Some(word), |_| messages.try_next())
                    .filter_map(|word| extent_of(&word))
                    .max(),
            };
        }
    }

    /// One reader at a time. One that waited is content with a complete read that began after `since`, or
    /// fails with one that failed after it.
    async fn catch_up(&self, extent: Extent, since: Instant) -> Result<(), Error> {
        let mut reads = self.0.reads.lock().await;
        let is_later = |at: Option<Instant>| at.is_some_and(|at| at >= since);
        if extent != Extent::All && is_later(reads.complete_at) {
            return Ok(());
        }
        if is_later(reads.failed_at) {
            return Err(Error::timed_out());
        }
        let age = reads.complete_at.map(|at| at.elapsed());
        let extent = match extent {
            _ if age.is_none_or(|age| age > GAP) => Extent::All,
            // However many messages come, the other looks are not put off.
            Extent::Latest if age.is_some_and(|age| age > POLL) => Extent::New,
            extent => extent,
        };
        let limit = match extent {
            Extent::All => WHOLE_READ_TIMEOUT,
            Extent::New | Extent::Latest => READ_TIMEOUT,
        };
        let read = tokio::time::timeout(limit, self.read(extent, &mut reads)).await;
        let outcome = read.unwrap_or_else(|_| Err(Error::timed_out()));
        reads.failed_at = outcome.is_err().then(Instant::now);
        outcome
    }

    /// Reads as far back as is asked for.
    async fn read(&self, extent: Extent, reads: &mut Reads) -> Result<(), Error> {
        let (began, now) = (Instant::now(), clock::now());
        let version = reads.watch.version().await?;
        // Where no row is known, there are none to read again.
        let newest = reads.newest.unwrap_or(Timestamp::from_micros(0)).min(now);
        let db = self.0.db.reader();
        let rows = match extent {
            Extent::All => fetch_all!(db, Row, ALL, now)?,
            _ if version.is_some() && version == reads.version => Vec::new(),
            Extent::New => fetch_all!(db, Row, RECENT, newest.before(OVERLAP))?,
            Extent::Latest => fetch_all!(db, Row, RECENT, newest.before(NOTIFIED_OVERLAP))?,
        };
        self.take(rows, reads);
        if extent == Extent::Latest {
            // Not so far back that the mirror is known to be whole.
            return Ok(());
        }
        if reads.swept_at.elapsed() > SWEEP {
            self.sweep(now);
            reads.swept_at = began;
        }
        reads.version = version;
        reads.complete_at = Some(began);
        *self.0.fresh.write().unwrap_or_else(PoisonError::into_inner) = Some(began);
        Ok(())
    }

    fn take(&self, rows: Vec<Row>, reads: &mut Reads) {
        if rows.is_empty() {
            return;
        }
        let mut revoked = self.0.revoked.write().unwrap_or_else(PoisonError::into_inner);
        for row in rows {
            reads.newest = reads.newest.max(Some(row.revoked_at));
            if let Some(kind) = KINDS.into_iter().find(|kind| kind.as_str() == row.kind) {
                revoked
                    .entry(kind)
                    .or_default()
                    .insert(row.subject, row.expires_at);
            }
        }
    }

    /// Forgets what is over.
    fn sweep(&self, now: Timestamp) {
        let mut revoked = self.0.revoked.write().unwrap_or_else(PoisonError::into_inner);
        for subjects in revoked.values_mut() {
            subjects.retain(|_, expires_at| *expires_at > now);
        }
    }
}

/// What a word asks to read, if anything.
fn extent_of(word: &Notification) -> Option<Extent> {
    match word {
        Notification::RevocationsChanged => Some(Extent::Latest),
        Notification::Missed => Some(Extent::All),
        Notification::SigningKeysChanged(_) => None,
    }
}
