//! The stored credentials of users.

use foundation::clock::Timestamp;
use foundation::email::Email;
use storage::db::{self, Db};
use storage::{fetch_optional, sql};

/// The query of [`StoredCredentials`] without its condition. It reads the table `totp` too, which another
/// module owns, so that a sign-in takes one round trip.
macro_rules! credentials {
    () => {
        "SELECT id, email, email_verified, password_hash, epoch, unlocked_at,
                EXISTS (SELECT 1 FROM totp WHERE totp.user_id = users.id AND totp.confirmed_at IS NOT NULL) AS mfa
         FROM users"
    };
}

sql! {
    CREDENTIALS = concat!(credentials!(), " WHERE email_key = $1 AND disabled_at IS NULL");
    CREDENTIALS_BY_ID = concat!(credentials!(), " WHERE id = $1 AND disabled_at IS NULL");
    // The two digits of the cost in a bcrypt hash, such as `$2b$10$…`. An index has them.
    HIGHEST_IMPORTED_COST = "SELECT substr(password_hash, 5, 2) FROM users WHERE substr(password_hash, 1, 2) = '$2'
                             ORDER BY substr(password_hash, 5, 2) DESC LIMIT 1";
}

/// The stored values against which presented credentials are verified.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct StoredCredentials {
    /// The user's id.
    pub id: i64,
    /// The user's e-mail address.
    pub email: String,
    /// Whether the address was confirmed.
    pub email_verified: bool,
    /// The hash of the password: a PHC string, or a bcrypt hash that was imported; `None` if the user signs
    /// in by passkeys alone.
    pub password_hash: Option<String>,
    /// The number of times that all sessions and tokens of the user ended, as with each change of the
    /// credentials. A new hash of the same password leaves it as it is.
    pub epoch: i64,
    /// The time at which the failed sign-ins were last cleared.
    pub unlocked_at: Option<Timestamp>,
    /// Whether sign-in requires a one-time code too.
    pub mfa: bool,
}

/// Returns the credentials of the enabled account with this address.
pub async fn credentials(db: &Db, email: &Email) -> Result<Option<StoredCredentials>, db::Error> {
    fetch_optional!(db.reader(), StoredCredentials, CREDENTIALS, email.key())
}

/// Returns the credentials of the enabled account with this id.
pub async fn credentials_by_id(db: &Db, id: i64) -> Result<Option<StoredCredentials>, db::Error> {
    fetch_optional!(db.reader(), StoredCredentials, CREDENTIALS_BY_ID, id)
}

/// Returns the highest cost of the imported bcrypt hashes, or `None` if there are none.
pub async fn highest_imported_cost(db: &Db) -> Result<Option<u32>, db::Error> {
    let row = fetch_optional!(db.reader(), (String,), HIGHEST_IMPORTED_COST)?;
    Ok(row.and_then(|(digits,)| digits.parse().ok()))
}
