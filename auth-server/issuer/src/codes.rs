//! Authorization codes (RFC 6749 §4.1.2): hashed, short-lived, single use.

mod exchange;

pub use exchange::{ExchangeError, ExchangedCode, exchange};

use crate::pkce::CodeChallenge;
use foundation::clock::Timestamp;
use foundation::random;
use foundation::secret;
use foundation::secret::Secret;
use std::time::Duration;
use storage::db::{Db, Error, Tx};
use storage::{delete_expired, execute, fetch_optional, sql};

/// Returns the text of the statement that inserts a code if its client is enabled.
macro_rules! insert {
    ($lock:literal) => {
        concat!(
            "INSERT INTO authorization_codes
             (code_hash, family_id, client_id, user_id, session_id, redirect_uri, code_challenge, scope, expires_at,
              consent_id, nonce)
             SELECT $1, $2, clients.id, $4, $5, $6, $7, $8, $9, $10, $11
             FROM clients WHERE clients.id = $3 AND clients.disabled_at IS NULL",
            $lock
        )
    };
}

sql! {
    INSERT_SQLITE = insert!("");
    // Waits for a transaction that disables the client, which otherwise might not see the new code.
    INSERT_POSTGRES = insert!(" FOR SHARE");
    FIND_USED = "SELECT family_id, client_id, user_id FROM authorization_codes
                 WHERE code_hash = $1 AND client_id = $2 AND redirect_uri = $3 AND code_challenge = $4
                   AND used_at IS NOT NULL";
    DELETE_UNUSED_SQLITE = "DELETE FROM authorization_codes WHERE client_id = $1 AND used_at IS NULL";
    // The same in the order in which exchanges lock the rows, so that the two do not deadlock.
    DELETE_UNUSED_POSTGRES = "
        WITH unused AS (
            SELECT code_hash FROM authorization_codes WHERE client_id = $1 AND used_at IS NULL
            ORDER BY code_hash FOR UPDATE
        )
        DELETE FROM authorization_codes AS codes USING unused WHERE codes.code_hash = unused.code_hash";
    PRUNE = delete_expired!("authorization_codes", "code_hash", "expires_at");
}

/// Returns the statements of this module and its parts, with their names.
pub(crate) fn statements() -> Vec<(&'static str, &'static str)> {
    [STATEMENTS, exchange::STATEMENTS].concat()
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
    /// The `nonce` of the authorization request (OpenID Connect Core §3.1.2.1).
    pub nonce: Option<&'a str>,
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

/// The family that a used code began.
#[derive(Debug, sqlx::FromRow)]
pub struct UsedCode {
    /// The id of the family.
    pub family_id: String,
    /// The client that the code was issued to.
    pub client_id: String,
    /// The user who consented.
    pub user_id: i64,
}

/// Generates a code, and the id of the family of refresh tokens that it begins. Stores the code's hash and returns the
/// code. Returns `None`, without effect, if the client is disabled.
pub async fn create(tx: &mut Tx, new: &NewCode<'_>) -> Result<Option<Secret>, Error> {
    let (code, sql) = (random::token(), tx.on().choose(INSERT_SQLITE, INSERT_POSTGRES));
    let inserted = execute!(
        tx.on(),
        sql,
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
        new.nonce,
    )?;
    Ok((inserted == 1).then_some(code))
}

/// Deletes the codes of a client that are not used yet. An exchange that is in progress is waited for, so that the caller then
/// finds its family.
pub(crate) async fn delete_unused(tx: &mut Tx, client_id: &str) -> Result<(), Error> {
    let sql = tx.on().choose(DELETE_UNUSED_SQLITE, DELETE_UNUSED_POSTGRES);
    execute!(tx.on(), sql, client_id).map(|_| ())
}

/// Returns the family that a used code began, if the code is presented again with the right client, redirect URI and
/// challenge. Such a replay means that the code was copied (RFC 6749 §10.5). Returns `None` otherwise.
pub async fn find_replayed(db: &Db, presented: PresentedCode<'_>) -> Result<Option<UsedCode>, Error> {
    fetch_optional!(
        db.reader(),
        UsedCode,
        FIND_USED,
        secret::hash(presented.code),
        presented.client_id,
        presented.redirect_uri,
        presented.code_challenge.as_str(),
    )
}

/// Deletes codes whose retention has ended. Returns their number.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, Error> {
    db.prune(PRUNE, now.before(RETENTION)).await
}
