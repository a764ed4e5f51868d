//! Writing revocations, in a transaction whose commit announces them.

use crate::kind::{CLOCK_ALLOWANCE, Kind, Revocation, epoch_subject};
use crate::mirror::RevocationMirror;
use foundation::clock::Timestamp;
use std::fmt::Display;
use std::ops::{Deref, DerefMut};
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
    PRUNE = delete_expired!("revocations");
}

/// The number of single tokens that a client may revoke within their lifetime before it ends whole families
/// instead.
const MAX_REVOKED_TOKENS: i64 = 1_000;

/// A transaction that can revoke access tokens. Its commit announces the revocations that were written in it.
/// If it is dropped, it is rolled back, and nothing is announced.
#[derive(Debug)]
pub struct RevokingTx {
    tx: Tx,
    mirror: RevocationMirror,
    revocations: Vec<Revocation>,
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
    let (on, others) = (tx.on(), MAX_REVOKED_TOKENS - 1);
    let (has_many,) = fetch_one!(on, (bool,), HAS_REVOKED_MANY, client_id, now, others)?;
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
    let (kind, subject) = (revocation.kind.as_str(), revocation.subject.as_str());
    let (at, end) = (revocation.revoked_at, revocation.expires_at);
    execute!(tx.on(), REVOKE, kind, subject, at, end, client_id)?;
    tx.revocations.push(revocation);
    Ok(())
}

/// Deletes expired revocations and returns their number.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, Error> {
    db.prune(PRUNE, now).await
}
