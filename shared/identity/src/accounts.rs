//! Operations on whole accounts. Disabling or deleting an account, or changing its role or password, ends every session
//! of the user.

use crate::credential_check::{self, PresentedCredentials, RequiredFactors};
use crate::grants::consents;
use crate::services::Identity;
use crate::sign_out::sign_out_everywhere;
use crate::users::{self, Role, User, changes};
use crate::{mailed_tokens, second_factor, sessions};
use audit::events::{Event, EventName};
use audit::mail::{Mails, Notice};
use audit::revocation::{PendingAnnouncement, RevocationMirror};
use foundation::context::RequestContext;
use storage::db::{self, Db, Tx};

/// The reason why an account was not changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The change would leave no active administrator.
    #[error("this is the last administrator: create another administrator first")]
    LastAdministrator,
    /// The credentials were not verified.
    #[error(transparent)]
    Credentials(#[from] credential_check::Error),
    /// A database error.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// Disables a user, so that they can no longer sign in, and ends their sessions, refresh tokens and access tokens.
/// Returns false, without effect, if the user is disabled already or does not exist. Fails with
/// [`Error::LastAdministrator`] for the last active administrator.
pub async fn disable(
    db: &Db,
    revocations: &RevocationMirror,
    user_id: i64,
    context: &RequestContext,
) -> Result<bool, Error> {
    let mut tx = db.begin().await?;
    if !changes::disable(&mut tx, user_id, context.now).await? {
        drop(tx);
        return match users::find_enabled(db, user_id).await? {
            Some(_) => Err(Error::LastAdministrator),
            None => Ok(false),
        };
    }
    let announcement = sign_out_everywhere(&mut tx, user_id, context).await?;
    let event = Event::success(EventName::UserDisabled).user(user_id);
    event.record(&mut tx, context).await?;
    tx.commit().await?;
    revocations.announce(announcement).await;
    Ok(true)
}

/// Enables a user, so that they can sign in again. Returns false, without effect, if the user is not disabled, does not
/// exist or was deleted.
pub async fn enable(db: &Db, user_id: i64, context: &RequestContext) -> Result<bool, db::Error> {
    let mut tx = db.begin().await?;
    if !changes::enable(&mut tx, user_id).await? {
        return Ok(false);
    }
    Event::success(EventName::UserEnabled)
        .user(user_id)
        .record(&mut tx, context)
        .await?;
    tx.commit().await?;
    Ok(true)
}

/// Sets a user's role and ends their sessions and tokens, so that the new role takes effect with a new sign-in. No
/// effect if the user has the role already. Returns the changed user, and the announcement to pass to
/// [`RevocationMirror::announce`] after the commit. Fails with [`Error::LastAdministrator`] if the last active
/// administrator would lose the role, or if the user was deleted meanwhile.
pub async fn set_role(
    tx: &mut Tx,
    user: &User,
    role: Role,
    context: &RequestContext,
) -> Result<(User, PendingAnnouncement), Error> {
    if user.role == role {
        return Ok((user.clone(), PendingAnnouncement::none()));
    }
    let changed = changes::set_role(tx, user.id, role, context.now).await?;
    let changed = changed.ok_or(Error::LastAdministrator)?;
    let announcement = sign_out_everywhere(tx, user.id, context).await?;
    let detail = format!("{} to {}", user.role.as_str(), role.as_str());
    let event = Event::success(EventName::RoleChange).user(user.id).detail(detail);
    event.record(tx, context).await?;
    Ok((changed, announcement))
}

/// Replaces a user's password on behalf of an administrator, ends the user's sessions and tokens, and mails the user a
/// notice. `password_hash` is a PHC string. If `change_required`, the user must choose another password at the next
/// sign-in. Call [`RevocationMirror::announce`] after the commit.
pub async fn set_password(
    tx: &mut Tx,
    mails: &Mails,
    user: &User,
    password_hash: &str,
    change_required: bool,
    context: &RequestContext,
) -> Result<PendingAnnouncement, db::Error> {
    changes::replace_password(tx, user.id, password_hash, change_required, context.now).await?;
    let announcement = sign_out_everywhere(tx, user.id, context).await?;
    let event = Event::success(EventName::PasswordChange).user(user.id);
    event.detail("by an administrator").record(tx, context).await?;
    mails
        .send_notice(tx, &user.email, Notice::PasswordSet, context)
        .await?;
    Ok(announcement)
}

/// Clears the failed sign-ins of an account from all networks, which ends its lockouts. The network throttles still
/// apply.
pub async fn unlock(tx: &mut Tx, user_id: i64, context: &RequestContext) -> Result<(), db::Error> {
    changes::unlock(tx, user_id, context.now).await?;
    let event = Event::success(EventName::LoginUnlock).user(user_id);
    event.record(tx, context).await
}

/// Verifies the user's credentials and deletes their account. An anonymized row of `users` remains. Returns the open
/// transaction, in which the caller can delete the user's other data and which it must commit, and the announcement to
/// pass to [`RevocationMirror::announce`] after the commit. Fails with [`Error::Credentials`] if the credentials are
/// not verified or change meanwhile, and with [`Error::LastAdministrator`] for the last active administrator.
pub async fn delete(
    identity: &Identity,
    user: &User,
    presented: &PresentedCredentials,
    context: &RequestContext,
) -> Result<(Tx, PendingAnnouncement), Error> {
    let verified =
        credential_check::reauthenticate(identity, user, presented, RequiredFactors::All, context).await?;
    let mut tx = identity.db.begin().await?;
    if !changes::anonymize(&mut tx, &verified, context.now).await? {
        drop(tx);
        let stored = users::credentials_by_id(&identity.db, user.id).await?;
        let is_unchanged = stored.is_some_and(|stored| stored.password_version == verified.password_version);
        return Err(match is_unchanged {
            true => Error::LastAdministrator,
            false => credential_check::Error::WrongCredentials.into(),
        });
    }
    // Sessions come before consents, because the exchange of an authorization code locks them in this order.
    sessions::end_all(&mut tx, user.id).await?;
    consents::delete_all(&mut tx, user.id).await?;
    let announcement = sign_out_everywhere(&mut tx, user.id, context).await?;
    second_factor::delete(&mut tx, user.id).await?;
    mailed_tokens::delete_all(&mut tx, user.id).await?;
    let event = Event::success(EventName::UserDeleted).user(user.id);
    event.record(&mut tx, context).await?;
    let mails = &identity.mails;
    mails
        .send_notice(&mut tx, &user.email, Notice::AccountDeleted, context)
        .await?;
    Ok((tx, announcement))
}
