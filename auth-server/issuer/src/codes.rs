//! Authorization codes (RFC 6749 §4.1.2): hashed, short-lived, single use.

use crate::pkce::CodeChallenge;
use foundation::clock::Timestamp;
use foundation::random;
use foundation::role::Role;
use foundation::secret;
use foundation::secret::Secret;
use identity::grants::refresh_families;
use identity::grants::refresh_families::{Family, Lifetimes, NewFamily};
use std::time::Duration;
use storage::db::{Db, Error, Tx};
use storage::{execute, fetch_optional, sql};

sql! {
    INSERT = "INSERT INTO authorization_codes
              (code_hash, family_id, client_id, user_id, session_id, redirect_uri, code_challenge, scope, expires_at,
               consent_id)
              VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    // The condition checks everything, so that a request with a wrong value leaves the code valid. The locks keep the
    // session and the consent until the family exists, so that whoever ends them finds the family and revokes it. Writes
    // the table `refresh_families` too, which another module owns, so that an exchange takes one round trip.
    EXCHANGE_POSTGRES = "
        WITH code AS (
            SELECT code_hash, family_id, client_id, user_id, session_id, consent_id, scope FROM authorization_codes
            WHERE code_hash = $1 AND client_id = $2 AND redirect_uri = $3 AND code_challenge = $4
              AND used_at IS NULL AND expires_at > $5
            FOR UPDATE
        ), session AS (
            SELECT 1 FROM sessions JOIN code ON sessions.id = code.session_id
            WHERE sessions.expires_at > $5 FOR SHARE OF sessions
        ), consent AS (
            SELECT 1 FROM consents JOIN code
                ON (consents.user_id, consents.client_id, consents.id) = (code.user_id, code.client_id, code.consent_id)
            FOR SHARE OF consents
        ), claimed AS (
            UPDATE authorization_codes SET used_at = $5 FROM code
            WHERE authorization_codes.code_hash = code.code_hash
              AND EXISTS (SELECT 1 FROM session) AND EXISTS (SELECT 1 FROM consent)
            RETURNING code.family_id, code.client_id, code.user_id, code.session_id, code.scope
        ), family AS (
            INSERT INTO refresh_families (id, client_id, user_id, session_id, scope, generation, created_at,
                                          last_used_at, idle_expires_at, expires_at)
            SELECT family_id, client_id, user_id, session_id, scope, 1, $5, $5, $6, $7 FROM claimed
        )
        SELECT family_id, client_id, user_id, session_id, scope, users.role,
               EXISTS (SELECT 1 FROM session) AS has_session, EXISTS (SELECT 1 FROM consent) AS has_consent
        FROM code JOIN users ON users.id = code.user_id";
    // The same in three statements of one transaction, which excludes all other writers.
    FIND_VALID_SQLITE = "
        SELECT family_id, client_id, user_id, session_id, scope,
               (SELECT role FROM users WHERE users.id = user_id) AS role,
               EXISTS (SELECT 1 FROM sessions WHERE id = session_id AND expires_at > $5) AS has_session,
               EXISTS (SELECT 1 FROM consents WHERE consents.user_id = codes.user_id
                       AND consents.client_id = codes.client_id AND consents.id = consent_id) AS has_consent
        FROM authorization_codes AS codes
        WHERE code_hash = $1 AND client_id = $2 AND redirect_uri = $3 AND code_challenge = $4
          AND used_at IS NULL AND expires_at > $5";
    CLAIM_SQLITE = "UPDATE authorization_codes SET used_at = $2 WHERE code_hash = $1";
    FIND_USED = "SELECT family_id, client_id, user_id FROM authorization_codes
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
    scope: String,
    role: String,
    has_session: bool,
    has_consent: bool,
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

/// The reason why a code was not exchanged. The code stays as it was.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// The code is unknown, used or expired, or was issued for another client, redirect URI or challenge.
    #[error("the code is not valid")]
    InvalidCode,
    /// The session in which the user consented has ended.
    #[error("the user's session has ended")]
    SessionEnded,
    /// The user has withdrawn the consent since.
    #[error("the user has withdrawn the consent")]
    ConsentWithdrawn,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] Error),
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

/// Marks a code as used and creates its family of refresh tokens, at once: of several concurrent requests with one code,
/// only one succeeds.
pub async fn exchange(
    db: &Db,
    presented: PresentedCode<'_>,
    lifetimes: Lifetimes,
    now: Timestamp,
) -> Result<Family, ExchangeError> {
    let row = match db {
        Db::Postgres(_) => fetch_optional!(
            db.writer(),
            Row,
            EXCHANGE_POSTGRES,
            secret::hash(presented.code),
            presented.client_id,
            presented.redirect_uri,
            presented.code_challenge.as_str(),
            now,
            now.after(lifetimes.idle),
            now.after(lifetimes.absolute),
        )?,
        Db::Sqlite { .. } => exchange_on_sqlite(db, presented, lifetimes, now).await?,
    };
    row.ok_or(ExchangeError::InvalidCode)?.check().map(Family::from)
}

/// Exchanges the code if the returned row passes [`Row::check`].
async fn exchange_on_sqlite(
    db: &Db,
    presented: PresentedCode<'_>,
    lifetimes: Lifetimes,
    now: Timestamp,
) -> Result<Option<Row>, ExchangeError> {
    let mut tx = db.begin().await?;
    let code_hash = secret::hash(presented.code);
    let row = fetch_optional!(
        tx.on(),
        Row,
        FIND_VALID_SQLITE,
        code_hash.as_slice(),
        presented.client_id,
        presented.redirect_uri,
        presented.code_challenge.as_str(),
        now,
    )?;
    let Some(row) = row else {
        return Ok(None);
    };
    let row = row.check()?;
    execute!(tx.on(), CLAIM_SQLITE, code_hash.as_slice(), now)?;
    let family = NewFamily {
        id: &row.family_id,
        client_id: &row.client_id,
        user_id: row.user_id,
        session_id: row.session_id,
        scope: &row.scope,
    };
    refresh_families::create(&mut tx, family, lifetimes, now).await?;
    tx.commit().await?;
    Ok(Some(row))
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
    execute!(db.writer(), PRUNE, now.before(RETENTION))
}

impl Row {
    /// Fails if the session or the consent of the code is gone.
    fn check(self) -> Result<Self, ExchangeError> {
        match &self {
            Self {
                has_session: false, ..
            } => Err(ExchangeError::SessionEnded),
            Self {
                has_consent: false, ..
            } => Err(ExchangeError::ConsentWithdrawn),
            _ => Ok(self),
        }
    }
}

impl From<Row> for Family {
    fn from(row: Row) -> Self {
        Self {
            id: row.family_id,
            client_id: row.client_id,
            user_id: row.user_id,
            // An unknown name becomes the role that permits least.
            role: Role::stored(&row.role),
            scope: row.scope.parse().unwrap_or_default(),
            generation: 1,
            revoked_at: None,
        }
    }
}
