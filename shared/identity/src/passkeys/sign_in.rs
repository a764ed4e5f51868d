//! Signing in with a passkey.

use super::assertion::Assertion;
use super::{Answer, Credential, Error, RelyingParty, Stored, claim, find};
use crate::authentication_methods::AuthenticationMethods;
use crate::login::{NewSession, begin_session};
use crate::services::Identity;
use crate::{credential_check, users};
use audit::events::{Event, EventName};
use foundation::context::RequestContext;
use foundation::secret::Secret;
use std::time::Duration;
use storage::expiring::Window;
use webauthn_rs::prelude::WebauthnError;

/// The limit of sign-ins with passkeys to an account.
const PER_ACCOUNT: Window = Window::throttle(60, Duration::from_secs(15 * 60));

/// Signs in with the passkey that answered a challenge of [`RelyingParty::begin_sign_in`]. `former` is the
/// `sid` of the browser's previous session, as for [`login`](crate::login::login). The authenticator has
/// verified the user, so that neither the password nor a code is required, and a lockout of the password does
/// not apply: a signature cannot be guessed. Fails with [`Error::Stale`] if the challenge has expired or was
/// answered before, with [`Error::Unknown`] or [`Error::Refused`] if the passkey does not sign in to an
/// enabled account, and with [`credential_check::Error::Locked`] for an account with too many such sign-ins.
pub async fn sign_in(
    identity: &Identity,
    party: &RelyingParty,
    answer: Answer<'_>,
    former: Option<&Secret>,
    context: &RequestContext,
) -> Result<NewSession, Error> {
    let (stored, signed_in) = match Assertion::read(&identity.account_key, answer, context.now) {
        Ok(assertion) => {
            let stored = find(&identity.db, assertion.credential.get_credential_id()).await?;
            let signed_in = accept(identity, party, assertion, stored.as_ref(), former, context).await;
            (stored, signed_in)
        }
        Err(error) => (None, Err(error)),
    };
    if let Err(error) = &signed_in {
        record_failure(identity, stored.as_ref(), error, context).await;
    }
    signed_in
}

async fn accept(
    identity: &Identity,
    party: &RelyingParty,
    assertion: Assertion,
    stored: Option<&Stored>,
    former: Option<&Secret>,
    context: &RequestContext,
) -> Result<NewSession, Error> {
    let stored = stored.ok_or(Error::Unknown)?;
    let challenged_at = assertion.state.challenged_at;
    let credential = verify(party, assertion, stored)?;
    require_room(identity, stored, context).await?;
    let mut tx = identity.db.begin().await?;
    let user = users::lock_in_epoch(&mut tx, stored.user_id, stored.epoch).await?;
    let user = user.ok_or(Error::Unknown)?;
    if !claim(&mut tx, stored, &credential, (challenged_at, context.now)).await? {
        return Err(Error::Stale);
    }
    let methods = AuthenticationMethods::Passkey;
    Ok(begin_session(identity, tx, user, methods, former, context).await?)
}

/// Fails with [`credential_check::Error::Locked`] if the account has had too many sign-ins with passkeys. A
/// program that holds a key signs in as fast as it likes, and each sign-in writes rows that are kept for a
/// year.
async fn require_room(identity: &Identity, stored: &Stored, context: &RequestContext) -> Result<(), Error> {
    let count = PER_ACCOUNT.count(format!("passkey sign-ins of {}", stored.user_id));
    let refusal = identity.expiring.take(&[count], context.now).await;
    match refusal.map_err(credential_check::Error::from)? {
        None => Ok(()),
        Some(retry_after) => Err(credential_check::Error::Locked { retry_after }.into()),
    }
}

/// Records that an answer signed nobody in. A counter that did not grow shows that the key was copied (Web
/// Authentication §6.1.1).
async fn record_failure(
    identity: &Identity,
    stored: Option<&Stored>,
    error: &Error,
    context: &RequestContext,
) {
    let detail = match error {
        Error::Credentials(_) | Error::Corrupt(_) => return,
        Error::Refused(WebauthnError::CredentialPossibleCompromise) => "passkey: its counter did not grow",
        Error::Stale => {
            "passkey: it answered this challenge or a later one before, or the challenge has expired"
        }
        _ => "passkey",
    };
    let (user_id, account) = match stored {
        Some(stored) => (Some(stored.user_id), stored.email_key.as_str()),
        None => (None, ""),
    };
    let event = Event::failure(EventName::LoginFail).user(user_id);
    let event = event.detail(detail);
    identity.events.record(event, account, context).await;
}

/// Verifies an assertion, and returns the credential with the counter and the backup state that the
/// authenticator sent.
fn verify(party: &RelyingParty, assertion: Assertion, stored: &Stored) -> Result<Credential, Error> {
    let mut credential: Credential = serde_json::from_str(&stored.credential)?;
    let result = party.verify(assertion, stored.user_id, &credential)?;
    credential.update_credential(&result);
    Ok(credential)
}
