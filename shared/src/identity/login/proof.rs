//! Showing who one is: an attempt is claimed, looked at, and counted by how it ended.

use super::Error;
use crate::db;
use crate::ephemeral::Attempt;
use crate::events::{Context, Event, Name};
use crate::identity::Identity;
use crate::identity::email::Email;
use crate::identity::lockout::{self, Counts};
use crate::identity::mfa::{self, Otp};
use crate::identity::passwords::{self, Password};
use crate::identity::users::{self, User};
use std::time::{Duration, Instant};
use utoipa::ToSchema;

/// How long an attempt waits for those under way to be decided.
const PATIENCE: Duration = Duration::from_secs(2);

/// What somebody shows to be who they say they are.
#[derive(Clone, Debug, ToSchema)]
#[schema(example = json!({"password": "correct horse", "otp": "123456"}))]
pub struct Proof {
    /// The account's.
    pub password: Password,
    /// Where sign-in asks for one.
    #[schema(nullable = false)]
    pub otp: Option<Otp>,
}

/// Which of it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::identity) enum Asked {
    /// The password alone.
    Password,
    /// A code too, where sign-in asks for one.
    Everything,
}

/// What was shown by an attempt that succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::identity) enum Shown {
    /// All that the account has: failures are forgotten.
    All,
    /// The password or the code: failures stay, so that neither is guessed by whoever has the other.
    Part,
}

/// Makes sure once more that a user is there: by the password, and a code where they have one.
pub(in crate::identity) async fn prove(
    identity: &Identity,
    user: &User,
    proof: &Proof,
    asked: Asked,
    context: &Context,
) -> Result<users::Credentials, Error> {
    let email = Email::parse(&user.email).map_err(|_| Error::Wrong)?;
    let stored = users::credentials_by_id(&identity.db, user.id).await?;
    let counts = begin(identity, email.key(), stored.as_ref(), context).await?;
    check(identity, &counts, proof, asked, stored.as_ref(), context).await?;
    stored.ok_or(Error::Wrong)
}

/// Something of a signed-in user's that could be guessed, counted with their sign-ins.
pub(in crate::identity) async fn attempt<T>(
    identity: &Identity,
    user: &User,
    context: &Context,
    work: impl Future<Output = Result<(T, Shown), Error>>,
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
pub(super) async fn begin(
    identity: &Identity,
    name: &str,
    stored: Option<&users::Credentials>,
    context: &Context,
) -> Result<Counts, Error> {
    let unlocked_at = stored.and_then(|stored| stored.unlocked_at);
    let mut counts = Counts::new(identity.throttles, name, unlocked_at, context.address);
    let began = Instant::now();
    loop {
        match counts.begin(identity, context.now).await? {
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
pub(super) async fn solve(
    identity: &Identity,
    counts: &Counts,
    answer: Option<&str>,
    context: &Context,
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
    counts.void(identity, context.now).await?;
    Err(error)
}

/// Verifies what a claimed attempt shows, and counts how it ended.
pub(super) async fn check(
    identity: &Identity,
    counts: &Counts,
    proof: &Proof,
    asked: Asked,
    stored: Option<&users::Credentials>,
    context: &Context,
) -> Result<(), Error> {
    let hash = stored.map(|stored| stored.password_hash.clone());
    let verified = identity.passwords.verify(proof.password.clone(), hash).await;
    let shown = match (verified, stored) {
        (Ok(true), Some(stored)) if stored.mfa => second_step(identity, stored, proof, asked, context).await,
        (Ok(true), _) => Ok(Shown::All),
        (Ok(false), _) => Err(Error::Wrong),
        (Err(error), _) => Err(error.into()),
    };
    settle(identity, counts, shown, stored.map(|stored| stored.id), context).await
}

/// What the password is not enough for.
async fn second_step(
    identity: &Identity,
    stored: &users::Credentials,
    proof: &Proof,
    asked: Asked,
    context: &Context,
) -> Result<Shown, Error> {
    match &proof.otp {
        _ if asked == Asked::Password => Ok(Shown::Part),
        None => Err(Error::CodeMissing),
        Some(otp) => match mfa::accept(identity, stored.id, &stored.email, otp, context).await? {
            true => Ok(Shown::All),
            false => Err(Error::WrongCode),
        },
    }
}

/// Counts how a claimed attempt ended: what is wrong is a failure, and what was not decided does not count.
async fn settle(
    identity: &Identity,
    counts: &Counts,
    shown: Result<Shown, Error>,
    user_id: Option<i64>,
    context: &Context,
) -> Result<(), Error> {
    let now = context.now;
    match shown {
        Ok(Shown::All) => Ok(counts.succeeded(identity, now).await?),
        Ok(Shown::Part) => Ok(counts.void(identity, now).await?),
        Err(error @ (Error::Wrong | Error::WrongCode)) => {
            let failures = counts.failed(identity, now).await?;
            record_failure(identity, failures, user_id, context).await?;
            tokio::time::sleep(lockout::delay(failures)).await;
            Err(error)
        }
        Err(error) => {
            counts.void(identity, now).await?;
            Err(error)
        }
    }
}

async fn record_failure(
    identity: &Identity,
    failures: usize,
    user_id: Option<i64>,
    context: &Context,
) -> Result<(), db::Error> {
    let mut tx = identity.db.begin().await?;
    let failed = Event::failure(Name::LoginFail).user(user_id);
    failed.record(&mut tx, context).await?;
    if failures >= lockout::WINDOW.limit {
        let locked = Event::failure(Name::LoginLock).user(user_id);
        locked.record(&mut tx, context).await?;
    }
    tx.commit().await
}
