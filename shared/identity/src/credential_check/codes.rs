//! The check of one-time codes under the account's limit of wrong ones.

use super::{Error, VerifiedFactors};
use crate::second_factor::{self, Otp};
use crate::services::Identity;
use crate::users::StoredCredentials;
use crate::{lockout, passwords};
use audit::events::{Event, EventName, report_loss};
use foundation::context::RequestContext;
use mail::Notice;
use storage::db;
use storage::expiring::AttemptDecision;

/// Verifies the code of an account whose password was verified. Fails with [`Error::WrongCode`] if it is
/// wrong.
pub(super) async fn check_code(
    identity: &Identity,
    stored: &StoredCredentials,
    otp: &Otp,
    context: &RequestContext,
) -> Result<VerifiedFactors, Error> {
    match verify_code(identity, stored, otp, context).await? {
        true => Ok(VerifiedFactors::All),
        false => Err(Error::WrongCode),
    }
}

/// Verifies a code under the account's limit of wrong codes, and returns whether it was right. Fails with
/// [`Error::Locked`] if the account reached the limit.
async fn verify_code(
    identity: &Identity,
    stored: &StoredCredentials,
    otp: &Otp,
    context: &RequestContext,
) -> Result<bool, Error> {
    let (store, now) = (&identity.expiring, context.now);
    let count = lockout::count_of_codes(stored);
    let limit = count.window.limit;
    let counts = [count];
    match store.begin_attempt(&counts, now).await?.0 {
        AttemptDecision::Begun => {}
        AttemptDecision::Refused { until, .. } => {
            let retry_after = until.since(now);
            return Err(Error::Locked { retry_after });
        }
        AttemptDecision::Busy => return Err(passwords::Error::Overloaded.into()),
    }
    let is_right = second_factor::consume(identity, stored, otp, context).await;
    if let Ok(false) = is_right {
        let failures = store.attempt_failed(&counts, now).await?;
        if failures.first() == Some(&limit) {
            let announced = announce_code_lock(identity, stored, context).await;
            report_loss(EventName::MfaLock, announced);
        }
    } else {
        store.attempt_canceled(&counts, now).await?;
    }
    Ok(is_right?)
}

/// Records that wrong codes locked an account, which raises an alert, and mails the user a notice.
async fn announce_code_lock(
    identity: &Identity,
    stored: &StoredCredentials,
    context: &RequestContext,
) -> Result<(), db::Error> {
    let mut tx = identity.db.begin().await?;
    let event = Event::failure(EventName::MfaLock).user(stored.id);
    event.record(&mut tx, context).await?;
    let (mails, to, notice) = (&identity.mails, stored.recipient(), Notice::CodesLocked);
    mails.send_notice(&mut tx, to, notice, context).await?;
    tx.commit().await
}
