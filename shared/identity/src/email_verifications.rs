//! Confirming and changing e-mail addresses by a mailed link.

use crate::credential_check::{self, PresentedCredentials, RequiredFactors};
use crate::mail_throttle::{self, MailThrottled};
use crate::mailed_tokens::{self, MailedToken, Purpose};
use crate::services::Identity;
use crate::sessions::{self, Session};
use crate::sign_out::sign_out_everywhere;
use crate::users::{self, User};
use audit::events::{Event, EventName};
use audit::mail::{Link, Notice};
use audit::revocation::PendingAnnouncement;
use foundation::context::RequestContext;
use foundation::email::Email;
use foundation::secret::Secret;
use storage::db::{self, Tx};

/// The reason why an address was not confirmed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The token is unknown, used, superseded or expired, or the account was disabled or changed its address meanwhile.
    /// One error covers all of these cases, so that it reveals nothing.
    #[error("the link is invalid, used or expired; request a new one")]
    TokenInvalid,
    /// Another account has the address.
    #[error("another account has this e-mail")]
    EmailTaken,
    /// A database error.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// The reason why a change of address was not started.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The credentials were not verified.
    #[error(transparent)]
    Credentials(#[from] credential_check::Error),
    /// Too many mails were requested, the store that counts them is unavailable, or the mail could not be queued.
    #[error(transparent)]
    Throttled(#[from] MailThrottled),
}

/// Mails a link that confirms the address of a new account. `tx` is the transaction that creates the account. Sends
/// nothing and succeeds if the mailbox reached its limit or the store that counts mails is unavailable, because the
/// user can [`request`] the mail later.
pub async fn mail_new_account(
    identity: &Identity,
    tx: &mut Tx,
    user: &User,
    email: &Email,
    context: &RequestContext,
) -> Result<(), db::Error> {
    let link = Link::EmailVerification;
    let acquired = mail_throttle::acquire_for_mailbox(identity, link, email, context).await;
    match acquired.unwrap_or(false) {
        true => mail_link(identity, tx, user.id, email, link, context).await,
        false => Ok(()),
    }
}

/// Mails a link that confirms the current address of a session's user. Sends nothing and succeeds if the mailbox
/// reached its limit, or if the address was replaced or the session ended meanwhile. Fails with
/// [`MailThrottled::TooMany`] if the network reached its limit.
pub async fn request(
    identity: &Identity,
    session: &Session,
    context: &RequestContext,
) -> Result<(), MailThrottled> {
    // A stored address was parsed by the same rules, so this does not fail.
    let Ok(email) = Email::parse(&session.user.email) else {
        return Ok(());
    };
    if !mail_throttle::acquire(identity, Link::EmailVerification, &email, context).await? {
        return Ok(());
    }
    let mut tx = identity.db.begin().await?;
    let user_id = session.user.id;
    // If the address was replaced meanwhile, a link to the old address would restore that address.
    let is_current = users::lock_email(&mut tx, user_id, &email).await?
        && sessions::lock(&mut tx, session.id, context.now).await?;
    if !is_current {
        return Ok(());
    }
    mail_link(
        identity,
        &mut tx,
        user_id,
        &email,
        Link::EmailVerification,
        context,
    )
    .await?;
    Event::success(EventName::EmailVerificationRequest)
        .user(user_id)
        .record(&mut tx, context)
        .await?;
    Ok(tx.commit().await?)
}

/// Verifies the credentials of a session's user, mails a link to the new address `to`, and mails a notice to the
/// current one. Sends nothing and succeeds if the new mailbox reached its limit. Only [`confirm`] checks whether
/// another account has the new address, so that only somebody who can read its mail learns of that account.
pub async fn request_change(
    identity: &Identity,
    session: &Session,
    to: &Email,
    presented: &PresentedCredentials,
    context: &RequestContext,
) -> Result<(), ChangeError> {
    let verified =
        credential_check::reauthenticate(identity, &session.user, presented, RequiredFactors::All, context)
            .await?;
    if !mail_throttle::acquire(identity, Link::EmailChange, to, context).await? {
        return Ok(());
    }
    let (user, mails) = (&session.user, &identity.mails);
    let mut tx = identity.db.begin().await.map_err(MailThrottled::from)?;
    if users::lock(&mut tx, &verified)
        .await
        .map_err(MailThrottled::from)?
        .is_none()
    {
        return Err(credential_check::Error::WrongCredentials.into());
    }
    credential_check::hold_session(&mut tx, session, context).await?;
    let written = async {
        mail_link(identity, &mut tx, user.id, to, Link::EmailChange, context).await?;
        let notice = Notice::EmailChangeRequested { to: to.as_str() };
        mails
            .send_notice(&mut tx, user.recipient(), notice, context)
            .await?;
        Event::success(EventName::EmailChangeRequest)
            .user(user.id)
            .record(&mut tx, context)
            .await?;
        tx.commit().await
    };
    Ok(written.await.map_err(MailThrottled::from)?)
}

/// Confirms the address to which the token was mailed. If that is not the account's current address, it becomes the
/// account's address, and every session, refresh token and access token of the user ends. Fails with
/// [`Error::TokenInvalid`] or [`Error::EmailTaken`]. A failure does not use up the token.
pub async fn confirm(identity: &Identity, token: &Secret, context: &RequestContext) -> Result<(), Error> {
    let (purpose, now) = (Purpose::EmailVerification, context.now);
    let mailed = mailed_tokens::find(&identity.db, purpose, token, now).await?;
    let mailed = mailed.ok_or(Error::TokenInvalid)?;
    let is_change = mailed.email_key != mailed.current_email_key;

    let mut tx = identity.db.begin().await?;
    let update = users::set_email(
        &mut tx,
        mailed.user_id,
        &mailed.current_email_key,
        &mailed.email,
        &mailed.email_key,
        now,
    );
    let is_updated = update.await.map_err(|error| match error {
        db::Error::Conflict => Error::EmailTaken,
        error => Error::Database(error),
    })?;
    if !is_updated || !mailed_tokens::claim(&mut tx, purpose, token, now).await? {
        return Err(Error::TokenInvalid);
    }
    let announcement = if is_change {
        Some(finish_change(identity, &mut tx, &mailed, context).await?)
    } else {
        Event::success(EventName::EmailVerified)
            .user(mailed.user_id)
            .record(&mut tx, context)
            .await?;
        None
    };
    tx.commit().await?;
    if let Some(announcement) = announcement {
        identity.revocations.announce(announcement).await;
    }
    Ok(())
}

/// Ends the sign-ins of a user whose address changed, and mails a notice to the former address.
async fn finish_change(
    identity: &Identity,
    tx: &mut Tx,
    mailed: &MailedToken,
    context: &RequestContext,
) -> Result<PendingAnnouncement, db::Error> {
    let announcement = sign_out_everywhere(tx, mailed.user_id, context).await?;
    Event::success(EventName::EmailChange)
        .user(mailed.user_id)
        .record(tx, context)
        .await?;
    let notice = Notice::EmailChanged { to: &mailed.email };
    let mails = &identity.mails;
    mails.send_notice(tx, mailed.recipient(), notice, context).await?;
    Ok(announcement)
}

/// Creates a verification token and mails the link that contains it.
async fn mail_link(
    identity: &Identity,
    tx: &mut Tx,
    user_id: i64,
    email: &Email,
    link: Link,
    context: &RequestContext,
) -> Result<(), db::Error> {
    let (purpose, lifetime) = (
        Purpose::EmailVerification,
        identity.link_lifetimes.email_verification,
    );
    let token = mailed_tokens::create(tx, purpose, Some(user_id), email, lifetime, context.now).await?;
    let mails = &identity.mails;
    mails
        .send_link(tx, Some(email.as_str()), link, (&token, lifetime), context)
        .await
}
