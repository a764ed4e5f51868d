//! Changes of accounts by administrators, from the shell or over HTTP. Each takes effect in every process
//! within a second. Each fails with [`Error::Administrator`] if the administrator of its context was signed
//! out meanwhile.

use super::Error;
use crate::administrators::{begin, begin_change_of};
use crate::end_reason::EndReason;
use crate::passwords::HashedPassword;
use crate::services::Identity;
use crate::sign_out::sign_out_everywhere;
use crate::users::account::{self, Account};
use crate::users::{NewUser, Role, changes};
use crate::{consents, mfa, passkeys, sessions};
use audit::events::{Event, EventName, EventRecorder};
use foundation::context::{Administrator, RequestContext};
use foundation::secret::Secret;
use mail::{Mails, Notice};
use revocation::{RevocationMirror, RevokingTx};
use serde::Serialize;
use storage::db::Db;
use utoipa::ToSchema;

/// An account and, as one more member, the initial password that was generated for it just now.
#[derive(Serialize, ToSchema)]
pub struct AccountWithPassword<'a> {
    /// The account.
    #[serde(flatten)]
    account: &'a Account,
    /// The initial password, if no password was given. It is shown once, and the user must replace it at the
    /// first sign-in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    initial_password: Option<&'a str>,
}

impl<'a> AccountWithPassword<'a> {
    /// Returns the account with the password that [`NewPassword::hash`](crate::passwords::NewPassword::hash)
    /// returned.
    pub fn new(account: &'a Account, generated: Option<&'a Secret>) -> Self {
        Self {
            account,
            initial_password: generated.map(Secret::expose),
        }
    }
}

/// Returns the account with this id for a change by the administrator of `context`. Fails with
/// [`Error::NotFound`] if there is none, and with [`Error::OwnAccount`] if it is that of the administrator:
/// nobody can lock themselves out, and a change of one's own password or second factor requires the present
/// password, or a recent sign-in on a page.
pub async fn find_to_change(db: &Db, id: i64, context: &RequestContext) -> Result<Account, Error> {
    let account = account::find(db, id).await?.ok_or(Error::NotFound)?;
    match context.administrator {
        Some(Administrator { user_id, .. }) if user_id == id => Err(Error::OwnAccount),
        _ => Ok(account),
    }
}

/// Creates an account. Fails with [`Error::Creation`] if an account has this address, and with
/// [`Error::Administrator`] if the administrator of `context` was signed out while the password was hashed.
pub async fn create(db: &Db, new: &NewUser, context: &RequestContext) -> Result<Account, Error> {
    let mut tx = begin(db, context).await?;
    let user = super::create(&mut tx, new, context).await?;
    tx.commit().await?;
    Ok(Account::of_new_user(user, new.password.change_required))
}

/// Disables an account, so that its user can no longer sign in, and ends the user's sessions, refresh tokens
/// and access tokens. Returns the account. No effect on a disabled account. Fails with
/// [`Error::LastAdministrator`] for the last active administrator, and with [`Error::NotFound`] if there is
/// no account with this id.
pub async fn disable(
    db: &Db,
    revocations: &RevocationMirror,
    id: i64,
    context: &RequestContext,
) -> Result<Account, Error> {
    let mut tx = RevokingTx::new(begin_change_of(db, id, context).await?, revocations);
    let Some(account) = changes::disable(&mut tx, id, context.now).await? else {
        drop(tx);
        let account = account::find(db, id).await?.ok_or(Error::NotFound)?;
        return match account.disabled_at {
            Some(_) => Ok(account),
            None => Err(Error::LastAdministrator),
        };
    };
    sign_out_everywhere(&mut tx, id, EndReason::AccountDisabled, context).await?;
    let event = Event::success(EventName::UserDisabled).user(id);
    event.record(&mut tx, context).await?;
    tx.commit().await?;
    Ok(account)
}

