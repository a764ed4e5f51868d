//! Password resets, for those who forgot theirs: a link is mailed, and its token sets another password.

use crate::Identity;
use crate::mail_throttle::{MailThrottled, may_mail};
use crate::mailed_tokens;
use crate::mailed_tokens::Purpose;
use crate::passwords;
use crate::passwords::Password;
use crate::sign_out::sign_out_everywhere;
use crate::users;
use crate::users::changes;
use audit::events::{Event, EventName};
use audit::mail::{Link, Notice};
use foundation::context::RequestContext;
use foundation::email::Email;
use foundation::secret::Secret;
use storage::db;

/// Why no password was set.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The token is unknown, used, superseded or too old; which, nobody is told.
    #[error("the link is unknown, used or too old; ask for another")]
    TokenInvalid,
    /// No hash was computed.
    #[error(transparent)]
    Passwords(#[from] passwords::Error),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// Mails a link to the account with this address, if there is one that is not disabled. Whether there is, neither
/// the answer nor the time it takes tells: for an address without one the same rows are written, to nobody.
pub async fn request(
    identity: &Identity,
    email: &Email,
    context: &RequestContext,
) -> Result<(), MailThrottled> {
    if !may_mail(identity, "password reset", email, context).await? {
        return Ok(());
    }
    let user = users::find_enabled_by_email(&identity.db, email).await?;
    let lifetime = identity.link_lifetimes.password_reset;
    let (user_id, to) = (
        user.as_ref().map(|user| user.id),
        user.as_ref().map(|user| user.email.as_str()),
    );
    let event = match user_id {
        Some(_) => Event::success(EventName::PasswordResetRequest),
        None => Event::failure(EventName::PasswordResetRequest),
    };

    let mut tx = identity.db.begin().await?;
    let (purpose, now) = (Purpose::PasswordReset, context.now);
    let token = mailed_tokens::create(&mut tx, purpose, (user_id, email), lifetime, now).await?;
    let mails = &identity.mails;
    mails
        .send_link(&mut tx, to, Link::PasswordReset, (&token, lifetime), context)
        .await?;
    event.user(user_id).record(&mut tx, context).await?;
    tx.commit().await?;
    Ok(())
}

/// Sets the password of the account that the token was mailed for. It signs nobody in, and a second factor stays;
/// every session, refresh token and access token of the user dies. The token is used up by success alone.
pub async fn confirm(
    identity: &Identity,
    token: &Secret,
    new: Password,
    context: &RequestContext,
) -> Result<(), Error> {
    let (purpose, now) = (Purpose::PasswordReset, context.now);
    let proof = mailed_tokens::find(&identity.db, purpose, token, now).await?;
    let proof = proof.ok_or(Error::TokenInvalid)?;
    let hash = identity.passwords.hash(new).await?;

    let mut tx = identity.db.begin().await?;
    let set = users::reset_password(&mut tx, proof.user_id, &proof.email_key, &hash, now).await?;
    if !set || !mailed_tokens::claim(&mut tx, purpose, token, now).await? {
        return Err(Error::TokenInvalid);
    }
    let announcement = sign_out_everywhere(&mut tx, proof.user_id, context).await?;
    // Whoever proved that the account is theirs need not wait for the end of a lock.
    changes::unlock(&mut tx, proof.user_id, now).await?;
    Event::success(EventName::PasswordReset)
        .user(proof.user_id)
        .record(&mut tx, context)
        .await?;
    let mails = &identity.mails;
    mails
        .send_notice(&mut tx, &proof.present_email, Notice::PasswordReset, context)
        .await?;
    tx.commit().await?;
    identity.revocations.announce(announcement).await;
    Ok(())
}
