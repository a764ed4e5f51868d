//! Turning two-step sign-in on and off, and new recovery codes.

use crate::credential_check::{self, PresentedCredentials, RequiredFactors};
use crate::end_reason::EndReason;
use crate::recovery_codes;
use crate::second_factor::{self, Otp};
use crate::services::Identity;
use crate::sessions::{self, Session};
use crate::sign_out::sign_out_after_change;
use crate::totp::{self, Enrollment};
use crate::users::{self, User, changes};
use audit::events::{Event, EventName};
use foundation::context::RequestContext;
use foundation::secret::Secret;
use mail::{Mails, Notice};
use revocation::RevokingTx;
use storage::db::{self, Tx};

/// The reason why two-step sign-in was not turned on or off.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Two-step sign-in is on already.
    #[error("two-step sign-in is on already")]
    AlreadyEnabled,
    /// Two-step sign-in is off, or no enrollment is pending.
    #[error("two-step sign-in is off, or no enrollment is pending")]
    NotEnabled,
    /// The credentials or the code were not verified, or the database failed.
    #[error(transparent)]
    Credentials(#[from] credential_check::Error),
}

impl From<db::Error> for Error {
    fn from(error: db::Error) -> Self {
        Self::Credentials(error.into())
    }
}

/// Verifies the password of the session's user, or the recent sign-in if `presented` is `None`, and starts an
/// enrollment: stores a new pending TOTP seed and returns it for the user's authenticator app. [`confirm`]
/// completes the enrollment. Fails with [`Error::AlreadyEnabled`] if two-step sign-in is on, and with
/// [`credential_check::Error::SignedOut`] if the session ended meanwhile.
pub async fn enroll(
    identity: &Identity,
    session: &Session,
    presented: Option<&PresentedCredentials>,
    context: &RequestContext,
) -> Result<Enrollment, Error> {
    let (user, required) = (&session.user, RequiredFactors::Password);
    let verified = credential_check::prove(identity, session, presented, required, context).await?;
    let mut tx = identity.db.begin().await?;
    if users::lock(&mut tx, &verified).await?.is_none() {
        return Err(credential_check::Error::WrongCredentials.into());
    }
    credential_check::hold_session(&mut tx, session, context).await?;
    let key = &identity.account_key;
    let enrollment = totp::begin_enrollment(&mut tx, key, user.id, &user.email, context.now).await?;
    let enrollment = enrollment.ok_or(Error::AlreadyEnabled)?;
    tx.commit().await?;
    Ok(enrollment)
}

/// Returns the pending enrollment of the session's user again; `None` if none is pending.
pub async fn pending(
    identity: &Identity,
    session: &Session,
    context: &RequestContext,
) -> Result<Option<Enrollment>, credential_check::Error> {
    let user = &session.user;
    let Some(sealed) = totp::find_pending(&identity.db, user.id, context.now).await? else {
        return Ok(None);
    };
    let key = &identity.account_key;
    Ok(totp::pending_enrollment(key, user.id, &user.email, &sealed)?)
}

/// Completes the pending enrollment if `otp` is a code of its seed. Returns new recovery codes, and the new
/// `sid` of the caller's session. Ends every other session, and every refresh token and access token of the
/// user. Fails with [`credential_check::Error::WrongCode`] if `otp` is wrong, with [`Error::NotEnabled`] if
/// no enrollment is pending, and with [`credential_check::Error::SignedOut`] if the session ended meanwhile.
pub async fn confirm(
    identity: &Identity,
    session: &Session,
    otp: &Otp,
    context: &RequestContext,
) -> Result<(Vec<String>, Secret), Error> {
    let (db, key, user) = (&identity.db, &identity.account_key, &session.user);
    let pending = totp::find_pending(db, user.id, context.now).await?;
    let pending = pending.ok_or(Error::NotEnabled)?;
    let verification = async {
        let step = totp::matching_step(key, user.id, &pending, otp.expose(), context.now)?;
        step.ok_or(credential_check::Error::WrongCode)
    };
    let step = credential_check::count_attempt(identity, user, context, verification).await?;

    let mut tx = RevokingTx::begin(db, &identity.revocations).await?;
    // Locks the user's row before the session's, in the order of every function that ends sessions.
    changes::lock(&mut tx, user.id).await?;
    credential_check::hold_session(&mut tx, session, context).await?;
    sign_out_after_change(&mut tx, session, EndReason::TwoStepOn, context).await?;
    if !totp::confirm(&mut tx, user.id, &pending, step, context.now).await? {
        return Err(Error::NotEnabled);
    }
    let codes = recovery_codes::replace_all(&mut tx, key, user.id).await?;
    let sid = sessions::replace(&mut tx, session, session.methods.with_code(), context).await?;
    let event = Event::success(EventName::MfaEnabled).user(user.id);
    event.record(&mut tx, context).await?;
    let (mails, to, notice) = (&identity.mails, user.recipient(), Notice::MfaEnabled);
    mails.send_notice(&mut tx, to, notice, context).await?;
    tx.commit().await?;
    Ok((codes, sid))
}

