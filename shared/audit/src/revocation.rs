//! Revocation of access tokens: rows in the database, and the [`RevocationMirror`] that holds them in the memory of
//! every replica, so that verifying a token costs no query.

pub(crate) mod mirror;

pub use mirror::RevocationMirror;

use foundation::clock::Timestamp;
use std::time::Duration;
use storage::db::{Db, Error, Tx};
use storage::notifications::{Notification, Notifications};
use storage::{execute, sql};

/// Returns the text of the statement that revokes the access tokens of the families with this condition.
macro_rules! revoke_families {
    ($condition:literal) => {
        concat!(
            "INSERT INTO revocations (kind, subject, revoked_at, expires_at)
             SELECT 'family', id, $2, $3 FROM refresh_families WHERE ",
            $condition,
            " AND revoked_at = $2
             ON CONFLICT (kind, subject) DO NOTHING"
        )
    };
}

sql! {
    // One row for each family of the user $1, or of the client $1, whose `revoked_at` is $2.
    REVOKE_FAMILIES_OF_USER = revoke_families!("user_id = $1");
    REVOKE_FAMILIES_OF_CLIENT = revoke_families!("client_id = $1");
    REVOKE = "INSERT INTO revocations (kind, subject, revoked_at, expires_at) VALUES ($1, $2, $3, $4)
            ON CONFLICT (kind, subject) DO NOTHING";
    PRUNE = "DELETE FROM revocations WHERE expires_at <= $1";
}

/// The time for which a revocation is kept. The access tokens it covers expire within 600 s. The margin covers clocks
/// that are wrong for a while.
pub const RETENTION: Duration = Duration::from_secs(48 * 3600);

/// The claim by which a revocation selects access tokens.
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

impl Kind {
    const ALL: [Self; 5] = [Self::Jti, Self::User, Self::Client, Self::Family, Self::Key];

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
    is_due: bool,
}

impl PendingAnnouncement {
    /// Returns the announcement of a transaction that revoked nothing.
    pub const fn none() -> Self {
        Self { is_due: false }
    }

    /// Notifies every process, for a caller that has no [`RevocationMirror`]. Call it after the commit.
    pub async fn publish(self, notifications: &Notifications) {
        if self.is_due {
            notifications.publish(Notification::RevocationsChanged).await;
        }
    }
}

/// The user or the client to which refresh token families belong.
#[derive(Clone, Copy, Debug)]
pub enum FamilyOwner<'a> {
    /// The user with this id.
    User(i64),
    /// The client with this id.
    Client(&'a str),
}

/// Revokes, in the caller's transaction, the access tokens of those refresh token families of the owner whose revocation
/// time is exactly `revoked_at`: the caller revoked the families with this time before.
pub async fn revoke_families(
    tx: &mut Tx,
    owner: FamilyOwner<'_>,
    revoked_at: Timestamp,
) -> Result<PendingAnnouncement, Error> {
    let expires_at = revoked_at.after(RETENTION);
    match owner {
        FamilyOwner::User(id) => execute!(tx.on(), REVOKE_FAMILIES_OF_USER, id, revoked_at, expires_at)?,
        FamilyOwner::Client(id) => execute!(tx.on(), REVOKE_FAMILIES_OF_CLIENT, id, revoked_at, expires_at)?,
    };
    Ok(PendingAnnouncement { is_due: true })
}

/// Revokes, in the caller's transaction, the access tokens with this `grant_id`.
pub async fn revoke_grant(tx: &mut Tx, grant_id: &str, now: Timestamp) -> Result<PendingAnnouncement, Error> {
    let expires_at = now.after(RETENTION);
    execute!(tx.on(), REVOKE, Kind::Family.as_str(), grant_id, now, expires_at)?;
    Ok(PendingAnnouncement { is_due: true })
}

/// Revokes, in the caller's transaction, the access token with this `jti`.
pub async fn revoke_token(tx: &mut Tx, jti: &str, now: Timestamp) -> Result<PendingAnnouncement, Error> {
    let expires_at = now.after(RETENTION);
    execute!(tx.on(), REVOKE, Kind::Jti.as_str(), jti, now, expires_at)?;
    Ok(PendingAnnouncement { is_due: true })
}

/// Revokes, in the caller's transaction, all access tokens signed by this key. The revocation never expires, because
/// a holder of a copied key can sign new tokens at any time.
pub async fn revoke_key(tx: &mut Tx, kid: &str, now: Timestamp) -> Result<PendingAnnouncement, Error> {
    let never = Timestamp::from_micros(i64::MAX);
    execute!(tx.on(), REVOKE, Kind::Key.as_str(), kid, now, never)?;
    Ok(PendingAnnouncement { is_due: true })
}

/// Deletes expired revocations and returns their number.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, Error> {
    execute!(db.writer(), PRUNE, now)
}
