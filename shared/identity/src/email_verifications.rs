//! E-mail addresses, confirmed by a link that is mailed to them; and changed so.

use crate::Identity;
use crate::credential_check::{self, PresentedCredentials, RequiredFactors};
use crate::mail_throttle::{MailThrottled, may_mail, may_mail_to_new};
use crate::mailed_tokens;
use crate::mailed_tokens::Purpose;
use crate::sessions::Session;
use crate::sign_out::sign_out_everywhere;
use crate::users;
use crate::users::User;
use audit::events::{Event, EventName};
use audit::mail::{Link, Notice};
use audit::revocation::PendingAnnouncement;
use foundation::context::RequestContext;
use foundation::email::Email;
use foundation::secret::Secret;
use storage::db;
use storage::db::Tx;

/// Why an address was not confirmed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The token is unknown, used, superseded or too old; which, nobody is told.
    #[error("the link is unknown, used or too old; ask for another")]
    TokenInvalid,
    /// The address is that of another account.
    #[error("another account has this e-mail")]
    EmailTaken,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// Why no change was asked for.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The password was not verified.
    #[error(transparent)]
    Credentials(#[from] credential_check::Error),
    /// No mail may be sent.
    #[error(transparent)]
    Refused(#[from] MailThrottled),
}

/// Whether a new account's address is mailed to: there is a limit to how many are, from one network. Where requests
/// cannot be counted none is; the account is made all the same, and its user may ask for the mail.
pub async fn may_welcome(identity: &Identity, context: &RequestContext) -> bool {
    may_mail_to_new(identity, context).await.unwrap_or(false)
}

/// Mails a link that confirms a new account's address, in the transaction that makes the account.
pub async fn welcome(
    identity: &Identity,
    tx: &mut Tx,
    user: &User,
    email: &Email,
    context: &RequestContext,
) -> Result<(), db::Error> {
    mail_link(identity, tx, (user.id, email), Link::EmailVerification, context).await
}

/// Mails a link that confirms the present address of a session's user.
pub async fn request(
    identity: &Identity,
    session: &Session,
    context: &RequestContext,
) -> Result<(), MailThrottled> {
    // What is stored was read by the same rules.
    let Ok(email) = Email::parse(&session.user.email) else {
        return Ok(());
    };
    if !may_mail(identity, "verification", &email, context).await? {
        return Ok(());
    }
    let mut tx = identity.db.begin().await?;
    let user_id = session.user.id;
    // A link to an address that was replaced meanwhile would bring it back.
    if !users::lock_email(&mut tx, user_id, &email).await? {
        return Ok(());
    }
    mail_link(
        identity,
        &mut tx,
        (user_id, &email),
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

/// Mails a link to the address that a session's user wants instead of theirs, and says so to the present one.
/// Whether the new one is another account's is not looked at here: only who reads its mail is told.
pub async fn request_change(
    identity: &Identity,
    session: &Session,
    (to, proof): (&Email, &PresentedCredentials),
    context: &RequestContext,
) -> Result<(), ChangeError> {
    let verified =
        credential_check::reauthenticate(identity, &session.user, proof, RequiredFactors::All, context)
            .await?;
    if !may_mail(identity, "verification", to, context).await? {
        return Ok(());
    }
    let (user, mails) = (&session.user, &identity.mails);
    let mut tx = identity.db.begin().await.map_err(MailThrottled::from)?;
    if !users::lock(&mut tx, &verified)
        .await
        .map_err(MailThrottled::from)?
    {
        return Err(credential_check::Error::Wrong.into());
    }
    let written = async {
        mail_link(identity, &mut tx, (user.id, to), Link::EmailChange, context).await?;
        let asked = Notice::EmailChangeRequested { to: to.as_str() };
        mails.send_notice(&mut tx, &user.email, asked, context).await?;
        Event::success(EventName::EmailChangeRequest)
            .user(user.id)
            .record(&mut tx, context)
            .await?;
        tx.commit().await
    };
    Ok(written.await.map_err(MailThrottled::from)?)
}

/// Confirms the address that the token was mailed to, and makes it the account's if it is another than that has.
/// With a change every session, refresh token and access token of the user dies. The token is used up by success
/// alone.
pub async fn confirm(identity: &Identity, token: &Secret, context: &RequestContext) -> Result<(), Error> {
    let (purpose, now) = (Purpose::EmailVerification, context.now);
    let proof = mailed_tokens::find(&identity.db, purpose, token, now).await?;
    let proof = proof.ok_or(Error::TokenInvalid)?;
    let is_change = proof.email_key != proof.present_key;

    let mut tx = identity.db.begin().await?;
    let set = users::set_email(
        &mut tx,
        proof.user_id,
        &proof.present_key,
        (&proof.email, &proof.email_key),
        now,
    );
    let set = set.await.map_err(|error| match error {
        db::Error::Conflict => Error::EmailTaken,
        error => Error::Database(error),
    })?;
    if !set || !mailed_tokens::claim(&mut tx, purpose, token, now).await? {
        return Err(Error::TokenInvalid);
    }
    let announcement = if is_change {
        Some(finish_change(identity, &mut tx, &proof, context).await?)
    } else {
        Event::success(EventName::EmailVerified)
            .user(proof.user_id)
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

async fn finish_change(
    identity: &Identity,
    tx: &mut Tx,
    proof: &mailed_tokens::MailedToken,
    context: &RequestContext,
) -> Result<PendingAnnouncement, db::Error> {
    let announcement = sign_out_everywhere(tx, proof.user_id, context).await?;
    Event::success(EventName::EmailChange)
        .user(proof.user_id)
        .record(tx, context)
        .await?;
    let changed = Notice::EmailChanged { to: &proof.email };
    let mails = &identity.mails;
    mails
        .send_notice(tx, &proof.present_email, changed, context)
        .await?;
    Ok(announcement)
}

async fn mail_link(
    identity: &Identity,
    tx: &mut Tx,
    (user_id, email): (i64, &Email),
    link: Link,
    context: &RequestContext,
) -> Result<(), db::Error> {
    let (purpose, lifetime) = (
        Purpose::EmailVerification,
        identity.link_lifetimes.email_verification,
    );
    let token = mailed_tokens::create(tx, purpose, (Some(user_id), email), lifetime, context.now).await?;
    let mails = &identity.mails;
    mails
        .send_link(tx, Some(email.as_str()), link, (&token, lifetime), context)
        .await
}