/// Verifies the user's credentials, or the recent sign-in if `presented` is `None`, and replaces the recovery
/// codes by new ones, which it returns. Ends no session. Fails with [`Error::NotEnabled`] if two-step sign-in
/// is off, and with [`credential_check::Error::SignedOut`] if the session ended meanwhile.
pub async fn renew_recovery_codes(
    identity: &Identity,
    session: &Session,
    presented: Option<&PresentedCredentials>,
    context: &RequestContext,
) -> Result<Vec<String>, Error> {
    let user = &session.user;
    if !second_factor::is_enabled(&identity.db, user.id).await? {
        return Err(Error::NotEnabled);
    }
    let required = RequiredFactors::All;
    let verified = credential_check::prove(identity, session, presented, required, context).await?;
    let mut tx = identity.db.begin().await?;
    if users::lock(&mut tx, &verified).await?.is_none() {
        return Err(credential_check::Error::WrongCredentials.into());
    }
    // This also proves that two-step sign-in is still on, because turning it off ends this session.
    credential_check::hold_session(&mut tx, session, context).await?;
    let codes = recovery_codes::replace_all(&mut tx, &identity.account_key, user.id).await?;
    let event = Event::success(EventName::RecoveryCodesRenewed).user(user.id);
    event.record(&mut tx, context).await?;
    let (mails, to, notice) = (&identity.mails, user.recipient(), Notice::RecoveryCodesRenewed);
    mails.send_notice(&mut tx, to, notice, context).await?;
    tx.commit().await?;
    Ok(codes)
}

/// Verifies the user's credentials, or the recent sign-in if `presented` is `None`, and turns two-step
/// sign-in off. Returns the new `sid` of the caller's session. Ends every other session, and every refresh
/// token and access token of the user. Fails with [`Error::NotEnabled`] if two-step sign-in is off already,
/// and with [`credential_check::Error::SignedOut`] if the session ended meanwhile.
pub async fn disable(
    identity: &Identity,
    session: &Session,
    presented: Option<&PresentedCredentials>,
    context: &RequestContext,
) -> Result<Secret, Error> {
    let user = &session.user;
    if !second_factor::is_enabled(&identity.db, user.id).await? {
        return Err(Error::NotEnabled);
    }
    let required = RequiredFactors::All;
    let verified = credential_check::prove(identity, session, presented, required, context).await?;
    let mut tx = RevokingTx::begin(&identity.db, &identity.revocations).await?;
    if users::lock(&mut tx, &verified).await?.is_none() {
        return Err(credential_check::Error::WrongCredentials.into());
    }
    credential_check::hold_session(&mut tx, session, context).await?;
    sign_out_after_change(&mut tx, session, EndReason::TwoStepOff, context).await?;
    if !remove(&mut tx, &identity.mails, user, context).await? {
        return Err(Error::NotEnabled);
    }
    let sid = sessions::replace(&mut tx, session, session.methods.without_code(), context).await?;
    tx.commit().await?;
    Ok(sid)
}

/// Turns two-step sign-in off without verifying credentials, and mails the user a notice. Returns whether it
/// was on. The caller signs the user out everywhere.
pub(crate) async fn remove(
    tx: &mut Tx,
    mails: &Mails,
    user: &User,
    context: &RequestContext,
) -> Result<bool, db::Error> {
    if !second_factor::delete(tx, user.id).await? {
        return Ok(false);
    }
    let event = Event::success(EventName::MfaDisabled).user(user.id);
    event.record(tx, context).await?;
    mails
        .send_notice(tx, user.recipient(), Notice::MfaDisabled, context)
        .await?;
    Ok(true)
}
