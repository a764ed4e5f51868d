//! Revocation of access tokens: rows in the database, the list in Redis, and the [`RevocationMirror`] that
//! holds them in the memory of every replica, so that verifying a token costs no query.

mod list;
mod list_maintenance;
mod mirror;
mod revoked_subjects;
mod rows;

pub use mirror::RevocationMirror;

use foundation::clock::Timestamp;
use foundation::names;
use std::fmt::Display;
use std::ops::{Deref, DerefMut};
use std::time::Duration;
use storage::db::{Array, Db, Error, Tx};
use storage::{delete_expired, execute, fetch_one, sql};

sql! {
    REVOKE = "INSERT INTO revocations (kind, subject, revoked_at, expires_at, client_id) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (kind, subject) DO NOTHING";
    REVOKE_FAMILIES_SQLITE = "INSERT INTO revocations (kind, subject, revoked_at, expires_at)
            SELECT 'family', value, $2, $3 FROM json_each($1) WHERE true
            ON CONFLICT (kind, subject) DO NOTHING";
    REVOKE_FAMILIES_POSTGRES = "INSERT INTO revocations (kind, subject, revoked_at, expires_at)
            SELECT 'family', value, $2, $3 FROM unnest($1::TEXT[]) AS families (value)
            ON CONFLICT (kind, subject) DO NOTHING";
    HAS_REVOKED_MANY = "SELECT EXISTS (SELECT 1 FROM revocations WHERE client_id = $1 AND expires_at > $2
                                       LIMIT 1 OFFSET $3)";
    PRUNE = delete_expired!("revocations", "id");
}

/// The time for which the revocation of all tokens of a user or a client is kept. The access tokens it covers
/// expire within 600 s. The margin covers clocks that are wrong for a while.
pub const RETENTION: Duration = Duration::from_secs(48 * 3600);
/// The time for which the revocation of one token is kept after the `exp` of the token: the clock of the
/// process that deletes the row may be 30 s ahead of that of the database, and the clock of one that still
/// accepts the token 30 s behind it.
const CLOCK_ALLOWANCE: Duration = Duration::from_secs(60);
/// The longest time that an access token can be accepted after its revocation, and a margin for tokens that
/// are issued meanwhile: the tokens live for 600 s at most.
const LONGEST_LIFETIME: Duration = Duration::from_secs(600 + CLOCK_ALLOWANCE.as_secs());
/// The number of single tokens that a client may revoke within their lifetime before it ends whole families
/// instead.
const MAX_REVOKED_TOKENS: i64 = 1_000;

/// The claim by which a revocation selects access tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One access token, by its `jti`.
    Jti,
    /// All tokens of a user that belong to an epoch which has ended: `sub` and `user_epoch`.
    User,
    /// All tokens of a client that belong to an epoch which has ended: `client_id` and `client_epoch`.
    Client,
    /// All tokens of one family: its id is the claim `grant_id`.
    Family,
    /// All tokens signed by one key (`kid`).
    Key,
}

// The names in the column `kind`.
names!(Kind: Jti = "jti", User = "user", Client = "client", Family = "family", Key = "key");

impl Kind {
    /// Returns the time until which a process keeps a revocation of this kind that it read at `now`, if it
    /// does not know the row.
    fn expires_at(self, now: Timestamp) -> Timestamp {
        match self {
            // A refresh token of a family is refused by the family's own row.
            Self::Jti | Self::Family => now.after(LONGEST_LIFETIME),
            Self::User | Self::Client => now.after(RETENTION),
            // A holder of a copied key can sign new tokens at any time.
            Self::Key => Timestamp::from_micros(i64::MAX),
        }
    }

    /// Parses the text `KIND:SUBJECT` of the list in Redis. Returns `None` if this version has no kind with
    /// this name.
    fn parse_subject(text: &str) -> Option<(Self, String)> {
        let (kind, subject) = text.split_once(':')?;
        Some((Self::named(kind)?, subject.to_owned()))
    }
}

/// A transaction that can revoke access tokens. Its commit announces the revocations that were written in it.
/// If it is dropped, it is rolled back, and nothing is announced.
#[derive(Debug)]
pub struct RevokingTx {
    tx: Tx,
    mirror: RevocationMirror,
    revocations: Vec<Revocation>,
}

/// A revocation of all access tokens with one subject.
#[derive(Clone, Debug)]
struct Revocation {
    kind: Kind,
    subject: String,
    revoked_at: Timestamp,
    /// The time at which its row may be deleted.
    expires_at: Timestamp,
}

impl Revocation {
    /// Returns the revocation of all tokens with this subject that are issued until `now`.
    fn new(kind: Kind, subject: String, now: Timestamp) -> Self {
        Self {
            kind,
            subject,
            revoked_at: now,
            expires_at: kind.expires_at(now),
        }
    }
}

