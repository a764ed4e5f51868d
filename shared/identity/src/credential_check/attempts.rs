//! The attempts to verify credentials, under the failure counters of the lockout.

use super::{Error, VerifiedFactors};
use crate::lockout::{self, AttemptCounters};
use crate::passwords;
use crate::services::Identity;
use crate::users::StoredCredentials;
use audit::events::{Event, EventName};
use foundation::context::RequestContext;
use foundation::time_limits;
use std::time::{Duration, Instant};
use storage::expiring::AttemptDecision;

/// The longest time that an attempt waits for the outcome of concurrent attempts under the same counters. The
/// factor of [`time_limits`] multiplies it.
const MAX_WAIT: Duration = Duration::from_secs(2);
/// The interval at which a waiting attempt tries to reserve again.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Reserves an attempt on the account with this key (see [`Email::key`](foundation::email::Email::key)).
/// `stored` is `None` if there is no such account. Waits while concurrent attempts would reach a limit if
/// they all failed. Fails with [`Error::Locked`] if too many attempts failed before, and with
/// [`passwords::Error::Overloaded`] after [`MAX_WAIT`].
pub(crate) async fn reserve_attempt(
    identity: &Identity,
    account_key: &str,
    stored: Option<&StoredCredentials>,
    context: &RequestContext,
) -> Result<AttemptCounters, Error> {
    let unlocked_at = stored.and_then(|stored| stored.unlocked_at);
    let mut counters = AttemptCounters::new(identity.throttles, account_key, unlocked_at, context.address);
    let started = Instant::now();
    loop {
        match counters.reserve(&identity.expiring, context.now).await? {
            AttemptDecision::Begun => return Ok(counters),
            AttemptDecision::Refused { until, .. } => {
                let retry_after = until.since(context.now);
                return Err(Error::Locked { retry_after });
            }
            AttemptDecision::Busy if started.elapsed() > time_limits::multiplied(MAX_WAIT) => {
                return Err(passwords::Error::Overloaded.into());
            }
            AttemptDecision::Busy => tokio::time::sleep(POLL_INTERVAL).await,
        }
    }
}

/// Verifies `answer`, the captcha widget's answer, if a captcha is configured and earlier failures require
/// one. Fails with [`Error::CaptchaRequired`] if the answer is missing or wrong, and with
/// [`Error::CaptchaUnavailable`] if the service cannot be used. Both errors release the reserved attempt,
/// which then does not count.
pub(crate) async fn require_captcha(
    identity: &Identity,
    counters: &AttemptCounters,
    answer: Option<&str>,
    context: &RequestContext,
) -> Result<(), Error> {
    let Some(captcha) = identity.captcha.as_ref().filter(|_| counters.needs_captcha()) else {
        return Ok(());
    };
    let verification = captcha.verify(answer.unwrap_or_default(), context.address);
    let error = match verification.await {
        Ok(true) => return Ok(()),
        Ok(false) => Error::CaptchaRequired,
        Err(error) => error.into(),
    };
    counters.release(&identity.expiring, context.now).await?;
    Err(error)
}

/// Records the outcome of a reserved attempt, and returns the error of `outcome`, if it is one. A wrong
/// password or code counts as a failure and delays the return; every other error releases the attempt.
pub(super) async fn record_outcome(
    identity: &Identity,
    counters: &AttemptCounters,
    outcome: Result<VerifiedFactors, Error>,
    user_id: Option<i64>,
    context: &RequestContext,
) -> Result<(), Error> {
    let now = context.now;
    match outcome {
        Ok(VerifiedFactors::All) => Ok(counters.record_success(&identity.expiring, now).await?),
        Ok(VerifiedFactors::One) => Ok(counters.release(&identity.expiring, now).await?),
        Err(error @ (Error::WrongCredentials | Error::WrongCode)) => {
            let failures = counters.record_failure(&identity.expiring, now).await?;
            record_failure_events(identity, counters, failures, user_id, context).await;
            tokio::time::sleep(lockout::failure_delay(failures)).await;
            Err(error)
        }
        Err(error) => {
            counters.release(&identity.expiring, now).await?;
            Err(error)
        }
    }
}

/// Records the event of a failed sign-in, and the event of a lockout if `failures` reaches its limit.
async fn record_failure_events(
    identity: &Identity,
    counters: &AttemptCounters,
    failures: usize,
    user_id: Option<i64>,
    context: &RequestContext,
) {
    let failed = Event::failure(EventName::LoginFail).user(user_id);
    let account = counters.account();
    identity.events.record(failed, account, context).await;
    if failures >= lockout::LOCKOUT_WINDOW.limit {
        let locked = Event::failure(EventName::LoginLock).user(user_id);
        identity.events.record(locked, account, context).await;
    }
}
