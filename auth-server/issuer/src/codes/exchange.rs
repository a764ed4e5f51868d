//! The exchange of a code for the first tokens of a family.

use super::PresentedCode;
use foundation::clock::Timestamp;
use foundation::role::Role;
use foundation::scope::Scope;
use foundation::secret;
use identity::authentication_methods::{AuthenticationMethods, SignIn};
use identity::refresh_families::{self, Epochs, Family, Lifetimes, StoredScope};
use std::collections::HashMap;
use storage::db::{Array, BatchCall, Db, Engine, Error};
use storage::{execute, fetch_all, fetch_optional, sql};

sql! {
    // Exchanges several codes. Each has at most one result row, even if it is presented twice. The condition
    // checks everything, so that a request with a wrong value leaves the code valid. The locks keep the
    // session and the consent until the family exists, so that a change that ends them finds the family and
    // revokes it. Writes the table `refresh_families` too, which another module owns, so that an exchange takes one
    // round trip. The second conditions on `code_hash` make every plan find the codes through the index, also
    // one that was made for a table of one row.
    EXCHANGE_ALL_POSTGRES = "
        WITH presented AS (
            SELECT *, now + $8::BIGINT AS idle_expires_at, now + $9::BIGINT AS family_expires_at
            FROM unnest($1::BYTEA[], $2::TEXT[], $3::TEXT[], $4::TEXT[], $5::BIGINT[], $6::TEXT[], $7::TEXT[], $10::TEXT[])
                WITH ORDINALITY AS presented (code_hash, client_id, redirect_uri, code_challenge, now, key, family_key,
                                              family_redirect_uri, place)
            ORDER BY code_hash
        ), code AS (
            SELECT place, now, idle_expires_at, family_expires_at, family_key, family_redirect_uri,
                   code_hash, family_id, client_id, client_epoch, user_id, session_id, consent_id, scope, nonce
            FROM presented JOIN authorization_codes AS codes USING (code_hash, client_id, redirect_uri, code_challenge)
            WHERE codes.code_hash = ANY ($1) AND used_at IS NULL AND expires_at > now
              AND client_epoch = (SELECT epoch FROM clients WHERE clients.id = client_id)
              AND (dpop_jkt IS NULL OR dpop_jkt = key)
            FOR UPDATE OF codes
        ), session AS (
            SELECT sessions.id, sessions.created_at AS auth_time, sessions.amr
            FROM sessions JOIN code ON sessions.id = code.session_id
            WHERE sessions.expires_at > code.now FOR SHARE OF sessions
        ), consent AS (
            SELECT consents.user_id, consents.client_id, consents.id FROM consents JOIN code
                ON (consents.user_id, consents.client_id, consents.id) = (code.user_id, code.client_id, code.consent_id)
            FOR SHARE OF consents
        ), claimed AS (
            UPDATE authorization_codes AS codes SET used_at = code.now
            FROM code JOIN session ON session.id = code.session_id
            WHERE codes.code_hash = ANY ($1) AND codes.code_hash = code.code_hash
              AND (code.user_id, code.client_id, code.consent_id) IN (SELECT user_id, client_id, id FROM consent)
            RETURNING code.family_id, code.client_id, code.client_epoch, code.user_id, code.session_id, code.scope,
                      code.now, code.idle_expires_at, code.family_expires_at, code.family_key, code.family_redirect_uri,
                      session.auth_time, session.amr
        ), family AS (
            INSERT INTO refresh_families (id, client_id, user_id, session_id, scope, generation, created_at,
                                          last_used_at, idle_expires_at, expires_at, auth_time, amr, user_epoch,
                                          client_epoch, dpop_jkt, redirect_uri)
            SELECT family_id, client_id, user_id, session_id, scope, 1, now, now, idle_expires_at, family_expires_at,
                   auth_time, amr, (SELECT epoch FROM users WHERE users.id = user_id), client_epoch, family_key,
                   family_redirect_uri
            FROM claimed
        )
        SELECT DISTINCT ON (code_hash) place, family_id, client_id, user_id, session_id, scope, nonce, users.role,
               session.auth_time, session.amr, users.epoch AS user_epoch,
               client_epoch,
               (SELECT COUNT(*) FROM refresh_families AS other
                WHERE other.user_id = code.user_id AND other.user_epoch = users.epoch
                  AND other.client_id = code.client_id AND other.revoked_at IS NULL
                  AND other.idle_expires_at > now AND other.expires_at > now) AS other_families,
               (user_id, client_id, consent_id) IN (SELECT user_id, client_id, id FROM consent) AS has_consent
        FROM code JOIN users ON users.id = code.user_id LEFT JOIN session ON session.id = code.session_id
        ORDER BY code_hash, place";
    // The same for one code in three statements of one transaction, which excludes all other writers.
    FIND_VALID_SQLITE = "
        SELECT family_id, client_id, codes.user_id, session_id, scope, nonce,
               (SELECT role FROM users WHERE users.id = codes.user_id) AS role,
               sessions.created_at AS auth_time, sessions.amr,
               (SELECT epoch FROM users WHERE users.id = codes.user_id) AS user_epoch,
               client_epoch,
               (SELECT COUNT(*) FROM refresh_families AS other
                WHERE other.user_id = codes.user_id AND other.client_id = codes.client_id
                  AND other.user_epoch = (SELECT epoch FROM users WHERE users.id = codes.user_id)
                  AND other.revoked_at IS NULL AND other.idle_expires_at > $5 AND other.expires_at > $5)
               AS other_families,
               EXISTS (SELECT 1 FROM consents WHERE consents.user_id = codes.user_id
                       AND consents.client_id = codes.client_id AND consents.id = consent_id) AS has_consent
        FROM authorization_codes AS codes
             LEFT JOIN sessions ON sessions.id = session_id AND sessions.expires_at > $5
        WHERE code_hash = $1 AND client_id = $2 AND redirect_uri = $3 AND code_challenge = $4
          AND used_at IS NULL AND codes.expires_at > $5
          AND client_epoch = (SELECT epoch FROM clients WHERE clients.id = codes.client_id)
          AND (dpop_jkt IS NULL OR dpop_jkt = $6)";
    CLAIM_SQLITE = "UPDATE authorization_codes SET used_at = $2 WHERE code_hash = $1";
}

