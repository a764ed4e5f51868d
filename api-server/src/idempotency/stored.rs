//! The table of answers.

use super::{Claim, Error};
use serde::Serialize;
use shared::clock::Timestamp;
use shared::db::sqlx::{PgExecutor, SqliteExecutor};
use shared::db::{self, Db, Engine, Tx};
use shared::{execute, fetch_optional, sql};

/// Rows that one statement deletes at most: none of them holds up other writes for long.
const BATCH: u64 = 500;

sql! {
    FIND = "SELECT fingerprint, status, location, etag, body FROM idempotency_keys
            WHERE id = $1 AND expires_at > $2";
    // One that has expired and is not deleted yet is as good as none.
    SAVE = "INSERT INTO idempotency_keys (id, user_id, fingerprint, status, location, etag, body, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            ON CONFLICT (id) DO UPDATE
            SET fingerprint = excluded.fingerprint, status = excluded.status, location = excluded.location,
                etag = excluded.etag, body = excluded.body, expires_at = excluded.expires_at
            WHERE idempotency_keys.expires_at <= $9";
    FORGET = "DELETE FROM idempotency_keys WHERE user_id = $1";
    PRUNE = "DELETE FROM idempotency_keys
             WHERE id IN (SELECT id FROM idempotency_keys WHERE expires_at <= $1 LIMIT $2)";
}

/// The answer to a write that succeeded.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub(crate) struct Reply {
    /// The status code.
    #[sqlx(try_from = "i64")]
    pub(crate) status: u16,
    /// Where what was made is, without the prefix of a version.
    pub(crate) location: String,
    /// Its entity tag, if it has one.
    pub(crate) etag: Option<String>,
    /// The body, JSON.
    pub(crate) body: String,
}

#[derive(sqlx::FromRow)]
struct Row {
    fingerprint: Vec<u8>,
    #[sqlx(flatten)]
    reply: Reply,
}

impl Reply {
    /// 201, with this record as its body.
    pub(crate) fn created(location: String, record: &impl Serialize) -> Result<Self, Error> {
        Ok(Self {
            status: 201,
            location,
            etag: None,
            body: serde_json::to_string(record)?,
        })
    }

    /// The same with the record's entity tag.
    pub(crate) fn tagged(mut self, etag: String) -> Self {
        self.etag = Some(etag);
        self
    }
}

/// The answer that is stored for a claim.
pub(super) async fn find(
    on: Engine<impl SqliteExecutor<'_>, impl PgExecutor<'_>>,
    claim: &Claim,
    now: Timestamp,
) -> Result<Option<Reply>, Error> {
    match fetch_optional!(on, Row, FIND, claim.id(), now)? {
        None => Ok(None),
        Some(row) if row.fingerprint == claim.fingerprint => Ok(Some(row.reply)),
        Some(_) => Err(Error::Reused),
    }
}

/// Stores the answer to what the transaction writes. The key is unique: whatever raced, one transaction
/// with it is committed.
pub(super) async fn save(
    tx: &mut Tx,
    claim: &Claim,
    reply: &Reply,
    now: Timestamp,
    expires_at: Timestamp,
) -> Result<(), Error> {
    let saved = execute!(
        tx.on(),
        SAVE,
        claim.id(),
        claim.user_id,
        claim.fingerprint.as_slice(),
        i64::from(reply.status),
        reply.location.as_str(),
        reply.etag.as_deref(),
        reply.body.as_str(),
        expires_at,
        now,
    )?;
    match saved {
        0 => Err(Error::InProgress),
        _ => Ok(()),
    }
}

/// Deletes what has expired, a batch at a time.
pub(crate) async fn prune(db: &Db, now: Timestamp) -> Result<(), db::Error> {
    while execute!(db.writer(), PRUNE, now, i64::try_from(BATCH).unwrap_or(i64::MAX))? == BATCH {}
    Ok(())
}

/// Deletes the answers to a user.
pub(crate) async fn forget(tx: &mut Tx, user_id: i64) -> Result<(), db::Error> {
    execute!(tx.on(), FORGET, user_id).map(|_| ())
}
