//! What is done to accounts as a whole. Whatever makes a session doubtful ends all of them.

use super::login::{self, Asked, Proof};
use super::users::changes;
use super::users::{self, Role, User};
use super::{Identity, mailed_tokens, mfa, sessions};
use crate::db::{self, Db, Tx};
use crate::events::{Context, Event, Name};
use crate::grants::consents;
use crate::grants::families::{self, Of};
use crate::mail::{Mails, Notice};
use crate::revocation::Mirror;

/// Why an account was not changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Somebody must be able to administer.
    #[error("this is the last administrator: make another one first")]
    LastAdministrator,
    /// Who asks was not shown to be the user.
    #[error(transparent)]
    Login(#[from] login::Error),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// Ends every session, refresh token and access token of a user, every mailed link and every sign-in under way. The one cascade
/// of a password or a second factor that changed. Call [`Mirror::announce`] after the commit.
pub async fn sign_out_everywhere(tx: &mut Tx, user_id: i64, context: &Context) -> Result<(), db::Error> {
    changes::move_on(tx, user_id).await?;
    sessions::end_all(tx, user_id).await?;
    mailed_tokens::void_all(tx, user_id).await?;
    families::revoke(tx, Of::User(user_id), context).await
}

/// Disables a user: their sessions, refresh tokens and access tokens end, and no sign-in begins another.
/// Gives whether they were not disabled before.
pub async fn disable(db: &Db, revocations: &Mirror, user_id: i64, context: &Context) -> Result<bool, Error> {
    let mut tx = db.begin().await?;
    if !changes::disable(&mut tx, user_id, context.now).await? {
        drop(tx);
        return match users::find_enabled(db, user_id).await? {
            Some(_) => Err(Error::LastAdministrator),
            None => Ok(false),
        };
    }
    sign_out_everywhere(&mut tx, user_id, context).await?;
    let event = Event::success(Name::UserDisabled).user(user_id);
    event.record(&mut tx, context).await?;
    tx.commit().await?;
    revocations.announce().await;
    Ok(true)
}

/// Lets a user sign in again. Gives whether they were disabled.
pub async fn enable(db: &Db, user_id: i64, context: &Context) -> Result<bool, db::Error> {
    let mut tx = db.begin().await?;
    if !changes::enable(&mut tx, user_id).await? {
        return Ok(false);
    }
    Event::success(Name::UserEnabled)
        .user(user_id)
        .record(&mut tx, context)
        .await?;
    tx.commit().await?;
    Ok(true)
}

/// Gives a user another role, and signs them out: what they may do is looked up at every call, and a session
/// of more or less than before begins anew. Call [`Mirror::announce`] after the commit.
pub async fn set_role(tx: &mut Tx, user: &User, role: Role, context: &Context) -> Result<User, Error> {
    if user.role == role {
        return Ok(user.clone());
    }
    let changed = changes::set_role(tx, user.id, role, context.now).await?;
    let changed = changed.ok_or(Error::LastAdministrator)?;
    sign_out_everywhere(tx, user.id, context).await?;
    let detail = format!("{} to {}", user.role.as_str(), role.as_str());
    let event = Event::success(Name::RoleChange).user(user.id).detail(detail);
    event.record(tx, context).await?;
    Ok(changed)
}

/// Replaces a user's password by the hand of an administrator, and tells the user. One that is to be used once
/// must be changed at sign-in. Call [`Mirror::announce`] after the commit.
pub async fn set_password(
    tx: &mut Tx,
    mails: &Mails,
    user: &User,
    (password_hash, one_time): (&str, bool),
    context: &Context,
) -> Result<(), db::Error> {
    changes::replace_password(tx, user.id, password_hash, one_time, context.now).await?;
    sign_out_everywhere(tx, user.id, context).await?;
    let event = Event::success(Name::PasswordChange).user(user.id);
    event.detail("by an administrator").record(tx, context).await?;
    mails.tell(tx, &user.email, Notice::PasswordSet, context).await
}

/// Turns two-step sign-in off and tells the user; gives whether it was on, and if not the caller commits nothing.
/// Call [`Mirror::announce`] after the commit.
pub async fn reset_mfa(
    tx: &mut Tx,
    mails: &Mails,
    user: &User,
    context: &Context,
) -> Result<bool, db::Error> {
    sign_out_everywhere(tx, user.id, context).await?;
    if !mfa::forget(tx, user.id).await? {
        return Ok(false);
    }
    let event = Event::success(Name::MfaDisabled).user(user.id);
    event.record(tx, context).await?;
    mails.tell(tx, &user.email, Notice::MfaDisabled, context).await?;
    Ok(true)
}

/// Forgets the failed sign-ins of an account, from whatever addresses.
pub async fn unlock(tx: &mut Tx, user_id: i64, context: &Context) -> Result<(), db::Error> {
    changes::unlock(tx, user_id, context.now).await?;
    let event = Event::success(Name::LoginUnlock).user(user_id);
    event.record(tx, context).await
}

/// Makes sure that it is the user who deletes their account; gives a transaction in which it is gone but for
/// a row without a name, for the caller to take along what else is theirs, and commit. Call
/// [`Mirror::announce`] after that.
pub async fn delete(identity: &Identity, user: &User, proof: &Proof, context: &Context) -> Result<Tx, Error> {
    let verified = login::prove(identity, user, proof, Asked::Everything, context).await?;
    let mut tx = identity.db.begin().await?;
    if !changes::bury(&mut tx, &verified, context.now).await? {
        drop(tx);
        let stored = users::credentials_by_id(&identity.db, user.id).await?;
        let is_unchanged = stored.is_some_and(|stored| stored.password_version == verified.password_version);
        return Err(match is_unchanged {
            true => Error::LastAdministrator,
            false => login::Error::Wrong.into(),
        });
    }
    // In the order in which the exchange of a code locks them.
    sessions::end_all(&mut tx, user.id).await?;
    consents::forget_all(&mut tx, user.id).await?;
    sign_out_everywhere(&mut tx, user.id, context).await?;
    mfa::forget(&mut tx, user.id).await?;
    mailed_tokens::forget_all(&mut tx, user.id).await?;
    let event = Event::success(Name::UserDeleted).user(user.id);
    event.record(&mut tx, context).await?;
    let mails = &identity.mails;
    mails
        .tell(&mut tx, &user.email, Notice::AccountDeleted, context)
        .await?;
    Ok(tx)
}
