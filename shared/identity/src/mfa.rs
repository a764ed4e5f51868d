//! Two-step sign-in: turning it on and off, and what is accepted as its second step.

use crate::credential_check::{self, PresentedCredentials, RequiredFactors, VerifiedFactors};
use crate::second_factor::{self, Otp};
use crate::sessions;
use crate::sessions::Session;
use crate::sign_out::sign_out_everywhere;
use crate::totp;
use crate::totp::Enrolment;
use crate::users;
use crate::users::{User, changes};
use crate::{Identity, recovery_codes};
use audit::events::{Event, EventName};
use audit::mail::{Mails, Notice};
use audit::revocation::PendingAnnouncement;
use foundation::context::RequestContext;
use storage::db;
use storage::db::Tx;

/// Why two-step sign-in was not turned on or off.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is on already.
    #[error("two-step sign-in is on")]
    On,
    /// It is off, or nothing awaits a first code.
    #[error("two-step sign-in is off")]
    Off,
    /// Who asks was not shown to be the user.
    #[error(transparent)]
    Credentials(#[from] credential_check::Error),
}

impl From<db::Error> for Error {
    fn from(error: db::Error) -> Self {
        Self::Credentials(error.into())
    }
}

/// Begins to turn it on: gives the seed for an authenticator app, which [`confirm`] is to show a code of.
pub async fn begin(
    identity: &Identity,
    user: &User,
    proof: &PresentedCredentials,
    context: &RequestContext,
) -> Result<Enrolment, Error> {
    let verified =
        credential_check::reauthenticate(identity, user, proof, RequiredFactors::Password, context).await?;
    let mut tx = identity.db.begin().await?;
    if !users::lock(&mut tx, &verified).await? {
        return Err(credential_check::Error::Wrong.into());
    }
    let key = &identity.account_key;
    let begun = totp::begin(&mut tx, key, user.id, &user.email, context.now).await?;
    let begun = begun.ok_or(Error::On)?;
    tx.commit().await?;
    Ok(begun)
}

/// Turns it on by a first code, and gives the recovery codes. Whoever was signed in is signed out. A session that
/// ended meanwhile turns nothing on: who has it may be somebody else.
pub async fn confirm(
    identity: &Identity,
    session: &Session,
    otp: &Otp,
    context: &RequestContext,
) -> Result<Vec<String>, Error> {
    let (db, key, user) = (&identity.db, &identity.account_key, &session.user);
    let pending = totp::pending(db, user.id).await?.ok_or(Error::Off)?;
    let first_code = async {
        let step = totp::step(key, user.id, &pending, otp.expose(), context.now)?;
        Ok((
            step.ok_or(credential_check::Error::WrongCode)?,
            VerifiedFactors::Some,
        ))
    };
    let step = credential_check::attempt(identity, user, context, first_code).await?;

    let mut tx = db.begin().await?;
    // The user's row first, as whatever ends sessions does.
    changes::invalidate_sign_ins(&mut tx, user.id).await?;
    if !sessions::lock(&mut tx, session.id, context.now).await? {
        return Err(Error::Off);
    }
    let announcement = sign_out_everywhere(&mut tx, user.id, context).await?;
    if !totp::confirm(&mut tx, user.id, &pending, step, context.now).await? {
        return Err(Error::Off);
    }
    let codes = recovery_codes::renew(&mut tx, key, user.id).await?;
    let event = Event::success(EventName::MfaEnabled).user(user.id);
    event.record(&mut tx, context).await?;
    let mails = &identity.mails;
    mails
        .send_notice(&mut tx, &user.email, Notice::MfaEnabled, context)
        .await?;
    tx.commit().await?;
    identity.revocations.announce(announcement).await;
    Ok(codes)
}

/// Turns it off. Whoever was signed in is signed out.
pub async fn disable(
    identity: &Identity,
    user: &User,
    proof: &PresentedCredentials,
    context: &RequestContext,
) -> Result<(), Error> {
    if !second_factor::is_on(&identity.db, user.id).await? {
        return Err(Error::Off);
    }
    let verified =
        credential_check::reauthenticate(identity, user, proof, RequiredFactors::All, context).await?;
    let mut tx = identity.db.begin().await?;
    if !users::lock(&mut tx, &verified).await? {
        return Err(credential_check::Error::Wrong.into());
    }
    let announcement = reset(&mut tx, &identity.mails, user, context).await?;
    let announcement = announcement.ok_or(Error::Off)?;
    tx.commit().await?;
    identity.revocations.announce(announcement).await;
    Ok(())
}

/// Turns two-step sign-in off and mails a notice to the user. `None`: it was off already, and the caller must roll back.
pub async fn reset(
    tx: &mut Tx,
    mails: &Mails,
    user: &User,
    context: &RequestContext,
) -> Result<Option<PendingAnnouncement>, db::Error> {
    let announcement = sign_out_everywhere(tx, user.id, context).await?;
    if !second_factor::delete(tx, user.id).await? {
        return Ok(None);
    }
    let event = Event::success(EventName::MfaDisabled).user(user.id);
    event.record(tx, context).await?;
    mails
        .send_notice(tx, &user.email, Notice::MfaDisabled, context)
        .await?;
    Ok(Some(announcement))
}
