//! Adding a passkey to an account.

use super::relying_party::EnrollingUser;
use super::{Answer, Challenge, Error, MAX_PER_USER, Name, Passkey, RelyingParty, insert};
use crate::credential_check::{self, RequiredFactors};
use crate::services::Identity;
use crate::sessions::Session;
use crate::users;
use audit::events::{Event, EventName};
use foundation::context::RequestContext;
use mail::Notice;

/// Returns a challenge for an authenticator that has none of the `existing` passkeys of the session's user,
/// in the browser with this secret. Returns `None` if the user has 20 passkeys, because an authenticator
/// would store one that cannot be added.
pub fn begin_enrollment(
    identity: &Identity,
    party: &RelyingParty,
    session: &Session,
    existing: &[Passkey],
    browser_secret: &str,
    context: &RequestContext,
) -> Result<Option<Challenge>, Error> {
    if existing.len() >= MAX_PER_USER {
        return Ok(None);
    }
    let existing = existing.iter().map(|passkey| passkey.credential_id.clone());
    let existing = existing.collect();
    let sealing = (&identity.account_key, browser_secret);
    let mut challenge = party.begin_enrollment(sealing, user_of(session), existing, context.now)?;
    let recent = session.remaining_recent_sign_in(context.now);
    challenge.lifetime = challenge.lifetime.min(recent);
    Ok(Some(challenge))
}

/// Adds the passkey that answered a challenge of [`begin_enrollment`] to the account of the session's user,
/// and mails the user a notice. Ends no session. Fails with [`credential_check::Error::SignInTooOld`] if the
/// sign-in of the session is over ten minutes old, with [`Error::Stale`] if the challenge has expired or the
/// user's sessions ended since, with [`Error::Refused`] if the answer is wrong, with [`Error::AlreadyAdded`]
/// and with [`Error::TooMany`].
pub async fn enroll(
    identity: &Identity,
    party: &RelyingParty,
    session: &Session,
    name: &Name,
    answer: Answer<'_>,
    context: &RequestContext,
) -> Result<(), Error> {
    let verified = credential_check::prove(identity, session, None, RequiredFactors::All, context).await?;
    let (key, now) = (&identity.account_key, context.now);
    let (credential, challenged_at) = party.finish_enrollment(key, user_of(session), answer, now)?;
    let mut tx = identity.db.begin().await?;
    let user = users::lock(&mut tx, &verified).await?;
    let user = user.ok_or(credential_check::Error::SignedOut)?;
    credential_check::hold_session(&mut tx, session, context).await?;
    let id = insert(&mut tx, user.id, &credential, name, (challenged_at, now)).await?;
    let event = Event::success(EventName::PasskeyAdded).user(user.id);
    let event = event.detail(format!("passkey {id}"));
    identity.events.record_in(&mut tx, event, context).await?;
    let (mails, to, notice) = (&identity.mails, user.recipient(), Notice::PasskeyAdded);
    mails.send_notice(&mut tx, to, notice, context).await?;
    Ok(tx.commit().await?)
}

fn user_of(session: &Session) -> EnrollingUser<'_> {
    EnrollingUser {
        id: session.user.id,
        epoch: session.authority().epoch,
        email: &session.user.email,
    }
}
