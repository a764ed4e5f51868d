//! Revocation of access tokens: rows in the database, the list in Redis, and the [`RevocationMirror`] that holds them in the memory
//! of every replica, so that verifying a token costs no query.

mod list;
mod list_maintenance;
mod mirror;
mod revoked_subjects;
pub(crate) mod rows;

pub use mirror::RevocationMirror;

use foundation::clock::Timestamp;
use std::fmt::Display;
use std::time::Duration;
use storage::db::{Db, Error, Tx};
use storage::{delete_expired, execute, sql};

sql! {
    REVOKE = "INSERT INTO revocations (kind, subject, revoked_at, expires_at) VALUES ($1, $2, $3, $4)
            ON CONFLICT (kind, subject) DO NOTHING";
    REVOKE_FAMILIES_SQLITE = "INSERT INTO revocations (kind, subject, revoked_at, expires_at)
            SELECT 'family', value, $2, $3 FROM json_each($1) WHERE true
            ON CONFLICT (kind, subject) DO NOTHING";
    REVOKE_FAMILIES_POSTGRES = "INSERT INTO revocations (kind, subject, revoked_at, expires_at)
            SELECT 'family', value, $2, $3 FROM json_array_elements_text($1::json) AS families (value)
            ON CONFLICT (kind, subject) DO NOTHING";
    PRUNE = delete_expired!("revocations", "id", "expires_at + 0");
}

/// The time for which a revocation is kept. The access tokens it covers expire within 600 s. The margin covers clocks
/// that are wrong for a while.
pub const RETENTION: Duration = Duration::from_secs(48 * 3600);

/// The claim by which a revocation selects access tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One access token, by its `jti`.
    Jti,
    /// All tokens of a user that belong to an epoch which has ended: `sub` and `user_epoch`.
    User,
    /// All tokens of a client that belong to an epoch which has ended: `client_id` and `client_epoch`.
    Client,
    /// All tokens of one grant (`grant_id`).
    Family,
    /// All tokens signed by one key (`kid`).
    Key,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Jti, Self::User, Self::Client, Self::Family, Self::Key];

    /// Returns the kind with this name.
    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Parses the text `KIND:SUBJECT` of the list in Redis. Returns `None` if this version has no kind with this name.
    fn parse_subject(text: &str) -> Option<(Self, String)> {
        let (kind, subject) = text.split_once(':')?;
        Some((Self::named(kind)?, subject.to_owned()))
    }

    /// Returns the name in the column `kind`.
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
/// [`RevocationMirror::announce`] after the commit; drop it if the transaction is rolled back.
#[derive(Debug)]
#[must_use = "announce the revocation after the commit: RevocationMirror::announce"]
pub struct PendingAnnouncement {
    revocations: Vec<Revocation>,
}

/// A revocation of all access tokens with one subject.
#[derive(Clone, Debug)]
struct Revocation {
    kind: Kind,
    subject: String,
    revoked_at: Timestamp,
}

impl PendingAnnouncement {
    /// Returns the announcement of a transaction that revoked nothing.
    pub const fn none() -> Self {
        Self {
            revocations: Vec::new(),
        }
    }

    fn new(kind: Kind, subjects: impl IntoIterator<Item = String>, revoked_at: Timestamp) -> Self {
        let revocation = |subject| Revocation {
            kind,
            subject,
            revoked_at,
        };
        Self {
            revocations: subjects.into_iter().map(revocation).collect(),
        }
    }
}

/// Returns the subject of a revocation of all tokens of a user or a client, by its id, in an epoch.
pub fn epoch_subject(id: impl Display, epoch: i64) -> String {
    format!("{id}.{epoch}")
}

/// Revokes, in the caller's transaction, all access tokens of a user or a client that belong to this epoch: `kind` is
/// [`Kind::User`] or [`Kind::Client`], and `id` is that of the user or the client. The caller has begun the next epoch.
pub async fn revoke_epoch(
    tx: &mut Tx,
    kind: Kind,
    id: impl Display,
    epoch: i64,
    now: Timestamp,
) -> Result<PendingAnnouncement, Error> {
    revoke(tx, kind, epoch_subject(id, epoch), now, now.after(RETENTION)).await
}

/// Revokes, in the caller's transaction, the access tokens of the refresh token families with these ids.
pub async fn revoke_families(
    tx: &mut Tx,
    ids: Vec<String>,
    now: Timestamp,
) -> Result<PendingAnnouncement, Error> {
    let sql = tx.on().choose(REVOKE_FAMILIES_SQLITE, REVOKE_FAMILIES_POSTGRES);
    let json = serde_json::json!(ids).to_string();
    execute!(tx.on(), sql, json, now, now.after(RETENTION))?;
    Ok(PendingAnnouncement::new(Kind::Family, ids, now))
}

/// Revokes, in the caller's transaction, the access token with this `jti`.
pub async fn revoke_token(tx: &mut Tx, jti: &str, now: Timestamp) -> Result<PendingAnnouncement, Error> {
    revoke(tx, Kind::Jti, jti.to_owned(), now, now.after(RETENTION)).await
}

/// Revokes, in the caller's transaction, all access tokens signed by this key. The revocation never expires, because
/// a holder of a copied key can sign new tokens at any time.
pub async fn revoke_key(tx: &mut Tx, kid: &str, now: Timestamp) -> Result<PendingAnnouncement, Error> {
    let never = Timestamp::from_micros(i64::MAX);
    revoke(tx, Kind::Key, kid.to_owned(), now, never).await
}

async fn revoke(
    tx: &mut Tx,
    kind: Kind,
    subject: String,
    now: Timestamp,
    expires_at: Timestamp,
) -> Result<PendingAnnouncement, Error> {
    execute!(tx.on(), REVOKE, kind.as_str(), subject.as_str(), now, expires_at)?;
    Ok(PendingAnnouncement::new(kind, [subject], now))
}

/// Deletes expired revocations and returns their number.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, Error> {
    db.prune(PRUNE, now).await
}
