//! Users: the records of accounts, and the credentials that sign-in verifies.

pub mod account;
pub mod changes;
pub(crate) mod credentials;
pub mod list;

pub use credentials::{StoredCredentials, credentials, credentials_by_id, highest_imported_cost};
pub use foundation::role::Role;

use crate::passwords::HashedPassword;
use foundation::clock::Timestamp;
use foundation::email::Email;
use mail::Recipient;
use serde::Serialize;
use std::collections::HashMap;
use storage::db::{self, Array, Db, Tx};
use storage::{execute, fetch_all, fetch_one, fetch_optional, sql};
use utoipa::ToSchema;

/// The columns of [`User`].
macro_rules! columns {
    () => {
        "id, email, email_verified, role, created_at, updated_at"
    };
}

sql! {
    INSERT = concat!(
        "INSERT INTO users
         (email, email_key, email_verified, role, password_hash, epoch, password_change_required,
          created_at, updated_at)
         VALUES ($1, $2, FALSE, $3, $4, 0, $5, $6, $6)
         RETURNING ", columns!());
    FIND = concat!("SELECT ", columns!(), " FROM users WHERE id = $1 AND deleted_at IS NULL");
    // The parameter of these two is an array of ids.
    FIND_EMAILS_SQLITE = "SELECT id, email FROM users
                          WHERE id IN (SELECT value FROM json_each($1)) AND deleted_at IS NULL";
    FIND_EMAILS_POSTGRES = "SELECT id, email FROM users WHERE id = ANY ($1) AND deleted_at IS NULL";
    FIND_ADMIN = "SELECT id FROM users WHERE role = 'admin' AND deleted_at IS NULL LIMIT 1";
    FIND_INITIAL_PASSWORD = "SELECT id FROM users WHERE email_key = $1 AND password_change_required AND disabled_at IS NULL";
    FIND_ENABLED = concat!("SELECT ", columns!(), " FROM users WHERE id = $1 AND disabled_at IS NULL");
    FIND_ENABLED_BY_EMAIL = concat!(
        "SELECT ", columns!(), " FROM users WHERE email_key = $1 AND disabled_at IS NULL");
    LOCK_EPOCH_SQLITE, LOCK_EPOCH_POSTGRES = concat!(
        "SELECT ", columns!(), " FROM users WHERE id = $1 AND epoch = $2 AND disabled_at IS NULL");
    LOCK_EMAIL_SQLITE, LOCK_EMAIL_POSTGRES =
        "SELECT id FROM users WHERE id = $1 AND email_key = $2 AND disabled_at IS NULL";
    UPDATE_HASH = "UPDATE users SET password_hash = $3 WHERE id = $1 AND epoch = $2";
    SET_PASSWORD = "UPDATE users SET password_hash = $3, password_change_required = FALSE, updated_at = $4
                    WHERE id = $1 AND epoch = $2";
    // Reads the table `passkeys` too, which another module owns, so that no user is left without a way to
    // sign in.
    REMOVE_PASSWORD = "UPDATE users SET password_hash = NULL, password_change_required = FALSE, updated_at = $2
                       WHERE id = $1 AND email_verified AND EXISTS (
                           SELECT 1 FROM passkeys WHERE passkeys.user_id = $1 AND passkeys.last_used_at IS NOT NULL)";
    VERIFY_EMAIL = "UPDATE users SET email_verified = TRUE
                    WHERE id = $1 AND email_key = $2 AND NOT email_verified AND disabled_at IS NULL";
    RESET_PASSWORD = "UPDATE users SET password_hash = $3, password_change_required = FALSE, updated_at = $4
                      WHERE id = $1 AND email_key = $2 AND disabled_at IS NULL";
    SET_EMAIL = "UPDATE users SET email = $3, email_key = $4, email_verified = TRUE, updated_at = $5
                 WHERE id = $1 AND email_key = $2 AND disabled_at IS NULL";
}

/// A user, as the API represents one.
#[derive(Clone, Debug, Serialize, ToSchema, sqlx::FromRow)]
pub struct User {
    /// The user's id: the `sub` of access tokens.
    pub id: i64,
    /// The e-mail address, as the user typed it.
    pub email: String,
    /// Whether the address was confirmed.
    pub email_verified: bool,
    /// The user's role.
    #[sqlx(try_from = "String")]
    pub role: Role,
    /// The time of sign-up.
    pub created_at: Timestamp,
    /// The time of the record's last change.
    pub updated_at: Timestamp,
}

/// The fields of a user to create.
#[derive(Clone, Debug)]
pub struct NewUser {
    /// The e-mail address.
    pub email: Email,
    /// The user's role.
    pub role: Role,
    /// The hash of the password.
    pub password: HashedPassword,
}

/// The reason why a user was not created.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An account with this address exists.
    #[error("an account with this e-mail exists")]
    EmailTaken,
    /// A database error.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// Inserts a user. Fails with [`Error::EmailTaken`] if an account has this address.
pub async fn create(tx: &mut Tx, new: &NewUser, now: Timestamp) -> Result<User, Error> {
    fetch_one!(
        tx.on(),
        User,
        INSERT,
        new.email.as_str(),
        new.email.key(),
        new.role.as_str(),
        new.password.hash.expose(),
        new.password.change_required,
        now,
    )
    .map_err(|error| match error {
        db::Error::Conflict => Error::EmailTaken,
        error => error.into(),
    })
}

/// Returns whether the user with this address must replace the password at the next sign-in.
pub async fn has_initial_password(db: &Db, email: &Email) -> Result<bool, db::Error> {
    let found = fetch_optional!(db.reader(), (i64,), FIND_INITIAL_PASSWORD, email.key())?;
    Ok(found.is_some())
}

/// Returns the user with this id, unless the account was deleted.
pub async fn find(db: &Db, id: i64) -> Result<Option<User>, db::Error> {
    fetch_optional!(db.reader(), User, FIND, id)
}

/// Returns the addresses of the users with these ids, without those of deleted accounts.
pub async fn emails(db: &Db, ids: &[i64]) -> Result<HashMap<i64, String>, db::Error> {
    let sql = db.engine().choose(FIND_EMAILS_SQLITE, FIND_EMAILS_POSTGRES);
    let ids = Array::of(ids, |id| *id);
    let found = fetch_all!(db.reader(), (i64, String), sql, ids)?;
    Ok(found.into_iter().collect())
}

/// Returns the user with this id, unless the account is disabled.
pub async fn find_enabled(db: &Db, id: i64) -> Result<Option<User>, db::Error> {
    fetch_optional!(db.reader(), User, FIND_ENABLED, id)
}

/// Returns the user with this address, unless the account is disabled.
pub(crate) async fn find_enabled_by_email(db: &Db, email: &Email) -> Result<Option<User>, db::Error> {
    fetch_optional!(db.reader(), User, FIND_ENABLED_BY_EMAIL, email.key())
}

/// Returns whether there is an administrator, including a disabled one.
pub async fn has_administrator(db: &Db) -> Result<bool, db::Error> {
    Ok(fetch_optional!(db.reader(), (i64,), FIND_ADMIN)?.is_some())
}

/// Locks the user's row until the transaction ends, and returns the user. Returns `None` if the account is
/// disabled or its credentials are no longer the verified ones. If not, a session that starts in this
/// transaction cannot outlive a concurrent change of the password.
pub async fn lock(tx: &mut Tx, verified: &StoredCredentials) -> Result<Option<User>, db::Error> {
    lock_in_epoch(tx, verified.id, verified.epoch).await
}

/// Locks the user's row until the transaction ends, and returns the user. Returns `None` if the account is
/// disabled or the epoch has ended. If not, a refresh family of this epoch that is created in this
/// transaction ends with the epoch.
pub async fn lock_in_epoch(tx: &mut Tx, id: i64, epoch: i64) -> Result<Option<User>, db::Error> {
    let on = tx.on();
    let lock = on.choose(LOCK_EPOCH_SQLITE, LOCK_EPOCH_POSTGRES);
    fetch_optional!(on, User, lock, id, epoch)
}

/// Locks the user's row until the transaction ends, and returns whether the account is enabled and still has
/// this address.
pub(crate) async fn lock_email(tx: &mut Tx, id: i64, email: &Email) -> Result<bool, db::Error> {
    let on = tx.on();
    let lock = on.choose(LOCK_EMAIL_SQLITE, LOCK_EMAIL_POSTGRES);
    Ok(fetch_optional!(on, (i64,), lock, id, email.key())?.is_some())
}

/// Stores a new hash of the same, verified password. No effect if the credentials changed since.
pub async fn update_hash(
    db: &Db,
    verified: &StoredCredentials,
    password_hash: &str,
) -> Result<(), db::Error> {
    let (id, epoch) = (verified.id, verified.epoch);
    execute!(db.writer(), UPDATE_HASH, id, epoch, password_hash).map(|_| ())
}

/// Replaces the password if the credentials are still the verified ones. Returns whether they were. The
/// caller signs the user out everywhere.
pub async fn set_password(
    tx: &mut Tx,
    verified: &StoredCredentials,
    password_hash: &str,
    now: Timestamp,
) -> Result<bool, db::Error> {
    let (id, epoch) = (verified.id, verified.epoch);
    Ok(execute!(tx.on(), SET_PASSWORD, id, epoch, password_hash, now)? == 1)
}

/// Removes the password. Returns false, without effect, if no passkey of the user has signed in, or if the
/// address is not confirmed. The caller has locked the user's row, and signs the user out everywhere.
pub(crate) async fn remove_password(tx: &mut Tx, id: i64, now: Timestamp) -> Result<bool, db::Error> {
    Ok(execute!(tx.on(), REMOVE_PASSWORD, id, now)? == 1)
}

/// Marks the address of an account as verified. Returns false, without effect, if it was verified before, if
/// the account is disabled, or if `email_key` is no longer the key of its address.
pub(crate) async fn verify_email(tx: &mut Tx, id: i64, email_key: &str) -> Result<bool, db::Error> {
    Ok(execute!(tx.on(), VERIFY_EMAIL, id, email_key)? == 1)
}

/// Replaces the password. Returns false, without effect, if the account is disabled or `email_key` is no
/// longer the key of its address. The caller signs the user out everywhere.
pub(crate) async fn reset_password(
    tx: &mut Tx,
    id: i64,
    email_key: &str,
    password_hash: &str,
    now: Timestamp,
) -> Result<bool, db::Error> {
    Ok(execute!(tx.on(), RESET_PASSWORD, id, email_key, password_hash, now)? == 1)
}

/// Sets the account's address to `email`, whose key is `email_key`, and marks it as verified. Returns false,
/// without effect, if the account is disabled or `current_key` is no longer the key of its address. Fails
/// with [`Conflict`](db::Error::Conflict) if another account has the new address.
pub(crate) async fn set_email(
    tx: &mut Tx,
    id: i64,
    current_key: &str,
    email: &str,
    email_key: &str,
    now: Timestamp,
) -> Result<bool, db::Error> {
    Ok(execute!(tx.on(), SET_EMAIL, id, current_key, email, email_key, now)? == 1)
}

impl User {
    /// Returns the user as the recipient of notices.
    pub fn recipient(&self) -> Recipient<'_> {
        Recipient {
            email: &self.email,
            is_verified: self.email_verified,
        }
    }
}

impl StoredCredentials {
    /// Returns the user as the recipient of notices.
    pub(crate) fn recipient(&self) -> Recipient<'_> {
        Recipient {
            email: &self.email,
            is_verified: self.email_verified,
        }
    }
}