impl RevokingTx {
    /// Begins a transaction that can revoke. `mirror` announces its revocations. Fails as [`Db::begin`] does.
    pub async fn begin(db: &Db, mirror: &RevocationMirror) -> Result<Self, Error> {
        Ok(Self::new(db.begin().await?, mirror))
    }

    /// Makes `tx` a transaction that can revoke. `mirror` announces its revocations.
    pub fn new(tx: Tx, mirror: &RevocationMirror) -> Self {
        Self {
            tx,
            mirror: mirror.clone(),
            revocations: Vec::new(),
        }
    }

    /// Returns whether anything was revoked in this transaction.
    pub const fn has_revoked(&self) -> bool {
        !self.revocations.is_empty()
    }

    /// Commits the transaction, as [`Tx::commit`] does, then announces its revocations to every process. A
    /// failed commit announces none.
    pub async fn commit(self) -> Result<(), Error> {
        self.tx.commit().await?;
        self.mirror.announce(&self.revocations).await;
        Ok(())
    }
}

impl Deref for RevokingTx {
    type Target = Tx;

    fn deref(&self) -> &Tx {
        &self.tx
    }
}

impl DerefMut for RevokingTx {
    fn deref_mut(&mut self) -> &mut Tx {
        &mut self.tx
    }
}

/// Returns the subject of a revocation of all tokens of a user or a client, by its id, in an epoch.
pub fn epoch_subject(id: impl Display, epoch: i64) -> String {
    format!("{id}.{epoch}")
}

/// Revokes, in the caller's transaction, all access tokens of a user or a client that belong to this epoch:
/// `kind` is [`Kind::User`] or [`Kind::Client`], and `id` is that of the user or the client. The caller has
/// begun the next epoch.
pub async fn revoke_epoch(
    tx: &mut RevokingTx,
    kind: Kind,
    id: impl Display,
    epoch: i64,
    now: Timestamp,
) -> Result<(), Error> {
    revoke(tx, Revocation::new(kind, epoch_subject(id, epoch), now), None).await
}

/// Revokes, in the caller's transaction, the access tokens of the refresh token families with these ids.
pub async fn revoke_families(tx: &mut RevokingTx, ids: Vec<String>, now: Timestamp) -> Result<(), Error> {
    let sql = tx.on().choose(REVOKE_FAMILIES_SQLITE, REVOKE_FAMILIES_POSTGRES);
    let families = Array::of(&ids, String::as_str);
    execute!(tx.on(), sql, families, now, Kind::Family.expires_at(now))?;
    let revocations = ids.into_iter().map(|id| Revocation::new(Kind::Family, id, now));
    tx.revocations.extend(revocations);
    Ok(())
}

/// Returns whether this client has revoked so many single tokens that have not expired, 1,000, that it must
/// end the families of further ones: every process holds each revoked token in its memory, and a family has
/// any number of them.
pub async fn has_revoked_many_tokens(tx: &mut Tx, client_id: &str, now: Timestamp) -> Result<bool, Error> {
    let (has_many,) = fetch_one!(
        tx.on(),
        (bool,),
        HAS_REVOKED_MANY,
        client_id,
        now,
        MAX_REVOKED_TOKENS - 1
    )?;
    Ok(has_many)
}

/// Revokes, in the caller's transaction, the access token with this `jti`, which was issued to the client
/// `client_id` and expires at `expires_at`.
pub async fn revoke_token(
    tx: &mut RevokingTx,
    jti: &str,
    client_id: &str,
    expires_at: Timestamp,
    now: Timestamp,
) -> Result<(), Error> {
    let revocation = Revocation {
        expires_at: expires_at.after(CLOCK_ALLOWANCE),
        ..Revocation::new(Kind::Jti, jti.to_owned(), now)
    };
    revoke(tx, revocation, Some(client_id)).await
}

/// Revokes, in the caller's transaction, all access tokens signed by this key. The revocation never expires,
/// because a holder of a copied key can sign new tokens at any time.
pub async fn revoke_key(tx: &mut RevokingTx, kid: &str, now: Timestamp) -> Result<(), Error> {
    revoke(tx, Revocation::new(Kind::Key, kid.to_owned(), now), None).await
}

/// Writes the row of a revocation, with the client whose single token it revokes.
async fn revoke(tx: &mut RevokingTx, revocation: Revocation, client_id: Option<&str>) -> Result<(), Error> {
    execute!(
        tx.on(),
        REVOKE,
        revocation.kind.as_str(),
        revocation.subject.as_str(),
        revocation.revoked_at,
        revocation.expires_at,
        client_id,
    )?;
    tx.revocations.push(revocation);
    Ok(())
}

/// Returns every SQL statement of this crate with its name, for the test that prepares each on both engines.
pub fn statements() -> Vec<(String, String)> {
    let constant = [STATEMENTS, rows::STATEMENTS].into_iter().flatten();
    constant
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect()
}

/// Deletes expired revocations and returns their number.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, Error> {
    db.prune(PRUNE, now).await
}