#[derive(sqlx::FromRow)]
struct Row {
    family_id: String,
    client_id: String,
    user_id: i64,
    session_id: i64,
    #[sqlx(flatten)]
    epochs: Epochs,
    #[sqlx(try_from = "StoredScope")]
    scope: Scope,
    nonce: Option<String>,
    #[sqlx(try_from = "String")]
    role: Role,
    /// `None` if the session has ended.
    auth_time: Option<Timestamp>,
    /// `None` if the session has ended.
    amr: Option<String>,
    has_consent: bool,
    other_families: i64,
}

/// A code that was exchanged.
#[derive(Clone, Debug)]
pub struct ExchangedCode {
    /// The family of refresh tokens that it began.
    pub family: Family,
    /// The number of other families of the user with the client that had not ended.
    pub other_families: i64,
    /// The `nonce` of the authorization request (OpenID Connect Core §3.1.2.1).
    pub nonce: Option<String>,
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
    /// The consent has been revoked since.
    #[error("the consent has been revoked")]
    ConsentRevoked,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] Error),
}

/// Marks a code as used and creates its family of refresh tokens, at once: of several concurrent requests
/// with one code, only one succeeds.
pub async fn exchange(
    db: &Db,
    presented: PresentedCode<'_>,
    lifetimes: Lifetimes,
    now: Timestamp,
) -> Result<ExchangedCode, ExchangeError> {
    match db.engine() {
        Engine::Postgres(()) => {
            let exchange = Exchange {
                code_hash: secret::hash(presented.code),
                client_id: presented.client_id.to_owned(),
                redirect_uri: presented.redirect_uri.to_owned(),
                code_challenge: presented.code_challenge.as_str().to_owned(),
                now,
                idle_micros: now.after(lifetimes.idle).micros() - now.micros(),
                absolute_micros: now.after(lifetimes.absolute).micros() - now.micros(),
                key: presented.key.map(str::to_owned),
                family_key: presented.family_key.map(str::to_owned),
                family_redirect_uri: presented.family_redirect_uri.map(str::to_owned),
            };
            let row = db.call(exchange).await?;
            row.ok_or(ExchangeError::InvalidCode)?.exchanged(presented)
        }
        Engine::Sqlite(()) => exchange_on_sqlite(db, presented, lifetimes, now).await,
    }
}

