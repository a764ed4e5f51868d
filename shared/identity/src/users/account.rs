//! Accounts: users with the settings that administrators see.

use super::{User, UserRow};
use foundation::clock::Timestamp;
use foundation::email::Email;
use foundation::role::Role;
use serde::Serialize;
use storage::db::{Db, Error};
use storage::{fetch_all, fetch_optional, sql};
use utoipa::ToSchema;

/// The columns of [`AccountRow`]. They read the table `totp` too, which another module owns, so that `GET /me` takes
/// one round trip.
macro_rules! columns {
    () => {
        "id, email, email_verified, role, created_at, updated_at, disabled_at,
         EXISTS (SELECT 1 FROM totp WHERE totp.user_id = users.id AND totp.confirmed_at IS NOT NULL) AS mfa_enabled"
    };
}
pub(super) use columns;

/// Returns the text of the statement for a page of the accounts with this condition, in the order of its index.
macro_rules! page {
    ($condition:literal, $order:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM users WHERE deleted_at IS NULL AND ",
            $condition,
            " ORDER BY ",
            $order,
            " LIMIT $2"
        )
    };
}

sql! {
    FIND = concat!("SELECT ", columns!(), " FROM users WHERE id = $1 AND deleted_at IS NULL");
    FIND_ENABLED = concat!("SELECT ", columns!(), " FROM users WHERE id = $1 AND disabled_at IS NULL");
    FIND_BY_EMAIL = concat!("SELECT ", columns!(), " FROM users WHERE email_key = $1");
    LIST = concat!("SELECT ", columns!(), " FROM users WHERE deleted_at IS NULL ORDER BY id");
    PAGE = page!("id > $1", "id");
    PAGE_ENABLED = page!("disabled_at IS NULL AND id > $1", "id");
    PAGE_DISABLED = page!("disabled_at IS NOT NULL AND id > $1", "id");
    PAGE_BY_ROLE_SQLITE = page!("role = $3 AND id > $1", "role, id");
    PAGE_ENABLED_BY_ROLE_SQLITE = page!("disabled_at IS NULL AND role = $3 AND id > $1", "role, id");
    PAGE_DISABLED_BY_ROLE_SQLITE = page!("disabled_at IS NOT NULL AND role = $3 AND id > $1", "role, id");
    // The role is compared by `<=`, because from `=` PostgreSQL concludes that the order is that of the ids, and may
    // read all users in that order to find the few administrators.
    PAGE_BY_ROLE_POSTGRES = page!("(role, id) > ($3, $1) AND role <= $3", "role, id");
    PAGE_ENABLED_BY_ROLE_POSTGRES = page!("disabled_at IS NULL AND (role, id) > ($3, $1) AND role <= $3", "role, id");
    PAGE_DISABLED_BY_ROLE_POSTGRES = page!(
        "disabled_at IS NOT NULL AND (role, id) > ($3, $1) AND role <= $3", "role, id");
}

/// A user with the account's settings.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Account {
    /// The user.
    #[serde(flatten)]
    pub user: User,
    /// Whether two-step sign-in is on.
    pub mfa_enabled: bool,
    /// The time at which the account was disabled; null while it is enabled.
    #[schema(required)]
    pub disabled_at: Option<Timestamp>,
}

/// The condition on listed accounts. A field that is `None` imposes no condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only the account with this address.
    pub email: Option<Email>,
    /// Only users with this role.
    pub role: Option<Role>,
    /// Only disabled accounts, or only enabled ones.
    pub disabled: Option<bool>,
}

#[derive(sqlx::FromRow)]
pub(super) struct AccountRow {
    #[sqlx(flatten)]
    user: UserRow,
    mfa_enabled: bool,
    disabled_at: Option<Timestamp>,
}

/// Returns the account with this id, unless it was deleted.
pub async fn find(db: &Db, id: i64) -> Result<Option<Account>, Error> {
    Ok(fetch_optional!(db.reader(), AccountRow, FIND, id)?.map(Account::from))
}

/// Returns the account with this id, unless it is disabled.
pub async fn find_enabled(db: &Db, id: i64) -> Result<Option<Account>, Error> {
    Ok(fetch_optional!(db.reader(), AccountRow, FIND_ENABLED, id)?.map(Account::from))
}

/// Returns the account with this address, including a disabled one.
pub async fn find_by_email(db: &Db, email: &Email) -> Result<Option<Account>, Error> {
    Ok(fetch_optional!(db.reader(), AccountRow, FIND_BY_EMAIL, email.key())?.map(Account::from))
}

/// Returns all accounts, ordered by id.
pub async fn list(db: &Db) -> Result<Vec<Account>, Error> {
    let rows = fetch_all!(db.reader(), AccountRow, LIST)?;
    Ok(rows.into_iter().map(Account::from).collect())
}

/// Returns up to `limit` accounts that match `filter`, ordered by id: those after the id `after`.
pub async fn page(db: &Db, filter: &Filter, after: i64, limit: i64) -> Result<Vec<Account>, Error> {
    if let Some(email) = &filter.email {
        let found = find_by_email(db, email).await?;
        let is_in_page = |account: &Account| account.user.id > after && filter.matches(account);
        return Ok(found.filter(is_in_page).into_iter().collect());
    }
    let on = db.reader();
    let rows = match filter.role {
        None => {
            let statement = match filter.disabled {
                None => PAGE,
                Some(false) => PAGE_ENABLED,
                Some(true) => PAGE_DISABLED,
            };
            fetch_all!(on, AccountRow, statement, after, limit)?
        }
        Some(role) => {
            let statement = match filter.disabled {
                None => on.choose(PAGE_BY_ROLE_SQLITE, PAGE_BY_ROLE_POSTGRES),
                Some(false) => on.choose(PAGE_ENABLED_BY_ROLE_SQLITE, PAGE_ENABLED_BY_ROLE_POSTGRES),
                Some(true) => on.choose(PAGE_DISABLED_BY_ROLE_SQLITE, PAGE_DISABLED_BY_ROLE_POSTGRES),
            };
            fetch_all!(on, AccountRow, statement, after, limit, role.as_str())?
        }
    };
    Ok(rows.into_iter().map(Account::from).collect())
}

impl Account {
    /// Returns the account of a user who was created just now.
    pub(crate) const fn of_new_user(user: User) -> Self {
        Self {
            user,
            mfa_enabled: false,
            disabled_at: None,
        }
    }
}

impl Filter {
    /// Returns whether the account fulfils the conditions on the role and on its being disabled.
    fn matches(&self, account: &Account) -> bool {
        self.role.is_none_or(|role| account.user.role == role)
            && self
                .disabled
                .is_none_or(|disabled| account.disabled_at.is_some() == disabled)
    }
}

impl From<AccountRow> for Account {
    fn from(row: AccountRow) -> Self {
        Self {
            user: row.user.into(),
            mfa_enabled: row.mfa_enabled,
            disabled_at: row.disabled_at,
        }
    }
}
