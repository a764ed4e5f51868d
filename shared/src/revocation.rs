//! Revocation: durable rows, and the [`Mirror`] of them that every replica holds in memory, so that a
//! request costs no query.

use crate::clock::{self, Timestamp};
use crate::db::{Db, Error, Tx, Version, Watch};
use crate::feed::{Feed, Word};
use crate::{execute, fetch_all, sql};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

sql! {
    // A row for each family of a user that was revoked at this moment, however many.
    DENY_FAMILIES = "INSERT INTO revocations (kind, subject, revoked_at, expires_at)
                     SELECT 'family', id, $2, $3 FROM families WHERE user_id = $1 AND revoked_at = $2
                     ON CONFLICT (kind, subject) DO NOTHING";
    DENY = "INSERT INTO revocations (kind, subject, revoked_at, expires_at) VALUES ($1, $2, $3, $4)
            ON CONFLICT (kind, subject) DO NOTHING";
    ALL = "SELECT kind, subject, expires_at FROM revocations WHERE expires_at > $1";
    RECENT = "SELECT kind, subject, expires_at FROM revocations WHERE revoked_at > $1";
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
/// Each re-read goes back this far: a row may be committed long after its time was taken, by a machine
/// whose clock is behind.
const OVERLAP: Duration = Duration::from_secs(120);
/// A re-read at somebody's word goes back this far: what it misses, the next one has.
const WORD_OVERLAP: Duration = Duration::from_secs(5);
/// Words that come together are one.
const BREATH: Duration = Duration::from_millis(5);
/// After a pause longer than this (a stopped process, a lost database) everything is read anew.
const GAP: Duration = Duration::from_secs(30);
/// A read that takes longer has failed; those who wait for it fail with it.
const READ_TIMEOUT: Duration = Duration::from_secs(2);

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

/// Writes, in the caller's transaction, that no access token is accepted of the families of this user that
/// were revoked at `revoked_at`.
pub async fn deny_families(tx: &mut Tx, user_id: i64, revoked_at: Timestamp) -> Result<(), Error> {
    execute!(
        tx.on(),
        DENY_FAMILIES,
        user_id,
        revoked_at,
        revoked_at.after(KEPT)
    )
    .map(|_| ())
}

/// Writes, in the caller's transaction, that no access token signed by this key is accepted. For ever: who
/// has a copy of it can go on signing.
pub async fn deny_key(tx: &mut Tx, kid: &str, now: Timestamp) -> Result<(), Error> {
    let never = Timestamp::from_micros(i64::MAX);
    execute!(tx.on(), DENY, Kind::Key.as_str(), kid, now, never).map(|_| ())
}

/// Deletes rows whose tokens have all expired.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, Error> {
    execute!(db.writer(), PRUNE, now)
}

/// What is revoked, in memory. Cheap to clone; the clones share one mirror.
#[derive(Clone, Debug)]
pub struct Mirror(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    db: Db,
    feed: Feed,
    revoked: RwLock<HashMap<Kind, HashMap<String, Timestamp>>>,
    /// How the last reads went; the lock is held while one is under way.
    reads: Mutex<Reads>,
    fresh: RwLock<Option<Instant>>,
}

/// Monotonic times of reads.
#[derive(Debug)]
struct Reads {
    watch: Watch,
    /// As it stood before the last read that went back all the way.
    version: Option<Version>,
    complete_at: Option<Instant>,
    failed_at: Option<Instant>,
}

/// What to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// What is not known yet.
    New,
    /// What another process has just written.
    Latest,
    /// Everything.
    All,
}

#[derive(sqlx::FromRow)]
struct Row {
    kind: String,
    subject: String,
    expires_at: Timestamp,
}

impl Mirror {
    /// A mirror of this database, not read yet.
    pub fn new(db: Db, feed: Feed) -> Self {
        let reads = Reads {
            watch: db.watch(),
            version: None,
            complete_at: None,
            failed_at: None,
        };
        Self(Arc::new(Inner {
            db,
            feed,
            revoked: RwLock::default(),
            reads: Mutex::new(reads),
            fresh: RwLock::default(),
        }))
    }

