//! Revocation: one verb ([`revoke`]) that writes a durable row, and the [`Mirror`] of those rows that
//! every replica holds in memory, so that a request costs no query.

use crate::clock::{self, Timestamp};
use crate::db::{Db, Error, Tx};
use crate::{execute, fetch_all, sql};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

sql! {
    UPSERT = "INSERT INTO revocations (kind, subject, revoked_at, expires_at) VALUES ($1, $2, $3, $4)
              ON CONFLICT (kind, subject) DO UPDATE
              SET revoked_at = excluded.revoked_at, expires_at = excluded.expires_at";
    ALL = "SELECT kind, subject, expires_at FROM revocations WHERE expires_at > $1";
    RECENT = "SELECT kind, subject, expires_at FROM revocations WHERE revoked_at > $1";
    PRUNE = "DELETE FROM revocations WHERE expires_at <= $1";
}

/// How often the mirror re-reads, so that what another process wrote is known well within a second.
const POLL: Duration = Duration::from_millis(200);
/// A mirror older than this is re-read before it answers.
const FRESH: Duration = Duration::from_secs(1);
/// Each re-read goes back this far: a row may be committed long after its time was taken, by a machine
/// whose clock is behind.
const OVERLAP: Duration = Duration::from_secs(120);

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

/// Writes, in the caller's transaction, that no token of `subject` is accepted any more. The row is kept
/// until `expires_at`, when the last such token has expired by itself.
pub async fn revoke(
    tx: &mut Tx,
    kind: Kind,
    subject: &str,
    now: Timestamp,
    expires_at: Timestamp,
) -> Result<(), Error> {
    execute!(tx.on(), UPSERT, kind.as_str(), subject, now, expires_at).map(|_| ())
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
    revoked: RwLock<HashMap<Kind, HashMap<String, Timestamp>>>,
    /// Monotonic time of the last complete read; the lock is held while one is under way.
    read_at: Mutex<Option<Instant>>,
    fresh: RwLock<Option<Instant>>,
}

#[derive(sqlx::FromRow)]
struct Row {
    kind: String,
    subject: String,
    expires_at: Timestamp,
}

impl Mirror {
    /// A mirror of this database, not read yet.
    pub fn new(db: Db) -> Self {
        Self(Arc::new(Inner {
            db,
            revoked: RwLock::default(),
            read_at: Mutex::default(),
            fresh: RwLock::default(),
        }))
    }

    /// Whether any of these is revoked. Re-reads first where the mirror is older than a second, and
    /// fails rather than guesses where it cannot.
    pub async fn any_revoked(&self, subjects: &[(Kind, &str)]) -> Result<bool, Error> {
        let read_at = *self.0.fresh.read().unwrap_or_else(PoisonError::into_inner);
        if read_at.is_none_or(|at| at.elapsed() > FRESH) {
            self.catch_up(Some(FRESH)).await?;
        }
        let revoked = self.0.revoked.read().unwrap_or_else(PoisonError::into_inner);
        Ok(subjects.iter().any(|(kind, subject)| {
            revoked
                .get(kind)
                .is_some_and(|subjects| subjects.contains_key(*subject))
        }))
    }

    /// Reads what was revoked since the last time; call it after a commit that revoked something.
    pub async fn refresh(&self) -> Result<(), Error> {
        self.catch_up(None).await
    }

    /// Re-reads for ever, several times a second.
    pub async fn follow(self) {
        loop {
            tokio::time::sleep(POLL).await;
            if let Err(error) = self.refresh().await {
                tracing::warn!(%error, "cannot re-read the revocations");
            }
        }
    }

    /// One reader at a time; one that waited is content with what another read if `enough` says so.
    async fn catch_up(&self, enough: Option<Duration>) -> Result<(), Error> {
        let mut read_at = self.0.read_at.lock().await;
        if let (Some(at), Some(enough)) = (*read_at, enough)
            && at.elapsed() <= enough
        {
            return Ok(());
        }
        let began = Instant::now();
        let now = clock::now();
        let rows = match *read_at {
            None => fetch_all!(self.0.db.reader(), Row, ALL, now)?,
            Some(_) => fetch_all!(self.0.db.reader(), Row, RECENT, now.before(OVERLAP))?,
        };
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
        drop(revoked);
        *read_at = Some(began);
        *self.0.fresh.write().unwrap_or_else(PoisonError::into_inner) = Some(began);
        Ok(())
    }
}
