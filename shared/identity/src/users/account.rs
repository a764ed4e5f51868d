//! Accounts: users with the settings that administrators see.

use super::User;
use foundation::clock::Timestamp;
use foundation::email::Email;
use serde::Serialize;
use storage::db::{Db, Error};
use storage::{fetch_optional, sql};
use utoipa::ToSchema;

/// The columns of [`Account`]. They read the tables `totp`, `recovery_codes` and `passkeys` too, which other
/// modules own, so that `GET /me` takes one round trip.
macro_rules! columns {
    () => {
        "id, email, email_verified, role, created_at, updated_at, disabled_at, password_change_required,
         password_hash IS NOT NULL AS has_password,
         EXISTS (SELECT 1 FROM totp WHERE totp.user_id = users.id AND totp.confirmed_at IS NOT NULL) AS mfa_enabled,
         (SELECT COUNT(*) FROM recovery_codes
          WHERE recovery_codes.user_id = users.id AND recovery_codes.used_at IS NULL) AS recovery_codes_left,
         (SELECT COUNT(*) FROM passkeys WHERE passkeys.user_id = users.id) AS passkeys"
    };
}
pub(super) use columns;

sql! {
    FIND = concat!("SELECT ", columns!(), " FROM users WHERE id = $1 AND deleted_at IS NULL");
    FIND_ENABLED = concat!("SELECT ", columns!(), " FROM users WHERE id = $1 AND disabled_at IS NULL");
    // Reads the table `mailed_tokens` too, so that the page takes one round trip.
    FIND_OWN = concat!(
        "SELECT ", columns!(), ",
         (SELECT link.email FROM mailed_tokens link
          WHERE link.user_id = users.id AND link.purpose = 'email_verification' AND link.used_at IS NULL
            AND link.expires_at > $2 AND link.email_key <> users.email_key LIMIT 1) AS requested_email
         FROM users WHERE id = $1 AND disabled_at IS NULL");
    FIND_BY_EMAIL = concat!("SELECT ", columns!(), " FROM users WHERE email_key = $1");
}

/// A user with the account's settings.
#[derive(Clone, Debug, Serialize, ToSchema, sqlx::FromRow)]
pub struct Account {
    /// The user.
    #[serde(flatten)]
    #[sqlx(flatten)]
    pub user: User,
    /// Whether the user has a password. Without one, passkeys alone sign in.
    pub has_password: bool,
    /// Whether two-step sign-in is on.
    pub mfa_enabled: bool,
    /// The number of unused recovery codes.
    pub recovery_codes_left: i64,
    /// The number of passkeys.
    pub passkeys: i64,
    /// Whether the user must choose another password before doing anything else.
    #[serde(skip)]
    pub password_change_required: bool,
    /// The time at which the account was disabled; null while it is enabled.
    #[schema(required)]
    pub disabled_at: Option<Timestamp>,
}

/// An account as the page of its user shows it.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct OwnAccount {
    /// The account.
    #[sqlx(flatten)]
    pub account: Account,
    /// The address of a change that waits for its confirmation.
    pub requested_email: Option<String>,
}

/// Returns the account with this id, unless it was deleted.
pub async fn find(db: &Db, id: i64) -> Result<Option<Account>, Error> {
    fetch_optional!(db.reader(), Account, FIND, id)
}

/// Returns the account with this id, unless it is disabled.
pub async fn find_enabled(db: &Db, id: i64) -> Result<Option<Account>, Error> {
    fetch_optional!(db.reader(), Account, FIND_ENABLED, id)
}

/// Returns the account with this id for the page of its user, unless it is disabled.
pub async fn find_own(db: &Db, id: i64, now: Timestamp) -> Result<Option<OwnAccount>, Error> {
    fetch_optional!(db.reader(), OwnAccount, FIND_OWN, id, now)
}

/// Returns the account with this address, including a disabled one.
pub async fn find_by_email(db: &Db, email: &Email) -> Result<Option<Account>, Error> {
    fetch_optional!(db.reader(), Account, FIND_BY_EMAIL, email.key())
}

impl Account {
    /// Returns the account of a user who was created just now.
    pub(crate) const fn of_new_user(user: User, password_change_required: bool) -> Self {
        Self {
            user,
            has_password: true,
            mfa_enabled: false,
            recovery_codes_left: 0,
            passkeys: 0,
            password_change_required,
            disabled_at: None,
        }
    }
}
