//! Signing in and out, for the issuer's pages and for the API.

use crate::authentication_methods::AuthenticationMethods;
pub use crate::credential_check::Error;
use crate::credential_check::{self, PresentedCredentials, RequiredFactors};
use crate::end_reason::EndReason;
use crate::first_step::FirstStep;
use crate::passwords::Password;
use crate::refresh_families::{self, Selection};
use crate::second_factor::Otp;
use crate::services::{Identity, SessionLifetimes};
use crate::sessions::{self, Session};
use crate::users::{self, StoredCredentials, User};
use audit::events::{Event, EventName};
use foundation::context::RequestContext;
use foundation::email::Email;
use foundation::secret::Secret;
use revocation::RevokingTx;
use storage::db::{self, Tx};

/// The result of a successful sign-in.
#[derive(Debug)]
pub struct NewSession {
    /// The user who signed in.
    pub user: User,
    /// The new `sid` of the session, for the cookie.
    pub sid: Secret,
}

/// Signs in with e-mail, password and, if the account requires it, a one-time code. `email` is as typed: a
/// malformed address is treated like one without an account. `captcha` is the captcha widget's answer, if the
/// client sent one. `former` is the `sid` of the browser's previous session. One of the same user goes on
/// under a new `sid`; one of another user ends together with the refresh families of first-party clients that
/// were created in it. Fails if the attempt is locked out, requires a captcha, or presents wrong or
/// incomplete credentials. If only the code is missing, it may follow by [`complete_login`].
pub async fn login(
    identity: &Identity,
    email: &str,
    captcha: Option<&str>,
    presented: PresentedCredentials,
    former: Option<&Secret>,
    context: &RequestContext,
) -> Result<NewSession, Error> {
    let verified = authenticate(identity, email, captcha, presented, context).await?;
    begin_session_of(identity, &verified, former, context).await
}

/// Completes a sign-in with the code that follows its first step. `former` is as for [`login`]. Fails if the
/// attempt is locked out, if the code is wrong or was used before, and with [`Error::WrongCredentials`] if
/// the credentials have changed since the first step.
pub async fn complete_login(
    identity: &Identity,
    first: &FirstStep,
    otp: &Otp,
    former: Option<&Secret>,
    context: &RequestContext,
) -> Result<NewSession, Error> {
    let verified = credential_check::verify_second_step(identity, first, otp, context).await?;
    begin_session_of(identity, &verified, former, context).await
}

/// Starts or renews the session of a user with these verified credentials, as [`login`] does.
async fn begin_session_of(
    identity: &Identity,
    verified: &StoredCredentials,
    former: Option<&Secret>,
    context: &RequestContext,
) -> Result<NewSession, Error> {
    let mut tx = identity.db.begin().await?;
    let user = users::lock(&mut tx, verified).await?;
    let user = user.ok_or(Error::WrongCredentials)?;
    let methods = match verified.mfa {
        true => AuthenticationMethods::PasswordAndCode,
        false => AuthenticationMethods::Password,
    };
    Ok(begin_session(identity, tx, user, methods, former, context).await?)
}

/// Starts or renews the session of a user whose identity is proven, in a transaction that this function
/// commits. `former` is the `sid` of the browser's previous session, which goes on or ends as in [`login`].
pub(crate) async fn begin_session(
    identity: &Identity,
    tx: Tx,
    user: User,
    methods: AuthenticationMethods,
    former: Option<&Secret>,
    context: &RequestContext,
) -> Result<NewSession, db::Error> {
    let mut tx = RevokingTx::new(tx, &identity.revocations);
    let lifetimes = identity.session_lifetimes;
    let renewed = match former {
        Some(former) => sessions::renew(&mut tx, former, user.id, methods, lifetimes, context).await?,
        None => None,
    };
    // Either way the `sid` is new, which prevents session fixation.
    let sid = match renewed {
        Some(sid) => sid,
        None => replace_session(&mut tx, user.id, methods, former, lifetimes, context).await?,
    };
    let mut event = Event::success(EventName::LoginSuccess).user(user.id);
    if methods == AuthenticationMethods::Passkey {
        event = event.detail("passkey");
    }
    event.record(&mut tx, context).await?;
    tx.commit().await?;
    Ok(NewSession { user, sid })
}

/// Starts a session of the user, in the place of the session with the `sid` `former`. Returns the new `sid`.
async fn replace_session(
    tx: &mut RevokingTx,
    user_id: i64,
    methods: AuthenticationMethods,
    former: Option<&Secret>,
    lifetimes: SessionLifetimes,
    context: &RequestContext,
) -> Result<Secret, db::Error> {
    let ended = match former {
        Some(former) => sessions::end_by_sid(tx, former, context.now).await?,
        None => None,
    };
    if let Some(id) = ended {
        let selection = Selection::OfSession(id);
        refresh_families::revoke(tx, selection, EndReason::SignedOut, context).await?;
    }
    sessions::start(tx, user_id, methods, lifetimes, context).await
}

/// Verifies the captcha, if one is required, and the credentials of a sign-in. Returns the stored credentials
/// that they matched. If the hash of the right password is outdated, stores a new one.
async fn authenticate(
    identity: &Identity,
    typed_email: &str,
    captcha: Option<&str>,
    presented: PresentedCredentials,
    context: &RequestContext,
) -> Result<StoredCredentials, Error> {
    let email = Email::parse(typed_email).ok();
    let stored = match &email {
        Some(email) => users::credentials(&identity.db, email).await?,
        None => None,
    };
    let account_key = email.as_ref().map_or(typed_email, Email::key);
    let user = stored.as_ref();
    let counters = credential_check::reserve_attempt(identity, account_key, user, context).await?;
    credential_check::require_captcha(identity, &counters, captcha, context).await?;
    let required = RequiredFactors::All;
    let checked = credential_check::verify(identity, &counters, &presented, required, user, context).await;
    let stored = stored.ok_or(Error::WrongCredentials);
    if let (Ok(()) | Err(Error::CodeMissing(_)), Ok(stored)) = (&checked, &stored) {
        renew_hash(identity, presented.password, stored).await;
    }
    checked?;
    stored
}

/// Stores a new hash of a right password if the present one is outdated. If this fails, the next sign-in
/// tries again.
async fn renew_hash(identity: &Identity, password: Password, verified: &StoredCredentials) {
    let Some(stored) = &verified.password_hash else {
        return;
    };
    let Some(hash) = identity.passwords.rehash_if_outdated(password, stored).await else {
        return;
    };
    if let Err(error) = users::update_hash(&identity.db, verified, &hash).await {
        tracing::warn!(%error, "the new hash of a password was not stored");
    }
}

/// Ends a session, and revokes the refresh families of first-party clients that were created in it.
pub async fn logout(identity: &Identity, session: &Session, context: &RequestContext) -> Result<(), Error> {
    let mut tx = RevokingTx::begin(&identity.db, &identity.revocations).await?;
    sessions::end(&mut tx, session.id, context.now).await?;
    let selection = Selection::OfSession(session.id);
    refresh_families::revoke(&mut tx, selection, EndReason::SignedOut, context).await?;
    let event = Event::success(EventName::Logout).user(session.user.id);
    event.record(&mut tx, context).await?;
    Ok(tx.commit().await?)
}
