//! Tokens in mailed links. A token proves that its bearer can read the mail of an address. Each has 256
//! random bits, is stored as a hash, and can be used once.

use crate::users::User;
use foundation::clock::Timestamp;
use foundation::email::Email;
use foundation::random;
use foundation::secret::Secret;
use std::time::Duration;
use storage::db::{Db, Error, Tx};
use storage::{delete_expired, execute, fetch_optional, sql};

sql! {
    INSERT = "INSERT INTO mailed_tokens (token_hash, purpose, user_id, email, email_key, created_at, expires_at)
              VALUES ($1, $2, $3, $4, $5, $6, $7)";
    // Reads the table `users` too, which another module owns: whether a token confirms or changes the address
    // depends on the account's current one.
    FIND = "SELECT t.email AS mailed_to, t.email_key AS mailed_to_key, u.email_key AS current_key,
                   u.id, u.email, u.email_verified, u.role, u.created_at, u.updated_at
            FROM mailed_tokens t JOIN users u ON u.id = t.user_id
            WHERE t.token_hash = $1 AND t.purpose = $2 AND t.used_at IS NULL AND t.expires_at > $3
              AND u.disabled_at IS NULL";
    CLAIM = "UPDATE mailed_tokens SET used_at = $3
             WHERE token_hash = $1 AND purpose = $2 AND used_at IS NULL AND expires_at > $3";
    DELETE_SUPERSEDED_BY_EMAIL = "DELETE FROM mailed_tokens
                            WHERE email_key = $1 AND purpose = $2 AND used_at IS NULL AND token_hash <> $3";
    DELETE_SUPERSEDED_BY_USER = "DELETE FROM mailed_tokens
                         WHERE user_id = $1 AND purpose = $2 AND used_at IS NULL AND token_hash <> $3";
    DELETE_UNUSED = "DELETE FROM mailed_tokens WHERE user_id = $1 AND used_at IS NULL";
    DELETE_ALL = "DELETE FROM mailed_tokens WHERE user_id = $1";
    DELETE_EVERY = "DELETE FROM mailed_tokens";
    PRUNE = delete_expired!("mailed_tokens");
}

/// The action that a token authorizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Setting a new password.
    PasswordReset,
    /// Confirming an address, and changing the account's address to it if it is a new one.
    EmailVerification,
}

/// The lifetimes of mailed links.
#[derive(Clone, Copy, Debug)]
pub struct Lifetimes {
    /// The lifetime of a password reset link.
    pub password_reset: Duration,
    /// The lifetime of a link that confirms an e-mail address.
    pub email_verification: Duration,
}

/// The stored values of a valid token.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct MailedToken {
    /// The user for whom the token was created.
    #[sqlx(flatten)]
    pub user: User,
    /// The address to which the link was mailed.
    pub mailed_to: String,
    /// The comparison key of `mailed_to`, see [`Email::key`].
    pub(crate) mailed_to_key: String,
    /// The comparison key of the user's current address.
    pub(crate) current_key: String,
}

impl MailedToken {
    /// Returns whether the link was mailed to another address than the user's current one.
    pub fn is_change(&self) -> bool {
        self.mailed_to_key != self.current_key
    }
}

impl Purpose {
    const fn as_str(self) -> &'static str {
        match self {
            Self::PasswordReset => "password_reset",
            Self::EmailVerification => "email_verification",
        }
    }
}

/// Creates a token and returns it. Deletes the unused tokens that it supersedes: those of the same purpose
/// that were mailed to this address (password reset) or belong to this user (e-mail verification). A token
/// without a user is never valid. It is created because the response time would otherwise reveal whether an
/// address has an account.
pub(crate) async fn create(
    tx: &mut Tx,
    purpose: Purpose,
    user_id: Option<i64>,
    email: &Email,
    lifetime: Duration,
    now: Timestamp,
) -> Result<Secret, Error> {
    let token = random::token();
    let (hash, name) = (token.hash(), purpose.as_str());
    // The foreign key makes the insert lock the user's row before the deletes lock tokens. Every change to a
    // user locks in this order.
    let (to, key, end) = (email.as_str(), email.key(), now.after(lifetime));
    execute!(tx.on(), INSERT, hash.as_slice(), name, user_id, to, key, now, end)?;
    match purpose {
        Purpose::PasswordReset => execute!(tx.on(), DELETE_SUPERSEDED_BY_EMAIL, key, name, hash)?,
        Purpose::EmailVerification => execute!(tx.on(), DELETE_SUPERSEDED_BY_USER, user_id, name, hash)?,
    };
    Ok(token)
}

/// Returns the stored values of a token. Returns `None` if the token is unknown, of another purpose, used or
/// expired, or if the account is disabled. A concurrent caller may find the same token, so the caller must
/// also [`claim`] it.
pub(crate) async fn find(
    db: &Db,
    purpose: Purpose,
    token: &Secret,
    now: Timestamp,
) -> Result<Option<MailedToken>, Error> {
    let (on, name) = (db.reader(), purpose.as_str());
    fetch_optional!(on, MailedToken, FIND, token.hash(), name, now)
}

/// Marks a valid token as used. Returns true to only one of several concurrent callers, and false if the
/// token is not valid.
pub(crate) async fn claim(
    tx: &mut Tx,
    purpose: Purpose,
    token: &Secret,
    now: Timestamp,
) -> Result<bool, Error> {
    Ok(execute!(tx.on(), CLAIM, token.hash(), purpose.as_str(), now)? == 1)
}

/// Deletes all tokens of a user, including used ones.
pub(crate) async fn delete_all(tx: &mut Tx, user_id: i64) -> Result<(), Error> {
    execute!(tx.on(), DELETE_ALL, user_id).map(|_| ())
}

/// Deletes the unused tokens of a user, whose links then no longer work.
pub(crate) async fn delete_unused(tx: &mut Tx, user_id: i64) -> Result<(), Error> {
    execute!(tx.on(), DELETE_UNUSED, user_id).map(|_| ())
}

/// Deletes the tokens of all users.
pub(crate) async fn delete_every(tx: &mut Tx) -> Result<(), Error> {
    execute!(tx.on(), DELETE_EVERY).map(|_| ())
}

/// Deletes expired tokens and returns their number.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, Error> {
    db.prune(PRUNE, now).await
}
