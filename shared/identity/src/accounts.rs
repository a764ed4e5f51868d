//! Operations on whole accounts. Disabling or deleting an account, or changing its role or password, ends
//! every session of the user.

pub mod administration;

use crate::credential_check::{self, PresentedCredentials, RequiredFactors};
use crate::end_reason::EndReason;
use crate::services::Identity;
use crate::sessions::{self, Session};
use crate::sign_out::sign_out_everywhere;
use crate::users::{self, NewUser, User, changes};
use crate::{administrators, consents, mailed_tokens, passkeys, second_factor};
use audit::events::{Event, EventName, pseudonyms};
use foundation::context::RequestContext;
use mail::Notice;
use revocation::RevokingTx;
use storage::db::{self, Tx};

/// The reason why an account was not changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The change would leave no active administrator.
    #[error("this is the last administrator: create another administrator first")]
    LastAdministrator,
    /// Administrators cannot make this change to their own account.
    #[error(
        "administrators cannot disable themselves, nor set their own role or password or reset their own two-step sign-in"
    )]
    OwnAccount,
    /// There is no such account.
    #[error("there is no such user")]
    NotFound,
    /// Two-step sign-in is off, and there is no passkey.
    #[error("the user has neither two-step sign-in nor a passkey")]
    NoSecondFactor,
    /// The administrator who calls was signed out meanwhile.
    #[error(transparent)]
    Administrator(#[from] administrators::Error),
    /// The account was not created.
    #[error(transparent)]
    Creation(#[from] users::Error),
    /// The credentials were not verified.
    #[error(transparent)]
    Credentials(#[from] credential_check::Error),
    /// A database error.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// Creates an account and records the event with its role, in the caller's transaction. Fails with
/// [`users::Error::EmailTaken`] if an account has this address.
pub async fn create(tx: &mut Tx, new: &NewUser, context: &RequestContext) -> Result<User, users::Error> {
    let user = users::create(tx, new, context.now).await?;
    let event = Event::success(EventName::UserCreated).user(user.id);
    event.detail(user.role.as_str()).record(tx, context).await?;
    Ok(user)
}

/// Verifies the credentials of the session's user, or the recent sign-in if `presented` is `None`, and
/// deletes their account. An anonymized row of `users` remains, and the security events remain under a
/// [pseudonym](pseudonyms). Returns the open transaction, in which the caller can delete the user's other
/// data and which it must commit. Fails with [`Error::Credentials`] if the credentials are not verified, if
/// they change meanwhile or if the session ends meanwhile, and with [`Error::LastAdministrator`] for the last
/// active administrator.
pub async fn delete(
    identity: &Identity,
    session: &Session,
    presented: Option<&PresentedCredentials>,
    context: &RequestContext,
) -> Result<RevokingTx, Error> {
    let (user, required) = (&session.user, RequiredFactors::All);
    let verified = credential_check::prove(identity, session, presented, required, context).await?;
    let mut tx = RevokingTx::begin(&identity.db, &identity.revocations).await?;
    if !changes::anonymize(&mut tx, &verified, context.now).await? {
        drop(tx);
        let stored = users::credentials_by_id(&identity.db, user.id).await?;
        let is_unchanged = stored.is_some_and(|stored| stored.epoch == verified.epoch);
        return Err(match is_unchanged {
            true => Error::LastAdministrator,
            false => credential_check::Error::WrongCredentials.into(),
        });
    }
    credential_check::hold_session(&mut tx, session, context).await?;
    // Sessions come before consents, because the exchange of an authorization code locks them in this order.
    sessions::end_all(&mut tx, user.id, None, EndReason::AccountDeleted, context.now).await?;
    consents::delete_all(&mut tx, user.id).await?;
    sign_out_everywhere(&mut tx, user.id, EndReason::AccountDeleted, context).await?;
    second_factor::delete(&mut tx, user.id).await?;
    passkeys::delete_all(&mut tx, user.id, context).await?;
    mailed_tokens::delete_all(&mut tx, user.id).await?;
    let event = Event::success(EventName::UserDeleted).user(user.id);
    event.record(&mut tx, context).await?;
    let (mails, to, notice) = (&identity.mails, user.recipient(), Notice::AccountDeleted);
    mails.send_notice(&mut tx, to, notice, context).await?;
    // Last, because the events of this transaction name the user too.
    let pseudonym = pseudonyms::pseudonym(&identity.account_key, user.id);
    pseudonyms::replace(&mut tx, user.id, pseudonym).await?;
    changes::mark_deleted(&mut tx, user.id, context.now).await?;
    Ok(tx)
}
