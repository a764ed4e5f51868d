//! Changes to accounts by administrators, and deletion. No change removes the last active administrator.

use crate::end_reason::EndReason;
use crate::passwords::HashedPassword;
use crate::users::account::{Account, columns};
use crate::users::{Role, StoredCredentials};
use foundation::clock::Timestamp;
use foundation::context::Administrator;
use storage::db::{Error, Tx};
use storage::{execute, fetch_all, fetch_one, fetch_optional, sql};

/// A condition on `users`: the row is not the only active administrator.
macro_rules! not_the_last_administrator {
    () => {
        "(role <> 'admin' OR disabled_at IS NOT NULL OR EXISTS (
             SELECT 1 FROM users AS other
             WHERE other.role = 'admin' AND other.disabled_at IS NULL AND other.id <> users.id))"
    };
}

sql! {
    // The active administrator `$1`, and all active administrators if the user `$2` is one. The order lets
    // concurrent transactions lock their rows without a deadlock.
    LOCK_ADMINISTRATORS_SQLITE, LOCK_ADMINISTRATORS_POSTGRES =
        "SELECT id, epoch FROM users
         WHERE role = 'admin' AND disabled_at IS NULL AND (id = $1 OR EXISTS (
             SELECT 1 FROM users AS one WHERE one.id = $2 AND one.role = 'admin'))
         ORDER BY id";
    DISABLE = concat!(
        "UPDATE users SET disabled_at = $2 WHERE id = $1 AND disabled_at IS NULL AND ",
        not_the_last_administrator!(), " RETURNING ", columns!());
    ENABLE = concat!(
        "UPDATE users SET disabled_at = NULL WHERE id = $1 AND disabled_at IS NOT NULL AND deleted_at IS NULL
         RETURNING ", columns!());
    SET_ROLE = concat!(
        "UPDATE users SET role = $2, updated_at = $3 WHERE id = $1 AND deleted_at IS NULL AND ($2 = 'admin' OR ",
        not_the_last_administrator!(),
        ") RETURNING ", columns!());
    LOCK_SQLITE, LOCK_POSTGRES = "SELECT id FROM users WHERE id = $1";
    // A sign-in in progress fails when it locks the row, because the epoch no longer matches.
    END_EPOCH = "UPDATE users SET epoch = epoch + 1, epoch_end_reason = $2, epoch_ended_at = $3 WHERE id = $1 RETURNING epoch - 1";
    END_ALL_EPOCHS = "UPDATE users SET epoch = CASE WHEN epoch < $1 THEN $1 ELSE epoch + 1 END, epoch_end_reason = $2,
             epoch_ended_at = $1";
    REPLACE_PASSWORD = concat!(
        "UPDATE users SET password_hash = $2, password_change_required = $3, updated_at = $4
         WHERE id = $1 AND deleted_at IS NULL RETURNING ", columns!());
    UNLOCK = "UPDATE users SET unlocked_at = $2 WHERE id = $1 AND deleted_at IS NULL";
    LOCK_TO_DELETE_POSTGRES = "SELECT id FROM users WHERE id = $1 FOR UPDATE";
    // Frees the address for another account. The replacement contains no `@`, so no address has it as its
    // key.
    ANONYMIZE = concat!(
        "UPDATE users SET email = '', email_key = '@deleted-' || id, email_verified = FALSE, password_hash = NULL,
                password_change_required = FALSE, updated_at = $3, disabled_at = $3
         WHERE id = $1 AND epoch = $2 AND deleted_at IS NULL AND ",
        not_the_last_administrator!());
    MARK_DELETED = "UPDATE users SET deleted_at = $2 WHERE id = $1";
}

/// Disables a user and returns the changed account. Returns `None`, without effect, if the user is disabled
/// already, is the last active administrator or does not exist. The caller has called
/// [`lock_administrators()`], and ends the user's sessions and tokens.
pub(crate) async fn disable(tx: &mut Tx, id: i64, now: Timestamp) -> Result<Option<Account>, Error> {
    fetch_optional!(tx.on(), Account, DISABLE, id, now)
}

/// Enables a user again and returns the changed account. Returns `None`, without effect, if the user is not
/// disabled, does not exist or was deleted.
pub(crate) async fn enable(tx: &mut Tx, id: i64) -> Result<Option<Account>, Error> {
    fetch_optional!(tx.on(), Account, ENABLE, id)
}

/// Sets a user's role and returns the changed account. Returns `None`, without effect, if the last active
/// administrator would lose the role, or if the user was deleted. The caller has called
/// [`lock_administrators()`].
pub(crate) async fn set_role(
    tx: &mut Tx,
    id: i64,
    role: Role,
    now: Timestamp,
) -> Result<Option<Account>, Error> {
    fetch_optional!(tx.on(), Account, SET_ROLE, id, role.as_str(), now)
}

/// Locks the user's row until the transaction ends.
pub(crate) async fn lock(tx: &mut Tx, id: i64) -> Result<(), Error> {
    let on = tx.on();
    let lock = on.choose(LOCK_SQLITE, LOCK_POSTGRES);
    fetch_optional!(on, (i64,), lock, id).map(|_| ())
}

/// Begins the next epoch of a user, and returns the one that ended for this reason, whose tokens the caller
/// revokes. Every sign-in and credential change of the user that is in progress then fails, because it
/// verified the credentials in that epoch. Locks the user's row until the transaction ends.
pub(crate) async fn end_epoch(tx: &mut Tx, id: i64, reason: EndReason, now: Timestamp) -> Result<i64, Error> {
    let (ended,) = fetch_one!(tx.on(), (i64,), END_EPOCH, id, reason.as_str(), now)?;
    Ok(ended)
}

/// Ends the epochs of all users after a restore. The next ones are numbered by the time, in microseconds, and
/// so never by a number that an epoch had before.
pub(crate) async fn end_all_epochs(tx: &mut Tx, now: Timestamp) -> Result<(), Error> {
    execute!(tx.on(), END_ALL_EPOCHS, now, EndReason::Restored.as_str()).map(|_| ())
}

/// Replaces a password without verifying the current one and returns the changed account. Returns `None`,
/// without effect, if the user does not exist or was deleted. The caller signs the user out everywhere.
pub(crate) async fn replace_password(
    tx: &mut Tx,
    id: i64,
    password: &HashedPassword,
    now: Timestamp,
) -> Result<Option<Account>, Error> {
    let (hash, change_required) = (password.hash.expose(), password.change_required);
    fetch_optional!(tx.on(), Account, REPLACE_PASSWORD, id, hash, change_required, now)
}

/// Clears the failed sign-ins of a user. Returns false, without effect, if the user does not exist or was
/// deleted.
pub(crate) async fn unlock(tx: &mut Tx, id: i64, now: Timestamp) -> Result<bool, Error> {
    Ok(execute!(tx.on(), UNLOCK, id, now)? == 1)
}

/// Disables a user and anonymizes their row, which remains because other tables refer to it. Returns false,
/// without effect, if the credentials are no longer the verified ones or if the user is the last active
/// administrator. No other transaction records a security event of the user until this one ends. The caller
/// signs the user out everywhere and then calls [`mark_deleted`].
pub(crate) async fn anonymize(
    tx: &mut Tx,
    verified: &StoredCredentials,
    now: Timestamp,
) -> Result<bool, Error> {
    lock_administrators(tx, None, Some(verified.id)).await?;
    let lock = tx.on().choose(LOCK_SQLITE, LOCK_TO_DELETE_POSTGRES);
    fetch_optional!(tx.on(), (i64,), lock, verified.id)?;
    Ok(execute!(tx.on(), ANONYMIZE, verified.id, verified.epoch, now)? == 1)
}

/// Marks an anonymized user as deleted. The security events that are recorded after this do not name the
/// user.
pub(crate) async fn mark_deleted(tx: &mut Tx, id: i64, now: Timestamp) -> Result<(), Error> {
    execute!(tx.on(), MARK_DELETED, id, now).map(|_| ())
}

/// Locks the row of `caller` and, if the user `changed` is an administrator, those of all active
/// administrators, until the transaction ends. Concurrent demotions then run one after the other, and each
/// sees the result of the previous one. Returns whether `caller` is an active administrator and still in the
/// epoch in which the session or the access token began, and true without a caller.
pub(crate) async fn lock_administrators(
    tx: &mut Tx,
    caller: Option<Administrator>,
    changed: Option<i64>,
) -> Result<bool, Error> {
    let on = tx.on();
    let lock = on.choose(LOCK_ADMINISTRATORS_SQLITE, LOCK_ADMINISTRATORS_POSTGRES);
    let caller = caller.map(|caller| (caller.user_id, caller.epoch));
    let locked = fetch_all!(on, (i64, i64), lock, caller.map(|(id, _)| id), changed)?;
    Ok(caller.is_none_or(|caller| locked.contains(&caller)))
}
