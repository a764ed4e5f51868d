//! The check of one-time codes and recovery codes under the account's limit of wrong ones.

use super::{Error, VerifiedFactors};
use crate::second_factor::Otp;
use crate::services::Identity;
use crate::users::StoredCredentials;
use crate::{lockout, passwords, recovery_codes, totp};
use audit::events::{Event, EventName, report_loss};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use mail::Notice;
use storage::db;
use storage::expiring::AttemptDecision;

/// Verifies the code of an account whose password was verified, and marks it as used. Fails with
/// [`Error::WrongCode`] if it is wrong or was used before, and with [`Error::Locked`] if the account reached
/// the limit of wrong codes.
pub(super) async fn check_code(
    identity: &Identity,
    stored: &StoredCredentials,
    otp: &Otp,
    context: &RequestContext,
) -> Result<VerifiedFactors, Error> {
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
    let consumed = consume(identity, stored, otp, context).await;
    if let Ok(false) = consumed {
        let failures = store.attempt_failed(&counts, now).await?;
        if failures.first() == Some(&limit) {
            let announced = announce_code_lock(identity, stored, context).await;
            report_loss(EventName::MfaLock, announced);
        }
        return Err(Error::WrongCode);
    }
    store.attempt_canceled(&counts, now).await?;
    consumed.map(|_| VerifiedFactors::All)
}

/// Marks a valid code as used. Returns whether it was valid and unused. If it is a recovery code, records an
/// event and mails the user a notice.
async fn consume(
    identity: &Identity,
    user: &StoredCredentials,
    otp: &Otp,
    context: &RequestContext,
) -> Result<bool, Error> {
    // A TOTP code has six digits and a recovery code 16, so no text is both.
    match recovery_codes::Code::parse(otp.expose()) {
        Some(code) => Ok(consume_recovery_code(identity, user, &code, context).await?),
        None => consume_totp_code(identity, user.id, otp, context.now).await,
    }
}

async fn consume_totp_code(
    identity: &Identity,
    user_id: i64,
    otp: &Otp,
    now: Timestamp,
) -> Result<bool, Error> {
    let (db, key) = (&identity.db, &identity.account_key);
    let Some(sealed) = totp::find_confirmed(db, user_id).await? else {
        return Ok(false);
    };
    match totp::matching_step(key, user_id, &sealed, otp.expose(), now)? {
        Some(step) => Ok(totp::claim_step(db, user_id, &sealed, step).await?),
        None => Ok(false),
    }
}

async fn consume_recovery_code(
    identity: &Identity,
    user: &StoredCredentials,
    code: &recovery_codes::Code,
    context: &RequestContext,
) -> Result<bool, db::Error> {
    let (key, now) = (&identity.account_key, context.now);
    let mut tx = identity.db.begin().await?;
    let Some(left) = recovery_codes::claim(&mut tx, key, user.id, code, now).await? else {
        return Ok(false);
    };
    let event = Event::success(EventName::RecoveryCodeUsed).user(user.id);
    let event = event.detail(format!("{left} left"));
    event.record(&mut tx, context).await?;
    let (mails, to, notice) = (&identity.mails, user.recipient(), Notice::RecoveryCodeUsed(left));
    mails.send_notice(&mut tx, to, notice, context).await?;
    tx.commit().await?;
    Ok(true)
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