/// The call that exchanges a code on PostgreSQL, unless [`Row::exchanged`] fails with the returned row; `None`
/// if the code is not valid.
struct Exchange {
    code_hash: Vec<u8>,
    client_id: String,
    redirect_uri: String,
    code_challenge: String,
    now: Timestamp,
    /// The same for all calls of a process.
    idle_micros: i64,
    /// The same for all calls of a process.
    absolute_micros: i64,
    key: Option<String>,
    family_key: Option<String>,
    family_redirect_uri: Option<String>,
}

/// The row of a presented code.
#[derive(sqlx::FromRow)]
struct PlacedRow {
    /// The place of the code among those of the statement, from 1.
    place: i64,
    #[sqlx(flatten)]
    row: Row,
}

impl BatchCall for Exchange {
    type Answer = Option<Row>;

    async fn run(db: &Db, calls: &[Self]) -> Result<Vec<Option<Row>>, Error> {
        let rows = fetch_all!(
            db.writer(),
            PlacedRow,
            EXCHANGE_ALL_POSTGRES,
            Array::of(calls, |code| code.code_hash.as_slice()),
            Array::of(calls, |code| code.client_id.as_str()),
            Array::of(calls, |code| code.redirect_uri.as_str()),
            Array::of(calls, |code| code.code_challenge.as_str()),
            Array::of(calls, |code| code.now.micros()),
            Array::of_optional(calls, |code| code.key.as_deref()),
            Array::of_optional(calls, |code| code.family_key.as_deref()),
            calls.first().map_or(0, |code| code.idle_micros),
            calls.first().map_or(0, |code| code.absolute_micros),
            Array::of_optional(calls, |code| code.family_redirect_uri.as_deref()),
        )?;
        let mut rows: HashMap<i64, Row> = rows.into_iter().map(|row| (row.place, row.row)).collect();
        Ok((1..).zip(calls).map(|(place, _)| rows.remove(&place)).collect())
    }
}

async fn exchange_on_sqlite(
    db: &Db,
    presented: PresentedCode<'_>,
    lifetimes: Lifetimes,
    now: Timestamp,
) -> Result<ExchangedCode, ExchangeError> {
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
        presented.key,
    )?;
    let code = row.ok_or(ExchangeError::InvalidCode)?.exchanged(presented)?;
    execute!(tx.on(), CLAIM_SQLITE, code_hash.as_slice(), now)?;
    refresh_families::create(&mut tx, &code.family, lifetimes, now).await?;
    tx.commit().await?;
    Ok(code)
}

impl Row {
    /// Returns the exchanged code. Fails if the session or the consent of the code is gone.
    fn exchanged(self, presented: PresentedCode<'_>) -> Result<ExchangedCode, ExchangeError> {
        let (Some(at), Some(amr)) = (self.auth_time, self.amr) else {
            return Err(ExchangeError::SessionEnded);
        };
        if !self.has_consent {
            return Err(ExchangeError::ConsentRevoked);
        }
        let methods = AuthenticationMethods::from(amr);
        Ok(ExchangedCode {
            family: Family {
                id: self.family_id,
                client_id: self.client_id,
                user_id: self.user_id,
                session_id: Some(self.session_id),
                epochs: self.epochs,
                sign_in: SignIn { at, methods },
                role: self.role,
                scope: self.scope,
                generation: 1,
                dpop_jkt: presented.family_key.map(str::to_owned),
                redirect_uri: presented.family_redirect_uri.map(str::to_owned),
            },
            other_families: self.other_families,
            nonce: self.nonce,
        })
    }
}
