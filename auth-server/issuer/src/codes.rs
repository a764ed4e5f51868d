//! Authorization codes (RFC 6749 §4.1.2): hashed, short-lived, single use.

use crate::pkce::CodeChallenge;
use foundation::clock::Timestamp;
use foundation::random;
use foundation::secret;
use foundation::secret::Secret;
use identity::grants::refresh_families::NewFamily;
use std::time::Duration;
use storage::db::{Db, Error, Tx};
use storage::{execute, fetch_optional, sql};

sql! {
    INSERT = "INSERT INTO authorization_codes
              (code_hash, family_id, client_id, user_id, session_id, redirect_uri, code_challenge, scope, expires_at,
               consent_id)
              VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    // One statement checks everything, so that a request with a wrong value leaves the code valid, and
    // only one of several concurrent requests gets a row.
    CLAIM = "UPDATE authorization_codes SET used_at = $5
             WHERE code_hash = $1 AND client_id = $2 AND redirect_uri = $3 AND code_challenge = $4
               AND used_at IS NULL AND expires_at > $5
             RETURNING family_id, client_id, user_id, session_id, consent_id, scope";
    FIND_USED = "SELECT family_id, client_id, user_id, session_id, consent_id, scope FROM authorization_codes
                 WHERE code_hash = $1 AND client_id = $2 AND redirect_uri = $3 AND code_challenge = $4
                   AND used_at IS NOT NULL";
    PRUNE = "DELETE FROM authorization_codes WHERE expires_at <= $1";
}

/// The time for which a code is kept after its expiry, to recognize a replay.
const RETENTION: Duration = Duration::from_secs(24 * 3600);

/// A code to store.
pub struct NewCode<'a> {
    /// The client that it is issued to.
    pub client_id: &'a str,
    /// The user who consented.
    pub user_id: i64,
    /// The session in which the user consented.
    pub session_id: i64,
    /// The consent that it is issued for.
    pub consent_id: &'a str,
    /// The redirect URI of the authorization request.
    pub redirect_uri: &'a str,
    /// The PKCE challenge of the authorization request.
    pub code_challenge: &'a CodeChallenge,
    /// The granted scope.
    pub scope: String,
    /// The expiry.
    pub expires_at: Timestamp,
}

/// A code as a client presents it, with the values that must match those of the authorization request.
#[derive(Clone, Copy)]
pub struct PresentedCode<'a> {
    /// The code.
    pub code: &'a str,
    /// The authenticated client.
    pub client_id: &'a str,
    /// The redirect URI of the token request.
    pub redirect_uri: &'a str,
    /// The PKCE challenge computed from the token request's `code_verifier`.
    pub code_challenge: &'a CodeChallenge,
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

/// A code that this request marked as used.
pub struct ClaimedCode {
    /// The family of refresh tokens to create.
    pub family: NewFamily,
    /// The consent that the code was issued for.
    pub consent_id: String,
}

/// Generates a code, and the id of the family of refresh tokens that it begins. Stores the code's hash and returns the
/// code.
pub async fn create(tx: &mut Tx, new: &NewCode<'_>) -> Result<Secret, Error> {
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

/// Marks a code as used. Returns `None`, without a change, if the code is unknown, used or expired, or if it was issued
/// for another client, redirect URI or challenge.
pub async fn claim(
    tx: &mut Tx,
    presented: PresentedCode<'_>,
    now: Timestamp,
) -> Result<Option<ClaimedCode>, Error> {
    let row = fetch_optional!(
        tx.on(),
        Row,
        CLAIM,
        secret::hash(presented.code),
        presented.client_id,
        presented.redirect_uri,
        presented.code_challenge.as_str(),
        now,
    )?;
    Ok(row.map(|row| ClaimedCode {
        consent_id: row.consent_id.clone(),
        family: row.into(),
    }))
}

/// Returns the family that a used code began, if the code is presented again with the right client, redirect URI and
/// challenge. Such a replay means that the code was copied (RFC 6749 §10.5). Returns `None` otherwise.
pub async fn find_replayed(db: &Db, presented: PresentedCode<'_>) -> Result<Option<NewFamily>, Error> {
    let row = fetch_optional!(
        db.reader(),
        Row,
        FIND_USED,
        secret::hash(presented.code),
        presented.client_id,
        presented.redirect_uri,
        presented.code_challenge.as_str(),
    )?;
    Ok(row.map(NewFamily::from))
}

/// Deletes codes whose retention has ended. Returns their number.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, Error> {
    execute!(db.writer(), PRUNE, now.before(RETENTION))
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
