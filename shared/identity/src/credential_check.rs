//! Showing who one is: an attempt is claimed, looked at, and counted by how it ended.

use crate::Identity;
use crate::captcha;
use crate::lockout;
use crate::lockout::Counts;
use crate::passwords;
use crate::passwords::Password;
use crate::second_factor::{self, Otp};
use crate::users;
use crate::users::User;
use audit::events::{Event, EventName};
use foundation::context::RequestContext;
use foundation::email::Email;
use foundation::sealing::UnsealError;
use std::time::{Duration, Instant};
use storage::db;
use storage::expiring::Attempt;
use storage::redis;
use utoipa::ToSchema;

/// How long an attempt waits for those under way to be decided.
const PATIENCE: Duration = Duration::from_secs(2);

/// Why someone was not signed in, or a password not changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Unknown e-mail or wrong password; which, nobody is told.
    #[error("the e-mail or the password is wrong")]
    Wrong,
    /// The password is right, and a one-time code is asked for too.
    #[error("a one-time code is asked for, or a recovery code")]
    CodeMissing,
    /// The password is right; the code is not, or was used before.
    #[error("the one-time code is wrong or was used already")]
    WrongCode,
    /// Too many failures; no password was looked at.
    #[error("too many failed attempts; try again in {}", foundation::duration::in_words(*.retry_after))]
    Locked {
        /// When trying again makes sense.
        retry_after: Duration,
    },
    /// So much failed that the captcha is asked for, and it was not solved; no password was looked at.
    #[error("the captcha is to be solved")]
    Captcha,
    /// Whether it was solved cannot be told, so it was not.
    #[error(transparent)]
    Unverified(#[from] captcha::Unavailable),
    /// No hash was computed.
    #[error(transparent)]
    Passwords(#[from] passwords::Error),
    /// Failures cannot be counted, so none may be made.
    #[error(transparent)]
    Uncounted(#[from] redis::Unavailable),
    /// A seed was sealed under another key than this service has.
    #[error(transparent)]
    Seed(#[from] UnsealError),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

impl From<second_factor::Error> for Error {
    fn from(error: second_factor::Error) -> Self {
        match error {
            second_factor::Error::Seed(error) => Self::Seed(error),
            second_factor::Error::Database(error) => Self::Database(error),
        }
    }
}

/// What somebody shows to be who they say they are.
#[derive(Clone, Debug, ToSchema)]
#[schema(example = json!({"password": "correct horse", "otp": "123456"}))]
pub struct PresentedCredentials {
    /// The account's.
    pub password: Password,
    /// Where sign-in asks for one.
    #[schema(nullable = false)]
    pub otp: Option<Otp>,
}

/// Which of it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequiredFactors {
    /// The password alone.
    Password,
    /// A code too, where sign-in asks for one.
    All,
}

/// What was shown by an attempt that succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VerifiedFactors {
    /// All that the account has: failures are forgotten.
    All,
    /// The password or the code: failures stay, so that neither is guessed by whoever has the other.
    Some,
}

/// Makes sure once more that a user is there: by the password, and a code where they have one.
pub(crate) async fn reauthenticate(
    identity: &Identity,
    user: &User,
    proof: &PresentedCredentials,
    asked: RequiredFactors,
    context: &RequestContext,
) -> Result<users::StoredCredentials, Error> {
    let email = Email::parse(&user.email).map_err(|_| Error::Wrong)?;
    let stored = users::credentials_by_id(&identity.db, user.id).await?;
    let counts = begin(identity, email.key(), stored.as_ref(), context).await?;
    check(identity, &counts, proof, asked, stored.as_ref(), context).await?;
    stored.ok_or(Error::Wrong)
}

/// Something of a signed-in user's that could be guessed, counted with their sign-ins.
pub(crate) async fn attempt<T>(
    identity: &Identity,
    user: &User,
    context: &RequestContext,
    work: impl Future<Output = Result<(T, VerifiedFactors), Error>>,
) -> Result<T, Error> {
    let email = Email::parse(&user.email).map_err(|_| Error::Wrong)?;
    let stored = users::credentials_by_id(&identity.db, user.id).await?;
    let counts = begin(identity, email.key(), stored.as_ref(), context).await?;
    let (done, shown) = match work.await {
        Ok((done, shown)) => (Some(done), Ok(shown)),
        Err(error) => (None, Err(error)),
    };
    settle(identity, &counts, shown, Some(user.id), context).await?;
    done.ok_or(Error::WrongCode)
}

/// Claims an attempt under a name.
pub(crate) async fn begin(
    identity: &Identity,
    name: &str,
    stored: Option<&users::StoredCredentials>,
    context: &RequestContext,
) -> Result<Counts, Error> {
    let unlocked_at = stored.and_then(|stored| stored.unlocked_at);
    let mut counts = Counts::new(identity.throttles, name, unlocked_at, context.address);
    let began = Instant::now();
    loop {
        match counts.begin(&identity.expiring, context.now).await? {
            Attempt::Begun => return Ok(counts),
            Attempt::Refused { until, .. } => {
                let retry_after = until.since(context.now);
                return Err(Error::Locked { retry_after });
            }
            Attempt::Busy if began.elapsed() > PATIENCE => return Err(passwords::Error::Overloaded.into()),
            Attempt::Busy => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

/// Asks for the captcha where so much failed already; an attempt without it does not count, and tries nothing.
pub(crate) async fn require_captcha(
    identity: &Identity,
    counts: &Counts,
    answer: Option<&str>,
    context: &RequestContext,
) -> Result<(), Error> {
    let Some(captcha) = identity.captcha.as_ref().filter(|_| counts.are_suspicious()) else {
        return Ok(());
    };
    let verdict = captcha.verify(answer.unwrap_or_default(), context.address);
    let error = match verdict.await {
        Ok(true) => return Ok(()),
        Ok(false) => Error::Captcha,
        Err(error) => error.into(),
    };
    counts.void(&identity.expiring, context.now).await?;
    Err(error)
}

/// Verifies what a claimed attempt shows, and counts how it ended.
pub(crate) async fn check(
    identity: &Identity,
    counts: &Counts,
    proof: &PresentedCredentials,
    asked: RequiredFactors,
    stored: Option<&users::StoredCredentials>,
    context: &RequestContext,
) -> Result<(), Error> {
    let hash = stored.map(|stored| stored.password_hash.clone());
    let verified = identity.passwords.verify(proof.password.clone(), hash).await;
    let shown = match (verified, stored) {
        (Ok(true), Some(stored)) if stored.mfa => second_step(identity, stored, proof, asked, context).await,
        (Ok(true), _) => Ok(VerifiedFactors::All),
        (Ok(false), _) => Err(Error::Wrong),
        (Err(error), _) => Err(error.into()),
    };
    settle(identity, counts, shown, stored.map(|stored| stored.id), context).await
}

/// What the password is not enough for.
async fn second_step(
    identity: &Identity,
    stored: &users::StoredCredentials,
    proof: &PresentedCredentials,
    asked: RequiredFactors,
    context: &RequestContext,
) -> Result<VerifiedFactors, Error> {
    match &proof.otp {
        _ if asked == RequiredFactors::Password => Ok(VerifiedFactors::Some),
        None => Err(Error::CodeMissing),
        Some(otp) => match second_factor::accept(identity, stored.id, &stored.email, otp, context).await? {
            true => Ok(VerifiedFactors::All),
            false => Err(Error::WrongCode),
        },
    }
}

/// Counts how a claimed attempt ended: what is wrong is a failure, and what was not decided does not count.
async fn settle(
    identity: &Identity,
    counts: &Counts,
    shown: Result<VerifiedFactors, Error>,
    user_id: Option<i64>,
    context: &RequestContext,
) -> Result<(), Error> {
    let now = context.now;
    match shown {
        Ok(VerifiedFactors::All) => Ok(counts.succeeded(&identity.expiring, now).await?),
        Ok(VerifiedFactors::Some) => Ok(counts.void(&identity.expiring, now).await?),
        Err(error @ (Error::Wrong | Error::WrongCode)) => {
            let failures = counts.failed(&identity.expiring, now).await?;
            record_failure(identity, failures, user_id, context).await?;
            tokio::time::sleep(lockout::delay(failures)).await;
            Err(error)
        }
        Err(error) => {
            counts.void(&identity.expiring, now).await?;
            Err(error)
        }
    }
}

async fn record_failure(
    identity: &Identity,
    failures: usize,
    user_id: Option<i64>,
    context: &RequestContext,
) -> Result<(), db::Error> {
    let mut tx = identity.db.begin().await?;
    let failed = Event::failure(EventName::LoginFail).user(user_id);
    failed.record(&mut tx, context).await?;
    if failures >= lockout::WINDOW.limit {
        let locked = Event::failure(EventName::LoginLock).user(user_id);
        locked.record(&mut tx, context).await?;
    }
    tx.commit().await
}
