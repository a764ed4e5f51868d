//! What is done to accounts as a whole. Whatever makes a session doubtful ends all of them.

use crate::credential_check::{self, PresentedCredentials, RequiredFactors};
use crate::grants::consents;
use crate::sign_out::sign_out_everywhere;
use crate::users;
use crate::users::changes;
use crate::users::{Role, User};
use crate::{Identity, mailed_tokens, second_factor, sessions};
use audit::events::{Event, EventName};
use audit::mail::{Mails, Notice};
use audit::revocation::{PendingAnnouncement, RevocationMirror};
use foundation::context::RequestContext;
use storage::db;
use storage::db::{Db, Tx};

/// Why an account was not changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Somebody must be able to administer.
    #[error("this is the last administrator: make another one first")]
    LastAdministrator,
    /// Who asks was not shown to be the user.
    #[error(transparent)]
    Credentials(#[from] credential_check::Error),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// Disables a user: their sessions, refresh tokens and access tokens end, and no sign-in begins another.
/// Gives whether they were not disabled before.
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

/// Lets a user sign in again. Gives whether they were disabled.
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

/// Gives a user another role, and signs them out: what they may do is looked up at every call, and a session
/// of more or less than before begins anew. Call [`RevocationMirror::announce`] after the commit.
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

/// Replaces a user's password by the hand of an administrator, and tells the user. One that is to be used once
/// must be changed at sign-in. Call [`RevocationMirror::announce`] after the commit.
pub async fn set_password(
    tx: &mut Tx,
    mails: &Mails,
    user: &User,
    (password_hash, one_time): (&str, bool),
    context: &RequestContext,
) -> Result<PendingAnnouncement, db::Error> {
    changes::replace_password(tx, user.id, password_hash, one_time, context.now).await?;
    let announcement = sign_out_everywhere(tx, user.id, context).await?;
    let event = Event::success(EventName::PasswordChange).user(user.id);
    event.detail("by an administrator").record(tx, context).await?;
    mails
        .send_notice(tx, &user.email, Notice::PasswordSet, context)
        .await?;
    Ok(announcement)
}

/// Forgets the failed sign-ins of an account, from whatever addresses.
pub async fn unlock(tx: &mut Tx, user_id: i64, context: &RequestContext) -> Result<(), db::Error> {
    changes::unlock(tx, user_id, context.now).await?;
    let event = Event::success(EventName::LoginUnlock).user(user_id);
    event.record(tx, context).await
}

/// Makes sure that it is the user who deletes their account; gives a transaction in which it is gone but for
/// a row without a name, for the caller to take along what else is theirs, and commit. Call
/// [`RevocationMirror::announce`] after that.
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
            false => credential_check::Error::Wrong.into(),
        });
    }
    // In the order in which the exchange of a code locks them.
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
