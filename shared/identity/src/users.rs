//! Users.

pub mod changes;

use foundation::clock::Timestamp;
use foundation::email::Email;
use foundation::scope;
use foundation::scope::Scope;
use serde::Serialize;
use storage::db;
use storage::db::{Db, Tx};
use storage::{execute, fetch_all, fetch_one, fetch_optional, sql};
use utoipa::ToSchema;

/// Joins the other table that a sign-in looks at: one round trip.
macro_rules! credentials {
    () => {
        "SELECT id, email, password_hash, password_version, unlocked_at,
                EXISTS (SELECT 1 FROM totp WHERE totp.user_id = users.id AND totp.confirmed_at IS NOT NULL) AS mfa
         FROM users"
    };
}

sql! {
    INSERT = "INSERT INTO users
              (email, email_key, email_verified, role, password_hash, password_version, password_change_required,
               created_at, updated_at)
              VALUES ($1, $2, FALSE, $3, $4, 1, $5, $6, $6)
              RETURNING id, email, email_verified, role, created_at, updated_at";
    FIND = "SELECT id, email, email_verified, role, created_at, updated_at FROM users
            WHERE id = $1 AND deleted_at IS NULL";
    LIST = "SELECT id, email, email_verified, role, created_at, updated_at FROM users
            WHERE deleted_at IS NULL ORDER BY id";
    FIND_ADMIN = "SELECT id FROM users WHERE role = 'admin' AND deleted_at IS NULL LIMIT 1";
    FIND_ENABLED = "SELECT id, email, email_verified, role, created_at, updated_at FROM users
                    WHERE id = $1 AND disabled_at IS NULL";
    FIND_BY_EMAIL = "SELECT id, email, email_verified, role, created_at, updated_at FROM users
                     WHERE email_key = $1";
    CREDENTIALS = concat!(credentials!(), " WHERE email_key = $1 AND disabled_at IS NULL");
    CREDENTIALS_BY_ID = concat!(credentials!(), " WHERE id = $1 AND disabled_at IS NULL");
    FIND_ENABLED_BY_EMAIL = "SELECT id, email, email_verified, role, created_at, updated_at FROM users
                             WHERE email_key = $1 AND disabled_at IS NULL";
    LOCK = "UPDATE users SET password_version = password_version
            WHERE id = $1 AND password_version = $2 AND disabled_at IS NULL";
    LOCK_EMAIL = "UPDATE users SET email_key = email_key
                  WHERE id = $1 AND email_key = $2 AND disabled_at IS NULL";
    RENEW_HASH = "UPDATE users SET password_hash = $3 WHERE id = $1 AND password_version = $2";
    SET_PASSWORD = "UPDATE users SET password_hash = $3, password_version = password_version + 1,
                    password_change_required = FALSE, updated_at = $4
                    WHERE id = $1 AND password_version = $2";
    RESET_PASSWORD = "UPDATE users SET password_hash = $3, password_version = password_version + 1,
                      password_change_required = FALSE, email_verified = TRUE, updated_at = $4
                      WHERE id = $1 AND email_key = $2 AND disabled_at IS NULL";
    SET_EMAIL = "UPDATE users SET email = $3, email_key = $4, email_verified = TRUE, updated_at = $5
                 WHERE id = $1 AND email_key = $2 AND disabled_at IS NULL";
}

/// What a user may do at most; a token may do less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Their own things.
    User,
    /// Everyone's posts and comments.
    Editor,
    /// Everything.
    Admin,
}

impl Role {
    /// As stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Editor => "editor",
            Self::Admin => "admin",
        }
    }

    /// What a role allows: everything but `admin`, which administrators alone have.
    pub fn scope(self) -> Scope {
        match self {
            Self::Admin => Scope::all(),
            Self::User | Self::Editor => scope::ALL
                .into_iter()
                .filter(|name| *name != "admin")
                .collect::<Vec<_>>()
                .join(" ")
                .parse()
                .unwrap_or_default(),
        }
    }
}

/// A user as the API shows one.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct User {
    /// Identifies the user; `sub` of access tokens.
    pub id: i64,
    /// As given at sign-up.
    pub email: String,
    /// Whether the address was confirmed.
    pub email_verified: bool,
    /// What the user may do at most.
    pub role: Role,
    /// When the account was made.
    pub created_at: Timestamp,
    /// When the record last changed.
    pub updated_at: Timestamp,
}

/// A user to be.
#[derive(Clone, Debug)]
pub struct NewUser {
    /// Not taken yet.
    pub email: Email,
    /// What the user may do at most.
    pub role: Role,
    /// The PHC string of the password.
    pub password_hash: String,
    /// Whether the user may do nothing before choosing another password.
    pub password_change_required: bool,
}

/// What a sign-in is checked against.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct StoredCredentials {
    /// The user.
    pub id: i64,
    /// Their address.
    pub email: String,
    /// The PHC string.
    pub password_hash: String,
    /// Counts what a sign-in is checked against: passwords, second steps turned on and off. A new hash of the same
    /// password changes nothing here.
    pub password_version: i64,
    /// When failures were last forgotten.
    pub unlocked_at: Option<Timestamp>,
    /// Whether a one-time code is asked for too.
    pub mfa: bool,
}

/// Why a user was not made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address belongs to an account.
    #[error("an account with this e-mail exists")]
    EmailTaken,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

