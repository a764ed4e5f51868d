//! What becomes of an account: other roles, disabled, unlocked, deleted. There is always an administrator.

use crate::users::{Role, Row, StoredCredentials, User};
use foundation::clock::Timestamp;
use storage::db::{Error, Tx};
use storage::{execute, fetch_optional, sql};

/// Holds of a user who may cease to be an administrator: they are none who counts, or not the only one.
macro_rules! not_the_last_administrator {
    () => {
        "(role <> 'admin' OR disabled_at IS NOT NULL OR EXISTS (
             SELECT 1 FROM users AS other
             WHERE other.role = 'admin' AND other.disabled_at IS NULL AND other.id <> users.id))"
    };
}

sql! {
    // Two who would both be the last but one wait here for each other, and the next statement sees what the other
    // did. Who is no administrator waits for nobody.
    LOCK_ACTIVE_ADMINISTRATORS = "UPDATE users SET password_version = password_version
                           WHERE role = 'admin' AND disabled_at IS NULL AND EXISTS (
                               SELECT 1 FROM users AS one WHERE one.id = $1 AND one.role = 'admin')";
    DISABLE = concat!(
        "UPDATE users SET disabled_at = $2 WHERE id = $1 AND disabled_at IS NULL AND ",
        not_the_last_administrator!());
    ENABLE = "UPDATE users SET disabled_at = NULL
              WHERE id = $1 AND disabled_at IS NOT NULL AND deleted_at IS NULL";
    SET_ROLE = concat!(
        "UPDATE users SET role = $2, updated_at = $3 WHERE id = $1 AND deleted_at IS NULL AND ($2 = 'admin' OR ",
        not_the_last_administrator!(),
        ") RETURNING id, email, email_verified, role, created_at, updated_at");
    // Whatever was verified before is no longer what a sign-in holds on to.
    INVALIDATE_SIGN_INS = "UPDATE users SET password_version = password_version + 1 WHERE id = $1";
    REPLACE_PASSWORD = "UPDATE users SET password_hash = $2, password_version = password_version + 1,
                        password_change_required = $3, updated_at = $4
                        WHERE id = $1 AND deleted_at IS NULL";
    UNLOCK = "UPDATE users SET unlocked_at = $2 WHERE id = $1 AND deleted_at IS NULL";
    // The address is free for another account; none can have the key that takes its place.
    ANONYMIZE = concat!(
        "UPDATE users SET email = '', email_key = 'deleted-' || id, email_verified = FALSE, password_hash = '',
                password_version = password_version + 1, password_change_required = FALSE,
                updated_at = $3, disabled_at = $3, deleted_at = $3
         WHERE id = $1 AND password_version = $2 AND deleted_at IS NULL AND ",
        not_the_last_administrator!());
}

/// Disables a user; gives whether they were enabled, and are not the last administrator. What they have under
/// way is ended by [`accounts::disable`](crate::accounts::disable).
pub(crate) async fn disable(tx: &mut Tx, id: i64, now: Timestamp) -> Result<bool, Error> {
    lock_active_administrators(tx, id).await?;
    Ok(execute!(tx.on(), DISABLE, id, now)? == 1)
}

/// Enables a user again; gives whether they were disabled.
pub(crate) async fn enable(tx: &mut Tx, id: i64) -> Result<bool, Error> {
    Ok(execute!(tx.on(), ENABLE, id)? == 1)
}

/// Gives a user another role; `None` if they are the last administrator, or are gone.
pub(crate) async fn set_role(
    tx: &mut Tx,
    id: i64,
    role: Role,
    now: Timestamp,
) -> Result<Option<User>, Error> {
    lock_active_administrators(tx, id).await?;
    let row = fetch_optional!(tx.on(), Row, SET_ROLE, id, role.as_str(), now)?;
    Ok(row.map(User::from))
}

/// Makes every sign-in and change that is under way fail, and those to come wait for the caller's transaction.
pub(crate) async fn invalidate_sign_ins(tx: &mut Tx, id: i64) -> Result<(), Error> {
    execute!(tx.on(), INVALIDATE_SIGN_INS, id).map(|_| ())
}

/// Replaces a password whatever it was. Of who is gone nothing changes.
pub(crate) async fn replace_password(
    tx: &mut Tx,
    id: i64,
    password_hash: &str,
    change_required: bool,
    now: Timestamp,
) -> Result<(), Error> {
    execute!(tx.on(), REPLACE_PASSWORD, id, password_hash, change_required, now).map(|_| ())
}

/// Lets failures begin anew. Of who is gone nothing changes.
pub(crate) async fn unlock(tx: &mut Tx, id: i64, now: Timestamp) -> Result<(), Error> {
    execute!(tx.on(), UNLOCK, id, now).map(|_| ())
}

/// Leaves of an account a row without a name, for what refers to it. Gives whether the password is still the
/// one that was verified and they are not the last administrator.
pub(crate) async fn anonymize(
    tx: &mut Tx,
    verified: &StoredCredentials,
    now: Timestamp,
) -> Result<bool, Error> {
    lock_active_administrators(tx, verified.id).await?;
    Ok(execute!(tx.on(), ANONYMIZE, verified.id, verified.password_version, now)? == 1)
}

/// Of administrators who cease to be such at once, all but one wait here.
async fn lock_active_administrators(tx: &mut Tx, id: i64) -> Result<(), Error> {
    execute!(tx.on(), LOCK_ACTIVE_ADMINISTRATORS, id).map(|_| ())
}
