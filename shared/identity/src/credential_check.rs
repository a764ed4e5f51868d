//! The check of credentials: it reserves an attempt under the failure counters, verifies the presented
//! credentials, and records the outcome.

mod attempts;
mod codes;

pub(crate) use attempts::{require_captcha, reserve_attempt};

use crate::captcha;
use crate::first_step::FirstStep;
use crate::lockout::AttemptCounters;
use crate::passwords::{self, Password};
use crate::second_factor::Otp;
use crate::services::Identity;
use crate::sessions::{self, Session};
use crate::users::{self, StoredCredentials, User};
use attempts::record_outcome;
use codes::check_code;
use foundation::context::RequestContext;
use foundation::email::Email;
use foundation::sealing::UnsealError;
use std::time::Duration;
use storage::db::{self, Tx};
use storage::redis;
use utoipa::ToSchema;

/// The reason why credentials were not verified.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The e-mail is unknown or the password is wrong. One error covers both, so that it does not reveal
    /// which addresses have accounts.
    #[error("the e-mail or the password is wrong")]
    WrongCredentials,
    /// The password is right, but the account requires a one-time code too. At a sign-in it may follow this
    /// first step.
    #[error("a one-time code or a recovery code is required")]
    CodeMissing(FirstStep),
    /// The signed-in user who presents a password has none. A sign-in fails with [`Error::WrongCredentials`]
    /// instead.
    #[error("the account has no password")]
    NoPassword,
    /// The code is wrong or was used before. The password, if the operation requires it, is right.
    #[error("the one-time code is wrong or was used already")]
    WrongCode,
    /// Too many attempts failed. The password was not verified.
    #[error("too many failed attempts; try again in {}", foundation::duration::in_words(*.retry_after))]
    Locked {
        /// The time until another attempt is allowed.
        retry_after: Duration,
    },
    /// So many attempts failed that a captcha is required, and none was solved. The password was not
    /// verified.
    #[error("a captcha is required")]
    CaptchaRequired,
    /// The captcha service cannot be used. The password was not verified.
    #[error(transparent)]
    CaptchaUnavailable(#[from] captcha::Unavailable),
    /// The session of the caller ended while the credentials were verified.
    #[error("the session of the caller has ended")]
    SignedOut,
    /// The user presented no credentials, and the sign-in of the session is over ten minutes old.
    #[error("the last sign-in is over ten minutes old")]
    SignInTooOld,
    /// The password could not be hashed, or too many hashes are being computed.
    #[error(transparent)]
    Passwords(#[from] passwords::Error),
    /// The store that counts attempts is unavailable. No credentials are verified without it.
    #[error(transparent)]
    StoreUnavailable(#[from] redis::Unavailable),
    /// The TOTP seed was sealed under another account key.
    #[error(transparent)]
    Seed(#[from] UnsealError),
    /// A database error.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// The credentials that a client presents to authenticate a user.
#[derive(Clone, Debug, ToSchema)]
#[schema(example = json!({"password": "correct horse", "otp": "123456"}))]
pub struct PresentedCredentials {
    /// The password of the account.
    pub password: Password,
    /// A one-time code or a recovery code, if two-step sign-in is on.
    #[schema(nullable = false)]
    pub otp: Option<Otp>,
}

/// The factors that an operation requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequiredFactors {
    /// The password.
    Password,
    /// The password and, if two-step sign-in is on, a code.
    All,
}

/// The factors that a successful attempt verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VerifiedFactors {
    /// All factors of the account. The success clears the lockout's count of failures.
    All,
    /// One of the two factors of the account. Earlier failures still count, so that somebody who knows one
    /// factor cannot guess the other without limit.
    One,
}

/// Verifies the credentials that somebody presents for the account of `user`, and returns the `stored` ones
/// if they match. There are none if the account is disabled. Fails like [`reserve_attempt`] and [`verify`].
pub(crate) async fn verify_for(
    identity: &Identity,
    user: &User,
    stored: Option<StoredCredentials>,
    presented: &PresentedCredentials,
    required: RequiredFactors,
    context: &RequestContext,
) -> Result<StoredCredentials, Error> {
    let email = Email::parse(&user.email).map_err(|_| Error::WrongCredentials)?;
    let counters = reserve_attempt(identity, email.key(), stored.as_ref(), context).await?;
    verify(identity, &counters, presented, required, stored.as_ref(), context).await?;
    stored.ok_or(Error::WrongCredentials)
}

/// Returns the stored credentials of the session's user, after verifying those that the user presents. `None`
/// presents the sign-in of the session, which counts for ten minutes and for all factors, because a sign-in
/// requires them all. Fails like [`verify_for`], with [`Error::NoPassword`], with [`Error::SignInTooOld`],
/// and with [`Error::SignedOut`] if the sessions of the user have ended meanwhile.
pub(crate) async fn prove(
    identity: &Identity,
    session: &Session,
    presented: Option<&PresentedCredentials>,
    required: RequiredFactors,
    context: &RequestContext,
) -> Result<StoredCredentials, Error> {
    if presented.is_none() && !session.has_recent_sign_in(context.now) {
        return Err(Error::SignInTooOld);
    }
    let (user, epoch) = (&session.user, session.authority().epoch);
    let stored = users::credentials_by_id(&identity.db, user.id).await?;
    match (presented, stored) {
        (None, stored) => stored
            .filter(|stored| stored.epoch == epoch)
            .ok_or(Error::SignedOut),
        (Some(_), Some(stored)) if stored.password_hash.is_none() => Err(Error::NoPassword),
        (Some(presented), stored) => verify_for(identity, user, stored, presented, required, context).await,
    }
}

/// Locks the row of the caller's session until the transaction ends. Fails with [`Error::SignedOut`] if the
/// session has ended or was renewed: the user may have ended it because somebody else was using it.
pub(crate) async fn hold_session(
    tx: &mut Tx,
    session: &Session,
    context: &RequestContext,
) -> Result<(), Error> {
    let is_live = sessions::lock(tx, session.id, session.signed_in_at, context.now).await?;
    is_live.then_some(()).ok_or(Error::SignedOut)
}

/// Runs `verification`, of one factor, under the failure counters of the user's sign-ins, so that a secret
/// cannot be guessed without limit. Returns the value of `verification`. Fails like [`reserve_attempt`], or
/// with the error of `verification`.
pub(crate) async fn count_attempt<T>(
    identity: &Identity,
    user: &User,
    context: &RequestContext,
    verification: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let email = Email::parse(&user.email).map_err(|_| Error::WrongCredentials)?;
    let stored = users::credentials_by_id(&identity.db, user.id).await?;
    let counters = reserve_attempt(identity, email.key(), stored.as_ref(), context).await?;
    let (value, outcome) = match verification.await {
        Ok(value) => (Some(value), Ok(VerifiedFactors::One)),
        Err(error) => (None, Err(error)),
    };
    record_outcome(identity, &counters, outcome, Some(user.id), context).await?;
    // `record_outcome` fails with the error of `verification`, so there is a value here.
    value.ok_or(Error::WrongCode)
}

/// Verifies the credentials that are presented in a reserved attempt, and records the attempt's outcome.
/// `stored` is `None` if there is no such account; the password is hashed nevertheless. Fails with
/// [`Error::WrongCredentials`], [`Error::CodeMissing`] or [`Error::WrongCode`] if the credentials do not
/// match.
pub(crate) async fn verify(
    identity: &Identity,
    counters: &AttemptCounters,
    presented: &PresentedCredentials,
    required: RequiredFactors,
    stored: Option<&StoredCredentials>,
    context: &RequestContext,
) -> Result<(), Error> {
    let outcome = match (matches_password(identity, presented, stored).await, stored) {
        (Ok(true), Some(stored)) if stored.mfa => {
            verify_second_factor(identity, stored, presented, required, context).await
        }
        (Ok(true), _) => Ok(VerifiedFactors::All),
        (Ok(false), _) => Err(Error::WrongCredentials),
        (Err(error), _) => Err(error),
    };
    let user_id = stored.map(|stored| stored.id);
    record_outcome(identity, counters, outcome, user_id, context).await
}

/// Returns whether the presented password is that of the account. Takes the same time if there is no account,
/// or if it has no password.
async fn matches_password(
    identity: &Identity,
    presented: &PresentedCredentials,
    stored: Option<&StoredCredentials>,
) -> Result<bool, Error> {
    let imported_cost = users::highest_imported_cost(&identity.db).await?;
    let hash = stored.and_then(|stored| stored.password_hash.clone());
    let verification = identity
        .passwords
        .verify(presented.password.clone(), hash, imported_cost);
    Ok(verification.await?)
}

/// Verifies the code, if the operation requires one. The account has two-step sign-in, and its password was
/// verified.
async fn verify_second_factor(
    identity: &Identity,
    stored: &StoredCredentials,
    presented: &PresentedCredentials,
    required: RequiredFactors,
    context: &RequestContext,
) -> Result<VerifiedFactors, Error> {
    match &presented.otp {
        _ if required == RequiredFactors::Password => Ok(VerifiedFactors::One),
        None => Err(Error::CodeMissing(FirstStep::new(stored, context.now))),
        Some(otp) => check_code(identity, stored, otp, context).await,
    }
}

/// Verifies the code that follows a first step, and returns the stored credentials that both matched. Fails
/// like [`reserve_attempt`], with [`Error::WrongCode`], and with [`Error::WrongCredentials`] if the
/// credentials have changed since the first step.
pub(crate) async fn verify_second_step(
    identity: &Identity,
    first: &FirstStep,
    otp: &Otp,
    context: &RequestContext,
) -> Result<StoredCredentials, Error> {
    let stored = users::credentials_by_id(&identity.db, first.user_id).await?;
    let stored = stored.filter(|stored| stored.epoch == first.epoch && stored.mfa);
    let stored = stored.ok_or(Error::WrongCredentials)?;
    let email = Email::parse(&stored.email).map_err(|_| Error::WrongCredentials)?;
    let counters = reserve_attempt(identity, email.key(), Some(&stored), context).await?;
    let outcome = check_code(identity, &stored, otp, context).await;
    record_outcome(identity, &counters, outcome, Some(stored.id), context).await?;
    Ok(stored)
}
