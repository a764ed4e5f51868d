//! Changing and removing the password, for the issuer's pages and for the API.

use crate::authentication_methods::AuthenticationMethods;
use crate::credential_check::{self, PresentedCredentials, RequiredFactors};
use crate::end_reason::EndReason;
use crate::passwords::Password;
use crate::services::Identity;
use crate::sessions::{self, Session};
use crate::sign_out::sign_out_after_change;
use crate::users;
use audit::events::{Event, EventName};
use foundation::context::RequestContext;
use foundation::secret::Secret;
use mail::Notice;
use revocation::RevokingTx;
use storage::db;

/// The reason why a password was not removed.
#[derive(Debug, thiserror::Error)]
pub enum RemovalError {
    /// There is no password.
    #[error("the account has no password")]
    NoPassword,
    /// The user did not sign in with a passkey, has removed it since, or has not confirmed the address.
    #[error("the last sign-in must be with a passkey, and the address must be confirmed")]
    NotReady,
    /// The sign-in of the session is too old, the session ended meanwhile, or the database failed.
    #[error(transparent)]
    Credentials(#[from] credential_check::Error),
}

impl From<db::Error> for RemovalError {
    fn from(error: db::Error) -> Self {
        Self::Credentials(error.into())
    }
}

/// Verifies the current password of a session's user, or the recent sign-in if `current` is `None`, and sets
/// the password `new`. Requires no one-time code. Ends every session, refresh token and access token of the
/// user, including this session, and mails the user a notice. Fails with
/// [`credential_check::Error::WrongCredentials`] if `current` is wrong or the credentials change meanwhile,
/// and with [`credential_check::Error::SignedOut`] if the session ends meanwhile.
pub async fn change_password(
    identity: &Identity,
    session: &Session,
    current: Option<Password>,
    new: Password,
    context: &RequestContext,
) -> Result<(), credential_check::Error> {
    let presented = current.map(|password| PresentedCredentials { password, otp: None });
    let (presented, required) = (presented.as_ref(), RequiredFactors::Password);
    let verified = credential_check::prove(identity, session, presented, required, context).await?;
    let hash = identity.passwords.hash(new).await?;

    let mut tx = RevokingTx::begin(&identity.db, &identity.revocations).await?;
    if !users::set_password(&mut tx, &verified, &hash, context.now).await? {
        return Err(credential_check::Error::WrongCredentials);
    }
    credential_check::hold_session(&mut tx, session, context).await?;
    sign_out_after_change(&mut tx, session, EndReason::PasswordChanged, context).await?;
    let event = Event::success(EventName::PasswordChange).user(verified.id);
    event.record(&mut tx, context).await?;
    let (mails, to, notice) = (&identity.mails, session.user.recipient(), Notice::PasswordChanged);
    mails.send_notice(&mut tx, to, notice, context).await?;
    Ok(tx.commit().await?)
}

/// Returns whether the user may [remove the password](remove_password). The sign-in with a passkey shows that
/// the passkey works, and the confirmed address can receive a reset if all passkeys are lost.
pub fn can_remove_password(session: &Session) -> bool {
    session.methods == AuthenticationMethods::Passkey && session.user.email_verified
}

/// Removes the password of a session's user, so that passkeys alone sign in. Requires a recent sign-in with a
/// passkey. Ends every other session, and every refresh token and access token of the user, and mails the
/// user a notice. Returns the new `sid` of the session. Fails with [`RemovalError::NoPassword`] if there is
/// none, and with [`RemovalError::NotReady`] unless [`can_remove_password`] holds.
pub async fn remove_password(
    identity: &Identity,
    session: &Session,
    context: &RequestContext,
) -> Result<Secret, RemovalError> {
    let verified = credential_check::prove(identity, session, None, RequiredFactors::All, context).await?;
    if verified.password_hash.is_none() {
        return Err(RemovalError::NoPassword);
    }
    if !can_remove_password(session) {
        return Err(RemovalError::NotReady);
    }
    let mut tx = RevokingTx::begin(&identity.db, &identity.revocations).await?;
    let locked = users::lock(&mut tx, &verified).await?;
    locked.ok_or(credential_check::Error::SignedOut)?;
    credential_check::hold_session(&mut tx, session, context).await?;
    if !users::remove_password(&mut tx, verified.id, context.now).await? {
        return Err(RemovalError::NotReady);
    }
    sign_out_after_change(&mut tx, session, EndReason::PasswordRemoved, context).await?;
    let sid = sessions::replace(&mut tx, session, session.methods, context).await?;
    let event = Event::success(EventName::PasswordRemoved).user(verified.id);
    event.record(&mut tx, context).await?;
    let (mails, to, notice) = (&identity.mails, session.user.recipient(), Notice::PasswordRemoved);
    mails.send_notice(&mut tx, to, notice, context).await?;
    tx.commit().await?;
    Ok(sid)
}