    /// Whether any of these is revoked. Re-reads first where the mirror is older than a second, and
    /// fails rather than guesses where it cannot.
    pub async fn any_revoked(&self, subjects: &[(Kind, &str)]) -> Result<bool, Error> {
        let read_at = *self.0.fresh.read().unwrap_or_else(PoisonError::into_inner);
        if read_at.is_none_or(|at| at.elapsed() > FRESH) {
            self.catch_up(Extent::New, Some(FRESH)).await?;
        }
        let revoked = self.0.revoked.read().unwrap_or_else(PoisonError::into_inner);
        Ok(subjects.iter().any(|(kind, subject)| {
            revoked
                .get(kind)
                .is_some_and(|subjects| subjects.contains_key(*subject))
        }))
    }

    /// Makes what was just revoked take effect: here now, in the other processes at once if they can be
    /// told, and else at their next look. Call it after the commit.
    pub async fn announce(&self) -> Result<(), Error> {
        let read = self.catch_up(Extent::New, None).await;
        self.0.feed.say(Word::Revoked).await;
        read
    }

    /// Re-reads for ever: at every word, and several times a second without one.
    pub async fn follow(self) {
        let mut words = self.0.feed.listen();
        loop {
            let extent = match tokio::time::timeout(POLL, words.next()).await {
                Err(_) => Extent::New,
                Ok(Word::Revoked) => Extent::Latest,
                Ok(Word::Missed) => Extent::All,
                Ok(Word::Keys(_)) => continue,
            };
            if let Err(error) = self.catch_up(extent, None).await {
                tracing::warn!(%error, "cannot re-read the revocations");
            }
            tokio::time::sleep(BREATH).await;
        }
    }

    /// One reader at a time; one that waited is content with what another read, or fails as it did, if
    /// that is no older than `enough`.
    async fn catch_up(&self, extent: Extent, enough: Option<Duration>) -> Result<(), Error> {
        let mut reads = self.0.reads.lock().await;
        if let Some(enough) = enough {
            let is_recent = |at: Option<Instant>| at.is_some_and(|at| at.elapsed() <= enough);
            if is_recent(reads.complete_at) {
                return Ok(());
            }
            if is_recent(reads.failed_at) {
                return Err(Error::timed_out());
            }
        }
        let read = tokio::time::timeout(READ_TIMEOUT, self.read(extent, &mut reads)).await;
        let outcome = read.unwrap_or_else(|_| Err(Error::timed_out()));
        reads.failed_at = outcome.is_err().then(Instant::now);
        outcome
    }

    /// Reads as far back as is asked for, and everything where the last complete read is long ago.
    async fn read(&self, extent: Extent, reads: &mut Reads) -> Result<(), Error> {
        let (began, now) = (Instant::now(), clock::now());
        let version = reads.watch.version().await?;
        let is_continued = reads.complete_at.is_some_and(|at| at.elapsed() <= GAP);
        let db = self.0.db.reader();
        let rows = match extent {
            _ if !is_continued => fetch_all!(db, Row, ALL, now)?,
            Extent::All => fetch_all!(db, Row, ALL, now)?,
            _ if version.is_some() && version == reads.version => Vec::new(),
            Extent::New => fetch_all!(db, Row, RECENT, now.before(OVERLAP))?,
            Extent::Latest => {
                let rows = fetch_all!(db, Row, RECENT, now.before(WORD_OVERLAP))?;
                self.take(rows, now);
                // Not so far back that the mirror is known to be whole.
                return Ok(());
            }
        };
        self.take(rows, now);
        reads.version = version;
        reads.complete_at = Some(began);
        *self.0.fresh.write().unwrap_or_else(PoisonError::into_inner) = Some(began);
        Ok(())
    }

    /// Takes rows in, and forgets those that are over.
    fn take(&self, rows: Vec<Row>, now: Timestamp) {
        let mut revoked = self.0.revoked.write().unwrap_or_else(PoisonError::into_inner);
        for row in rows {
            if let Some(kind) = KINDS.into_iter().find(|kind| kind.as_str() == row.kind) {
                revoked
                    .entry(kind)
                    .or_default()
                    .insert(row.subject, row.expires_at);
            }
        }
        for subjects in revoked.values_mut() {
            subjects.retain(|_, expires_at| *expires_at > now);
        }
    }
}
