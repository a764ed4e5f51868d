//! Tokens that travel in the links of mails: each proves that its bearer reads the mail of an address. 256 bits,
//! stored as hashes, used once.

use foundation::clock::Timestamp;
use foundation::email::Email;
use foundation::random;
use foundation::secret::Secret;
use std::time::Duration;
use storage::db::{Db, Error, Tx};
use storage::{execute, fetch_optional, sql};

sql! {
    INSERT = "INSERT INTO mailed_tokens (token_hash, purpose, user_id, email, email_key, created_at, expires_at)
              VALUES ($1, $2, $3, $4, $5, $6, $7)";
    // Joins the other table of this module's parent: what a token is for depends on the address of today.
    FIND = "SELECT t.user_id, t.email, t.email_key, u.email AS present_email, u.email_key AS present_key
            FROM mailed_tokens t JOIN users u ON u.id = t.user_id
            WHERE t.token_hash = $1 AND t.purpose = $2 AND t.used_at IS NULL AND t.expires_at > $3
              AND u.disabled_at IS NULL";
    CLAIM = "UPDATE mailed_tokens SET used_at = $3
             WHERE token_hash = $1 AND purpose = $2 AND used_at IS NULL AND expires_at > $3";
    SUPERSEDE_OF_ADDRESS = "DELETE FROM mailed_tokens
                            WHERE email_key = $1 AND purpose = $2 AND used_at IS NULL AND token_hash <> $3";
    SUPERSEDE_OF_USER = "DELETE FROM mailed_tokens
                         WHERE user_id = $1 AND purpose = $2 AND used_at IS NULL AND token_hash <> $3";
    DELETE_UNUSED_OF_USER = "DELETE FROM mailed_tokens WHERE user_id = $1 AND used_at IS NULL";
    DELETE_OF_USER = "DELETE FROM mailed_tokens WHERE user_id = $1";
    PRUNE = "DELETE FROM mailed_tokens WHERE expires_at <= $1";
}

/// What a token is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To choose a new password.
    PasswordReset,
    /// To confirm an address, and make it the account's.
    EmailVerification,
}

/// How long links live.
#[derive(Clone, Copy, Debug)]
pub struct Lifetimes {
    /// That to a new password.
    pub password_reset: Duration,
    /// That which confirms an address.
    pub email_verification: Duration,
}

/// What a good token says.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(crate) struct MailedToken {
    /// Whose account it is.
    pub(crate) user_id: i64,
    /// The address that the mail went to.
    pub(crate) email: String,
    /// What that is compared by.
    pub(crate) email_key: String,
    /// The address that the account has.
    pub(crate) present_email: String,
    /// What that is compared by.
    pub(crate) present_key: String,
}

impl Purpose {
    const fn as_str(self) -> &'static str {
        match self {
            Self::PasswordReset => "password_reset",
            Self::EmailVerification => "email_verification",
        }
    }
}

/// Makes a token, and voids those of the same purpose that went to this address (for a reset) or were this
/// user's (for a verification). One for nobody is a decoy that opens nothing: it is the same work.
pub(crate) async fn create(
    tx: &mut Tx,
    purpose: Purpose,
    (user_id, email): (Option<i64>, &Email),
    lifetime: Duration,
    now: Timestamp,
) -> Result<Secret, Error> {
    let token = random::token();
    let hash = token.hash();
    // First the row that refers to the user, then the others: whoever changes a user locks in this order too.
    execute!(
        tx.on(),
        INSERT,
        hash.as_slice(),
        purpose.as_str(),
        user_id,
        email.as_str(),
        email.key(),
        now,
        now.after(lifetime),
    )?;
    match purpose {
        Purpose::PasswordReset => {
            execute!(tx.on(), SUPERSEDE_OF_ADDRESS, email.key(), purpose.as_str(), hash)?;
        }
        Purpose::EmailVerification => {
            execute!(tx.on(), SUPERSEDE_OF_USER, user_id, purpose.as_str(), hash)?;
        }
    }
    Ok(token)
}

/// What a token says, if it is good at present. Whether it still is, [`claim`] decides.
pub(crate) async fn find(
    db: &Db,
    purpose: Purpose,
    token: &Secret,
    now: Timestamp,
) -> Result<Option<MailedToken>, Error> {
    fetch_optional!(
        db.reader(),
        MailedToken,
        FIND,
        token.hash(),
        purpose.as_str(),
        now
    )
}

/// Uses a token up: of any number of callers at once one is told that it did.
pub(crate) async fn claim(
    tx: &mut Tx,
    purpose: Purpose,
    token: &Secret,
    now: Timestamp,
) -> Result<bool, Error> {
    Ok(execute!(tx.on(), CLAIM, token.hash(), purpose.as_str(), now)? == 1)
}

/// Deletes every token of a user, those that were used too.
pub(crate) async fn delete_all(tx: &mut Tx, user_id: i64) -> Result<(), Error> {
    execute!(tx.on(), DELETE_OF_USER, user_id).map(|_| ())
}

/// Voids every token of a user.
pub(crate) async fn delete_unused(tx: &mut Tx, user_id: i64) -> Result<(), Error> {
    execute!(tx.on(), DELETE_UNUSED_OF_USER, user_id).map(|_| ())
}

/// Deletes tokens that died of old age.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, Error> {
    execute!(db.writer(), PRUNE, now)
}