#[derive(sqlx::FromRow)]
pub(crate) struct Row {
    id: i64,
    email: String,
    email_verified: bool,
    role: String,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// Makes a user; of two at once with one address, one fails with [`Error::EmailTaken`].
pub async fn create(tx: &mut Tx, new: &NewUser, now: Timestamp) -> Result<User, Error> {
    let row = fetch_one!(
        tx.on(),
        Row,
        INSERT,
        new.email.as_str(),
        new.email.key(),
        new.role.as_str(),
        new.password_hash.as_str(),
        new.password_change_required,
        now,
    );
    match row {
        Ok(row) => Ok(row.into()),
        Err(db::Error::Conflict) => Err(Error::EmailTaken),
        Err(error) => Err(error.into()),
    }
}

/// The user of this id.
pub async fn find(db: &Db, id: i64) -> Result<Option<User>, db::Error> {
    Ok(fetch_optional!(db.reader(), Row, FIND, id)?.map(User::from))
}

/// The user of this id, unless they are disabled.
pub async fn find_enabled(db: &Db, id: i64) -> Result<Option<User>, db::Error> {
    Ok(fetch_optional!(db.reader(), Row, FIND_ENABLED, id)?.map(User::from))
}

/// The user with this address.
pub async fn find_by_email(db: &Db, email: &Email) -> Result<Option<User>, db::Error> {
    Ok(fetch_optional!(db.reader(), Row, FIND_BY_EMAIL, email.key())?.map(User::from))
}

/// The user with this address, unless they are disabled.
pub(crate) async fn find_enabled_by_email(db: &Db, email: &Email) -> Result<Option<User>, db::Error> {
    Ok(fetch_optional!(db.reader(), Row, FIND_ENABLED_BY_EMAIL, email.key())?.map(User::from))
}

/// Every user, by id.
pub async fn list(db: &Db) -> Result<Vec<User>, db::Error> {
    Ok(fetch_all!(db.reader(), Row, LIST)?
        .into_iter()
        .map(User::from)
        .collect())
}

/// Whether any user is an administrator.
pub async fn has_administrator(db: &Db) -> Result<bool, db::Error> {
    Ok(fetch_optional!(db.reader(), (i64,), FIND_ADMIN)?.is_some())
}

/// What a sign-in with this address is checked against.
pub async fn credentials(db: &Db, email: &Email) -> Result<Option<StoredCredentials>, db::Error> {
    fetch_optional!(db.reader(), StoredCredentials, CREDENTIALS, email.key())
}

/// What a user's password is checked against once more.
pub async fn credentials_by_id(db: &Db, id: i64) -> Result<Option<StoredCredentials>, db::Error> {
    fetch_optional!(db.reader(), StoredCredentials, CREDENTIALS_BY_ID, id)
}

/// Whether the password is still the one that was verified; if so it cannot change before the caller's
/// transaction ends. A session begun under this never escapes a change of password.
pub async fn lock(tx: &mut Tx, verified: &StoredCredentials) -> Result<bool, db::Error> {
    Ok(execute!(tx.on(), LOCK, verified.id, verified.password_version)? == 1)
}

/// Whether the address is still this one; if so it cannot change before the caller's transaction ends.
pub(crate) async fn lock_email(tx: &mut Tx, id: i64, email: &Email) -> Result<bool, db::Error> {
    Ok(execute!(tx.on(), LOCK_EMAIL, id, email.key())? == 1)
}

/// Stores another hash of the password that was verified, unless that was replaced since.
pub async fn renew_hash(
    tx: &mut Tx,
    verified: &StoredCredentials,
    password_hash: &str,
) -> Result<(), db::Error> {
    let version = verified.password_version;
    execute!(tx.on(), RENEW_HASH, verified.id, version, password_hash).map(|_| ())
}

/// Replaces a password if it is still the one that was verified. Gives whether it was.
pub async fn set_password(
    tx: &mut Tx,
    verified: &StoredCredentials,
    password_hash: &str,
    now: Timestamp,
) -> Result<bool, db::Error> {
    let version = verified.password_version;
    Ok(execute!(tx.on(), SET_PASSWORD, verified.id, version, password_hash, now)? == 1)
}

/// Replaces the password of whoever proved that the account's address is theirs, which is confirmed by it. Gives
/// whether the account still has that address.
pub(crate) async fn reset_password(
    tx: &mut Tx,
    id: i64,
    email_key: &str,
    password_hash: &str,
    now: Timestamp,
) -> Result<bool, db::Error> {
    Ok(execute!(tx.on(), RESET_PASSWORD, id, email_key, password_hash, now)? == 1)
}

/// Gives an account the address that was proved, if it still has the present one, by which that is known; gives
/// whether it has. [`Conflict`](db::Error::Conflict): the new one is another account's.
pub(crate) async fn set_email(
    tx: &mut Tx,
    id: i64,
    present_key: &str,
    (email, email_key): (&str, &str),
    now: Timestamp,
) -> Result<bool, db::Error> {
    Ok(execute!(tx.on(), SET_EMAIL, id, present_key, email, email_key, now)? == 1)
}

impl From<Row> for User {
    fn from(row: Row) -> Self {
        Self {
            id: row.id,
            email: row.email,
            email_verified: row.email_verified,
            role: [Role::Editor, Role::Admin]
                .into_iter()
                .find(|role| role.as_str() == row.role)
                .unwrap_or(Role::User),
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}
