//! Confirming and changing e-mail addresses by a mailed link. Anybody can enter an address for an account, so
//! the link is not enough: it shows who reads the mail, and a session or the password shows who has the
//! account. Who has neither can [reset the password](crate::password_resets), which ends what was set up
//! before.

use crate::credential_check::{self, PresentedCredentials, RequiredFactors};
use crate::end_reason::EndReason;
use crate::mail_throttle::{self, MailThrottled};
use crate::mailed_tokens::{self, MailedToken, Purpose};
use crate::passwords::Password;
use crate::services::Identity;
use crate::sessions::{self, Session};
use crate::sign_out::sign_out_everywhere;
use crate::users::{self, User};
use audit::events::{Event, EventName};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::email::Email;
use foundation::secret::Secret;
use mail::{Link, Notice};
use revocation::RevokingTx;
use storage::db::{self, Tx};

/// The reason why an address was not confirmed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The token is unknown, used, superseded or expired, or the account was disabled or changed its address
    /// meanwhile. One error covers all of these cases, so that it reveals nothing.
    #[error("the link is invalid, used or expired; request a new one")]
    TokenInvalid,
    /// The link is valid, but there is neither a session of its user nor a password.
    #[error("the password of the account is required")]
    PasswordMissing(Box<MailedToken>),
    /// The password was not verified, or the session ended meanwhile.
    #[error(transparent)]
    Credentials(#[from] credential_check::Error),
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
    /// Too many mails were requested, the store that counts them is unavailable, or the mail could not be
    /// queued.
    #[error(transparent)]
    Throttled(#[from] MailThrottled),
}

impl From<db::Error> for ChangeError {
    fn from(error: db::Error) -> Self {
        Self::Throttled(error.into())
    }
}

/// Mails a link that confirms the address of a new account. `tx` is the transaction that creates the account.
/// Sends nothing and succeeds if the mailbox reached its limit or the store that counts mails is unavailable,
/// because the user can [`request`] the mail later.
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

/// Mails a link that confirms the current address of a session's user. Sends nothing and succeeds if the
/// mailbox reached its limit, or if the address was replaced or the session ended meanwhile. Fails with
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
    let link = Link::EmailVerification;
    if !mail_throttle::acquire(identity, link, &email, context).await? {
        return Ok(());
    }
    let mut tx = identity.db.begin().await?;
    let user_id = session.user.id;
    // If the address was replaced meanwhile, a link to the old address would restore that address.
    let is_current = users::lock_email(&mut tx, user_id, &email).await?
        && sessions::lock(&mut tx, session.id, session.signed_in_at, context.now).await?;
    if !is_current {
        return Ok(());
    }
    mail_link(identity, &mut tx, user_id, &email, link, context).await?;
    let event = Event::success(EventName::EmailVerificationRequest).user(user_id);
    event.record(&mut tx, context).await?;
    Ok(tx.commit().await?)
}

/// Verifies the credentials of a session's user, or the recent sign-in if `presented` is `None`. Mails a link
/// to the new address `to`, and a notice to the current one. Sends nothing and succeeds if the new mailbox
/// reached its limit. Only [`confirm`] checks whether another account has the new address, so that only
/// somebody who can read its mail learns of that account.
pub async fn request_change(
    identity: &Identity,
    session: &Session,
    to: &Email,
    presented: Option<&PresentedCredentials>,
    context: &RequestContext,
) -> Result<(), ChangeError> {
    let required = RequiredFactors::All;
    let verified = credential_check::prove(identity, session, presented, required, context).await?;
    if !mail_throttle::acquire(identity, Link::EmailChange, to, context).await? {
        return Ok(());
    }
    let (user, mails) = (&session.user, &identity.mails);
    let mut tx = identity.db.begin().await?;
    if users::lock(&mut tx, &verified).await?.is_none() {
        return Err(credential_check::Error::WrongCredentials.into());
    }
    credential_check::hold_session(&mut tx, session, context).await?;
    mail_link(identity, &mut tx, user.id, to, Link::EmailChange, context).await?;
    let (to, notice) = (user.recipient(), Notice::EmailChangeRequested { to: to.as_str() });
    mails.send_notice(&mut tx, to, notice, context).await?;
    let event = Event::success(EventName::EmailChangeRequest).user(user.id);
    event.record(&mut tx, context).await?;
    Ok(tx.commit().await?)
}