/// Enables an account, so that its user can sign in again. Returns the account. No effect on an enabled
/// account. Fails with [`Error::NotFound`] if there is no account with this id.
pub async fn enable(db: &Db, id: i64, context: &RequestContext) -> Result<Account, Error> {
    let mut tx = begin_change_of(db, id, context).await?;
    let Some(account) = changes::enable(&mut tx, id).await? else {
        drop(tx);
        return account::find(db, id).await?.ok_or(Error::NotFound);
    };
    let event = Event::success(EventName::UserEnabled).user(id);
    event.record(&mut tx, context).await?;
    tx.commit().await?;
    Ok(account)
}

/// Sets the role of a user and ends the user's sessions and tokens, so that the new role takes effect with a
/// new sign-in. Returns the changed account. No effect if the user has the role already. Fails with
/// [`Error::LastAdministrator`] if the last active administrator would lose the role, and with
/// [`Error::NotFound`] if the account was deleted meanwhile.
pub async fn set_role(
    db: &Db,
    revocations: &RevocationMirror,
    account: &Account,
    role: Role,
    context: &RequestContext,
) -> Result<Account, Error> {
    let (id, former) = (account.user.id, account.user.role);
    if former == role {
        return Ok(account.clone());
    }
    let mut tx = RevokingTx::new(begin_change_of(db, id, context).await?, revocations);
    let Some(changed) = changes::set_role(&mut tx, id, role, context.now).await? else {
        drop(tx);
        account::find(db, id).await?.ok_or(Error::NotFound)?;
        return Err(Error::LastAdministrator);
    };
    sign_out_everywhere(&mut tx, id, EndReason::RoleChanged, context).await?;
    let detail = format!("{} to {}", former.as_str(), role.as_str());
    let event = Event::success(EventName::RoleChange).user(id).detail(detail);
    event.record(&mut tx, context).await?;
    tx.commit().await?;
    Ok(changed)
}

/// Replaces the password of a user, removes the passkeys, ends the user's sessions and tokens, and mails the
/// user a notice. Returns the changed account. Fails with [`Error::NotFound`] if there is no account with
/// this id, and with [`Error::Administrator`] if the administrator of `context` was signed out while the
/// password was hashed.
pub async fn set_password(
    db: &Db,
    revocations: &RevocationMirror,
    mails: &Mails,
    id: i64,
    password: &HashedPassword,
    context: &RequestContext,
) -> Result<Account, Error> {
    let mut tx = RevokingTx::new(begin_change_of(db, id, context).await?, revocations);
    // First, because it locks the user's row, as a sign-in with a passkey does before it locks the passkey.
    sign_out_everywhere(&mut tx, id, EndReason::PasswordReplaced, context).await?;
    // Before the password, because the changed account has the number of passkeys.
    let had_passkeys = passkeys::delete_all(&mut tx, id, context).await?;
    let changed = changes::replace_password(&mut tx, id, password, context.now).await?;
    let changed = changed.ok_or(Error::NotFound)?;
    let event = Event::success(EventName::PasswordChange).user(id);
    let event = event.detail("by an administrator");
    event.record(&mut tx, context).await?;
    let to = changed.user.recipient();
    mails
        .send_notice(&mut tx, to, Notice::PasswordSet { had_passkeys }, context)
        .await?;
    tx.commit().await?;
    Ok(changed)
}

/// Clears the failed sign-ins of an account from all networks, which ends its lockouts. The network throttles
/// still apply. Fails with [`Error::NotFound`] if there is no account with this id.
pub async fn unlock(db: &Db, id: i64, context: &RequestContext) -> Result<(), Error> {
    let mut tx = begin_change_of(db, id, context).await?;
    if !changes::unlock(&mut tx, id, context.now).await? {
        return Err(Error::NotFound);
    }
    let event = Event::success(EventName::LoginUnlock).user(id);
    event.record(&mut tx, context).await?;
    Ok(tx.commit().await?)
}

