//! Password resets: a link is mailed to the user, and its token authorizes setting a new password.

use crate::end_reason::EndReason;
use crate::mail_throttle::{self, MailThrottled};
use crate::mailed_tokens::{self, MailedToken, Purpose};
use crate::passwords::{self, Password, PasswordFlaw};
use crate::services::Identity;
use crate::sign_out::sign_out_everywhere;
use crate::users::{self, changes};
use crate::{consents, passkeys, second_factor, sessions};
use audit::events::{Event, EventName};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::email::Email;
use foundation::secret::Secret;
use mail::{Link, Notice, Recipient};
use revocation::RevokingTx;
use storage::db::{self, Tx};

/// The reason why no password was set.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The token is unknown, used, superseded or expired, or the account was disabled or changed its address
    /// meanwhile. One error covers all of these cases, so that it reveals nothing.
    #[error("the link is invalid, used or expired; request a new one")]
    TokenInvalid,
    /// The password resembles the address of the account.
    #[error("the password {0}")]
    Flawed(#[from] PasswordFlaw),
    /// The password could not be hashed, or too many hashes are being computed.
    #[error(transparent)]
    Passwords(#[from] passwords::Error),
    /// A database error.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// Mails a reset link to the enabled account with this address, if there is one. Neither the result nor the
/// time reveals whether there is one: for other addresses the same rows are written, without a recipient.
/// Sends nothing and succeeds if the mailbox reached its limit. Fails with [`MailThrottled::TooMany`] if the
/// network reached its limit.
pub async fn request(
    identity: &Identity,
    email: &Email,
    context: &RequestContext,
) -> Result<(), MailThrottled> {
    if !mail_throttle::acquire(identity, Link::PasswordReset, email, context).await? {
        return Ok(());
    }
    let user = users::find_enabled_by_email(&identity.db, email).await?;
    let lifetime = identity.link_lifetimes.password_reset;
    let user_id = user.as_ref().map(|user| user.id);
    let to = user.as_ref().map(|user| user.email.as_str());
    let event = match user_id {
        Some(_) => Event::success(EventName::PasswordResetRequest),
        None => Event::failure(EventName::PasswordResetRequest),
    };

    let mut tx = identity.db.begin().await?;
    let (purpose, now) = (Purpose::PasswordReset, context.now);
    let token = mailed_tokens::create(&mut tx, purpose, user_id, email, lifetime, now).await?;
    let mails = &identity.mails;
    mails
        .send_link(&mut tx, to, Link::PasswordReset, (&token, lifetime), context)
        .await?;
    event.user(user_id).record(&mut tx, context).await?;
    tx.commit().await?;
    Ok(())
}

/// Returns the account whose password [`confirm`] would set with this token, and the address to which it was
/// mailed. Returns `None` if the token is not valid.
pub async fn find(
    identity: &Identity,
    token: &Secret,
    now: Timestamp,
) -> Result<Option<MailedToken>, db::Error> {
    mailed_tokens::find(&identity.db, Purpose::PasswordReset, token, now).await
}

/// Sets the password of the account for which the token was mailed, ends every session, refresh token and
/// access token of the user, removes the user's passkeys, ends the account's lockouts, and mails the user a
/// notice. Starts no session. Two-step sign-in stays on, unless the address was not verified before: then
/// somebody else may have set the account up, and the bearer of the token takes it over without their second
/// factor and their apps. Fails with [`Error::TokenInvalid`] if the token is not valid, and with
/// [`Error::Flawed`] if the password resembles the address. A failure does not use up the token.
pub async fn confirm(
    identity: &Identity,
    token: &Secret,
    new: Password,
    context: &RequestContext,
) -> Result<(), Error> {
    let (purpose, now) = (Purpose::PasswordReset, context.now);
    let mailed = mailed_tokens::find(&identity.db, purpose, token, now).await?;
    let mailed = mailed.ok_or(Error::TokenInvalid)?;
    identity.passwords.check_against_email(&new, &mailed.user.email)?;
    let hash = identity.passwords.hash(new).await?;

    let mut tx = RevokingTx::begin(&identity.db, &identity.revocations).await?;
    let (user, mailed_to) = (&mailed.user, &mailed.mailed_to_key);
    let is_first_proof = users::verify_email(&mut tx, user.id, mailed_to).await?;
    let is_set = users::reset_password(&mut tx, user.id, mailed_to, &hash, now).await?;
    if !is_set || !mailed_tokens::claim(&mut tx, purpose, token, now).await? {
        return Err(Error::TokenInvalid);
    }
    if is_first_proof {
        remove_former_access(&mut tx, user.id, context).await?;
    }
    // Somebody else may have added them: they would sign in as before.
    let had_passkeys = passkeys::delete_all(&mut tx, user.id, context).await?;
    sign_out_everywhere(&mut tx, user.id, EndReason::PasswordReset, context).await?;
    // The mailed token proves the user's identity, so a lockout need not last any longer.
    changes::unlock(&mut tx, user.id, now).await?;
    let event = Event::success(EventName::PasswordReset).user(user.id);
    event.record(&mut tx, context).await?;
    let mails = &identity.mails;
    // The link was mailed to this address, which is therefore verified now.
    let to = Recipient {
        is_verified: true,
        ..user.recipient()
    };
    mails
        .send_notice(&mut tx, to, Notice::PasswordReset { had_passkeys }, context)
        .await?;
    Ok(tx.commit().await?)
}

/// Removes the second factor of a user and disconnects all apps. Ends the sessions first, because the
/// exchange of an authorization code locks them before the consents.
async fn remove_former_access(tx: &mut Tx, user_id: i64, context: &RequestContext) -> Result<(), db::Error> {
    sessions::end_all(tx, user_id, None, EndReason::PasswordReset, context.now).await?;
    consents::delete_all(tx, user_id).await?;
    if second_factor::delete(tx, user_id).await? {
        let event = Event::success(EventName::MfaDisabled).user(user_id);
        let event = event.detail("older than the first proof of the mailbox");
        event.record(tx, context).await?;
    }
    Ok(())
}