/// Returns what [`confirm`] would confirm with this token: the address to which it was mailed, and its user.
/// Returns `None` if the token is not valid.
pub async fn find(
    identity: &Identity,
    token: &Secret,
    now: Timestamp,
) -> Result<Option<MailedToken>, db::Error> {
    mailed_tokens::find(&identity.db, Purpose::EmailVerification, token, now).await
}

/// Returns the session if it is one of the user of this link, who then needs no password to [`confirm`] the
/// address. A session in which an initial password must be replaced does not count.
pub fn own_session<'s>(mailed: &MailedToken, session: Option<&'s Session>) -> Option<&'s Session> {
    session.filter(|session| session.user.id == mailed.user.id && !session.password_change_required)
}

/// Confirms the address to which the token was mailed, in a [session of its user](own_session) or else with
/// the user's password. A one-time code is not required. If the address is not the account's current one, it
/// becomes the account's address, and every session, refresh token and access token of the user ends. Fails
/// with [`Error::TokenInvalid`], [`Error::PasswordMissing`], [`Error::Credentials`] or [`Error::EmailTaken`].
/// A failure does not use up the token.
pub async fn confirm(
    identity: &Identity,
    token: &Secret,
    session: Option<&Session>,
    password: Option<Password>,
    context: &RequestContext,
) -> Result<(), Error> {
    let (purpose, now) = (Purpose::EmailVerification, context.now);
    let mailed = find(identity, token, now).await?.ok_or(Error::TokenInvalid)?;
    let session = own_session(&mailed, session);
    match password {
        _ if session.is_some() => {}
        Some(password) => verify_password(identity, &mailed.user, password, context).await?,
        None => return Err(Error::PasswordMissing(Box::new(mailed))),
    }

    let mut tx = RevokingTx::begin(&identity.db, &identity.revocations).await?;
    let (id, key, to) = (mailed.user.id, &mailed.current_key, &mailed.mailed_to);
    let update = users::set_email(&mut tx, id, key, to, &mailed.mailed_to_key, now);
    let is_updated = update.await.map_err(|error| match error {
        db::Error::Conflict => Error::EmailTaken,
        error => Error::Database(error),
    })?;
    // If the password changed meanwhile, the token was deleted with the sessions.
    if !is_updated || !mailed_tokens::claim(&mut tx, purpose, token, now).await? {
        return Err(Error::TokenInvalid);
    }
    if let Some(session) = session {
        credential_check::hold_session(&mut tx, session, context).await?;
    }
    if mailed.is_change() {
        finish_change(identity, &mut tx, &mailed, context).await?;
    } else {
        let event = Event::success(EventName::EmailVerified).user(mailed.user.id);
        event.record(&mut tx, context).await?;
    }
    Ok(tx.commit().await?)
}

/// Verifies the password of a link's user, under the limits of failed sign-ins. The bearer of the link does
/// not learn whether there is one.
async fn verify_password(
    identity: &Identity,
    user: &User,
    password: Password,
    context: &RequestContext,
) -> Result<(), credential_check::Error> {
    let presented = PresentedCredentials { password, otp: None };
    let required = RequiredFactors::Password;
    let stored = users::credentials_by_id(&identity.db, user.id).await?;
    credential_check::verify_for(identity, user, stored, &presented, required, context)
        .await
        .map(|_| ())
}

/// Ends the sign-ins of a user whose address changed, and mails a notice to the former address.
async fn finish_change(
    identity: &Identity,
    tx: &mut RevokingTx,
    mailed: &MailedToken,
    context: &RequestContext,
) -> Result<(), db::Error> {
    let user = &mailed.user;
    sign_out_everywhere(tx, user.id, EndReason::EmailChanged, context).await?;
    let change = format!("{} to {}", user.email, mailed.mailed_to);
    let event = Event::success(EventName::EmailChange).user(user.id);
    event.detail(change).record(tx, context).await?;
    let notice = Notice::EmailChanged {
        to: &mailed.mailed_to,
    };
    let mails = &identity.mails;
    mails.send_notice(tx, user.recipient(), notice, context).await
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
    let purpose = Purpose::EmailVerification;
    let lifetime = identity.link_lifetimes.email_verification;
    let token = mailed_tokens::create(tx, purpose, Some(user_id), email, lifetime, context.now).await?;
    let mails = &identity.mails;
    mails
        .send_link(tx, Some(email.as_str()), link, (&token, lifetime), context)
        .await
}
