//! Authorization codes (RFC 6749 §4.1.2): hashed, short-lived, single use.

mod exchange;

pub(crate) use exchange::STATEMENTS as EXCHANGE_STATEMENTS;
pub use exchange::{ExchangeError, ExchangedCode, exchange};

use crate::pkce::CodeChallenge;
use crate::pushed_requests::RequestUri;
use foundation::clock::Timestamp;
use foundation::random;
use foundation::secret::{self, Secret};
use std::time::Duration;
use storage::db::{Db, Error, Tx};
use storage::{delete_expired, execute, fetch_optional, sql};

sql! {
    // The code belongs to the client's present epoch: it ends with it, like the tokens.
    INSERT = "INSERT INTO authorization_codes
              (code_hash, family_id, client_id, client_epoch, user_id, session_id, redirect_uri, code_challenge, scope,
               expires_at, consent_id, nonce, request_uri_hash, dpop_jkt)
              SELECT $1, $2, clients.id, clients.epoch, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13
              FROM clients WHERE clients.id = $3 AND clients.disabled_at IS NULL";
    FIND_USED = "SELECT family_id, client_id, user_id FROM authorization_codes
                 WHERE code_hash = $1 AND client_id = $2 AND redirect_uri = $3 AND code_challenge = $4
                   AND (dpop_jkt IS NULL OR dpop_jkt = $5) AND used_at IS NOT NULL";
    PRUNE = delete_expired!("authorization_codes");
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
    /// The reference of the pushed authorization request that it is issued for.
    pub request_uri: Option<&'a RequestUri>,
    /// The thumbprint of the key that the code is bound to (RFC 9449 §10).
    pub dpop_jkt: Option<&'a str>,
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
    /// The thumbprint of the key whose possession the client proved.
    pub key: Option<&'a str>,
    /// The thumbprint of the key to bind the refresh tokens to; `None` for a confidential client (RFC 9449
    /// §5).
    pub family_key: Option<&'a str>,
    /// The registered redirect URI to record with the family; `None` unless the client describes itself by a
    /// document.
    pub family_redirect_uri: Option<&'a str>,
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

/// Generates a code, and the id of the family of refresh tokens that it begins. Stores the code's hash and
/// returns the code. Returns `None`, without effect, if the client is disabled. Fails with
/// [`Error::Conflict`] if a code was issued for the same pushed request.
pub async fn create(tx: &mut Tx, new: &NewCode<'_>) -> Result<Option<Secret>, Error> {
    let code = random::token();
    let inserted = execute!(
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
        new.nonce,
        new.request_uri.map(RequestUri::hash),
        new.dpop_jkt,
    )?;
    Ok((inserted == 1).then_some(code))
}

/// Returns the family that a used code began, if the code is presented again with the right client, redirect
/// URI and challenge. Such a replay means that the code was copied (RFC 6749 §10.5). Returns `None`
/// otherwise.
pub async fn find_replayed(db: &Db, presented: PresentedCode<'_>) -> Result<Option<UsedCode>, Error> {
    fetch_optional!(
        db.reader(),
        UsedCode,
        FIND_USED,
        secret::hash(presented.code),
        presented.client_id,
        presented.redirect_uri,
        presented.code_challenge.as_str(),
        presented.key,
    )
}

/// Deletes codes whose retention has ended. Returns their number.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, Error> {
    db.prune(PRUNE, now.before(RETENTION)).await
}