/// Turns the two-step sign-in of a user off and removes all passkeys, ends the user's sessions and tokens,
/// and mails the user a notice. Fails with [`Error::NoSecondFactor`] if the user has neither.
pub async fn reset_mfa(
    db: &Db,
    revocations: &RevocationMirror,
    mails: &Mails,
    account: &Account,
    context: &RequestContext,
) -> Result<(), Error> {
    let user = &account.user;
    let mut tx = RevokingTx::new(begin_change_of(db, user.id, context).await?, revocations);
    sign_out_everywhere(&mut tx, user.id, EndReason::TwoStepReset, context).await?;
    let had_codes = mfa::remove(&mut tx, mails, user, context).await?;
    let had_passkeys = passkeys::delete_all(&mut tx, user.id, context).await?;
    if had_passkeys {
        let notice = Notice::PasskeysRemoved;
        mails
            .send_notice(&mut tx, user.recipient(), notice, context)
            .await?;
    }
    if !had_codes && !had_passkeys {
        return Err(Error::NoSecondFactor);
    }
    Ok(tx.commit().await?)
}

/// Ends every session, refresh token and access token of a user, who can sign in again.
pub async fn sign_out(
    db: &Db,
    revocations: &RevocationMirror,
    id: i64,
    context: &RequestContext,
) -> Result<(), Error> {
    let mut tx = RevokingTx::new(begin_change_of(db, id, context).await?, revocations);
    sign_out_everywhere(&mut tx, id, EndReason::SignedOutByAdministrator, context).await?;
    let event = Event::success(EventName::SessionRevoked).user(id);
    event.detail("all sessions").record(&mut tx, context).await?;
    Ok(tx.commit().await?)
}

/// Ends a session of any user, as [`sessions::revoke`] does. Fails with [`Error::NotFound`] if there is none
/// with this id.
pub async fn end_session(
    db: &Db,
    revocations: &RevocationMirror,
    id: i64,
    context: &RequestContext,
) -> Result<(), Error> {
    let user_id = sessions::find_user(db, id).await?;
    end_session_of(db, revocations, user_id.ok_or(Error::NotFound)?, id, context).await
}

/// Ends a session of this user, as [`sessions::revoke`] does. Fails with [`Error::NotFound`] if the user has
/// none with this id.
pub async fn end_session_of(
    db: &Db,
    revocations: &RevocationMirror,
    user_id: i64,
    id: i64,
    context: &RequestContext,
) -> Result<(), Error> {
    let tx = RevokingTx::new(begin_change_of(db, user_id, context).await?, revocations);
    let reason = EndReason::SignedOutByAdministrator;
    let is_ended = sessions::revoke(tx, user_id, id, reason, context).await?;
    is_ended.then_some(()).ok_or(Error::NotFound)
}

/// Revokes the consent with this id, as [`consents::revoke`] does. Fails with [`Error::NotFound`] if there is
/// none.
pub async fn revoke_consent(
    db: &Db,
    revocations: &RevocationMirror,
    events: &EventRecorder,
    id: &str,
    context: &RequestContext,
) -> Result<(), Error> {
    let tx = RevokingTx::new(begin(db, context).await?, revocations);
    let is_revoked = consents::revoke_by_id(tx, events, id, context).await?;
    is_revoked.then_some(()).ok_or(Error::NotFound)
}

/// Revokes the consent of a user to the client with this id, as [`consents::revoke`] does. Fails with
/// [`Error::NotFound`] if there is none.
pub async fn revoke_consent_of(
    identity: &Identity,
    user_id: i64,
    client_id: &str,
    context: &RequestContext,
) -> Result<(), Error> {
    let tx = begin_change_of(&identity.db, user_id, context).await?;
    let tx = RevokingTx::new(tx, &identity.revocations);
    let is_revoked = consents::revoke(tx, &identity.events, user_id, client_id, context).await?;
    is_revoked.then_some(()).ok_or(Error::NotFound)
}
