//! The stored replies in the database.

use super::error::Error;
use super::key::Claim;
use foundation::clock::Timestamp;
use identity::authority::Authority;
use identity::authority_holds;
use serde::Serialize;
use storage::db;
use storage::db::{Db, Executor, Tx};
use storage::{delete_expired, execute, fetch_optional, sql};

/// The text of the statement that stores a reply if the authority of the claim holds. An expired row that is not
/// deleted yet is overwritten. `$lock` is that of [`authority_holds!`].
macro_rules! save {
    ($lock:literal) => {
        concat!(
            "INSERT INTO idempotency_keys (id, user_id, fingerprint, status, location, etag, body, expires_at)
             SELECT $1, $2, $3, $4, $5, $6, $7, $8 WHERE ",
            authority_holds!("$2", "$10", "$11", $lock),
            " ON CONFLICT (id) DO UPDATE
             SET fingerprint = excluded.fingerprint, status = excluded.status, location = excluded.location,
                 etag = excluded.etag, body = excluded.body, expires_at = excluded.expires_at
             WHERE idempotency_keys.expires_at <= $9"
        )
    };
}

sql! {
    FIND = "SELECT fingerprint, status, location, etag, body FROM idempotency_keys
            WHERE id = $1 AND expires_at > $2";
    SAVE_SQLITE = save!("");
    SAVE_POSTGRES = save!(" FOR SHARE");
    DELETE_OF_USER = "DELETE FROM idempotency_keys
                      WHERE id IN (SELECT id FROM idempotency_keys WHERE user_id = $1 LIMIT $2)";
    PRUNE = delete_expired!("idempotency_keys", "id", "expires_at + 0");
}

/// The reply to a successful write.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct Reply {
    /// The status code.
    #[sqlx(try_from = "i64")]
    pub status: u16,
    /// The path of the created resource, without the prefix of an API version.
    pub location: String,
    /// The entity tag of the resource, if it has one.
    pub etag: Option<String>,
    /// The body, which is JSON.
    pub body: String,
}

#[derive(sqlx::FromRow)]
struct Row {
    fingerprint: Vec<u8>,
    #[sqlx(flatten)]
    reply: Reply,
}

impl Reply {
    /// Returns a reply of status 201 with this record as its body. `location` is the path of the created resource,
    /// without the prefix of an API version. Fails if the record cannot be serialized.
    pub fn created(location: String, record: &impl Serialize) -> Result<Self, Error> {
        Ok(Self {
            status: 201,
            location,
            etag: None,
            body: serde_json::to_string(record)?,
        })
    }

    /// Adds the record's entity tag.
    pub fn with_etag(mut self, etag: String) -> Self {
        self.etag = Some(etag);
        self
    }
}

/// Returns the unexpired reply that is stored for a claim. Fails with [`Error::KeyReused`] if it is the reply to a call
/// with another body.
pub(super) async fn find(on: Executor<'_>, claim: &Claim, now: Timestamp) -> Result<Option<Reply>, Error> {
    match fetch_optional!(on, Row, FIND, claim.id(), now)? {
        None => Ok(None),
        Some(row) if row.fingerprint == claim.fingerprint => Ok(Some(row.reply)),
        Some(_) => Err(Error::KeyReused),
    }
}

/// Stores the reply to the write of this transaction. The id is unique, so if several transactions with one key
/// race, only one commits; the others fail with [`Error::InProgress`]. Fails with [`Error::SignedOut`] if the authority
/// of the claim has ended.
pub(super) async fn save(
    tx: &mut Tx,
    claim: &Claim,
    reply: &Reply,
    now: Timestamp,
    expires_at: Timestamp,
) -> Result<(), Error> {
    let Authority {
        user_id,
        epoch,
        session_id,
        ..
    } = claim.authority;
    let on = tx.on();
    let save = on.choose(SAVE_SQLITE, SAVE_POSTGRES);
    let saved = execute!(
        on,
        save,
        claim.id(),
        user_id,
        claim.fingerprint.as_slice(),
        i64::from(reply.status),
        reply.location.as_str(),
        reply.etag.as_deref(),
        reply.body.as_str(),
        expires_at,
        now,
        epoch,
        session_id,
    )?;
    match saved {
        0 if claim.authority.holds(tx.on(), now).await? => Err(Error::InProgress),
        0 => Err(Error::SignedOut),
        _ => Ok(()),
    }
}

/// Deletes the expired replies, and returns their number.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, db::Error> {
    db.prune(PRUNE, now).await
}

/// Deletes at most `limit` of the replies that are stored for a user. Returns their number.
pub async fn delete_of_user(tx: &mut Tx, user_id: i64, limit: i64) -> Result<u64, db::Error> {
    execute!(tx.on(), DELETE_OF_USER, user_id, limit)
}
