//! Authorization codes (RFC 6749 §4.1.2): hashed, short-lived, single use.

use crate::pkce::CodeChallenge;
use shared::clock::Timestamp;
use shared::db::{Db, Error, Tx};
use shared::grants::families::NewFamily;
use shared::secret::{self, Secret};
use shared::{execute, fetch_optional, random, sql};
use std::time::Duration;

sql! {
    INSERT = "INSERT INTO authorization_codes
              (code_hash, family_id, client_id, user_id, session_id, redirect_uri, code_challenge, scope, expires_at,
               consent_id)
              VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    // All that must hold stands in the one statement: who lacks any of it leaves the code for its owner,
    // and of any number who have it all one gets a row.
    CLAIM = "UPDATE authorization_codes SET used_at = $5
             WHERE code_hash = $1 AND client_id = $2 AND redirect_uri = $3 AND code_challenge = $4
               AND used_at IS NULL AND expires_at > $5
             RETURNING family_id, client_id, user_id, session_id, consent_id, scope";
    FIND_USED = "SELECT family_id, client_id, user_id, session_id, consent_id, scope FROM authorization_codes
                 WHERE code_hash = $1 AND client_id = $2 AND redirect_uri = $3 AND code_challenge = $4
                   AND used_at IS NOT NULL";
    PRUNE = "DELETE FROM authorization_codes WHERE expires_at <= $1";
}

/// A used code is remembered this long after it expired, to know it when it comes again.
const REMEMBERED: Duration = Duration::from_secs(24 * 3600);

/// What a code stands for.
pub(crate) struct NewCode<'a> {
    pub(crate) client_id: &'a str,
    pub(crate) user_id: i64,
    pub(crate) session_id: i64,
    pub(crate) consent_id: &'a str,
    pub(crate) redirect_uri: &'a str,
    pub(crate) code_challenge: &'a CodeChallenge,
    pub(crate) scope: String,
    pub(crate) expires_at: Timestamp,
}

/// What the client shows along with a code.
#[derive(Clone, Copy)]
pub(crate) struct Presented<'a> {
    pub(crate) code: &'a str,
    pub(crate) client_id: &'a str,
    pub(crate) redirect_uri: &'a str,
    pub(crate) code_challenge: &'a CodeChallenge,
}

#[derive(sqlx::FromRow)]
struct Row {
    family_id: String,
    client_id: String,
    user_id: i64,
    session_id: i64,
    consent_id: String,
    scope: String,
}

/// What a code that was used up stood for.
pub(crate) struct Claimed {
    /// The family to begin.
    pub(crate) family: NewFamily,
    /// The consent that it came of.
    pub(crate) consent_id: String,
}

/// Stores a new code and gives it.
pub(crate) async fn create(tx: &mut Tx, new: &NewCode<'_>) -> Result<Secret, Error> {
    let code = random::token();
    execute!(
        tx.on(),
        INSERT,
        code.hash(),
        random::id(),
        new.client_id,
        new.user_id,
        new.session_id,
        new.redirect_uri,
        new.code_challenge.as_str(),
        new.scope.as_str(),
        new.expires_at,
        new.consent_id,
    )?;
    Ok(code)
}

/// Uses a code up; `None` if it is not good, and then nothing has changed.
pub(crate) async fn claim(
    tx: &mut Tx,
    shown: Presented<'_>,
    now: Timestamp,
) -> Result<Option<Claimed>, Error> {
    let row = fetch_optional!(
        tx.on(),
        Row,
        CLAIM,
        secret::hash(shown.code),
        shown.client_id,
        shown.redirect_uri,
        shown.code_challenge.as_str(),
        now,
    )?;
    Ok(row.map(|row| Claimed {
        consent_id: row.consent_id.clone(),
        family: row.into(),
    }))
}

/// The family that a code began which was used before, where everything else about the second use is
/// right: somebody has a copy of it (RFC 6749 §10.5).
pub(crate) async fn find_replayed(db: &Db, shown: Presented<'_>) -> Result<Option<NewFamily>, Error> {
    let row = fetch_optional!(
        db.reader(),
        Row,
        FIND_USED,
        secret::hash(shown.code),
        shown.client_id,
        shown.redirect_uri,
        shown.code_challenge.as_str(),
    )?;
    Ok(row.map(NewFamily::from))
}

/// Deletes codes that are long past.
pub(crate) async fn prune(db: &Db, now: Timestamp) -> Result<u64, Error> {
    execute!(db.writer(), PRUNE, now.before(REMEMBERED))
}

impl From<Row> for NewFamily {
    fn from(row: Row) -> Self {
        Self {
            id: row.family_id,
            client_id: row.client_id,
            user_id: row.user_id,
            session_id: row.session_id,
            scope: row.scope.parse().unwrap_or_default(),
        }
    }
}
