//! The state transitions of a payment. Each is one conditional UPDATE, so that concurrent calls cannot
//! capture or refund an amount twice; the CHECK constraints of the table enforce the same limits.

use super::error::Error;
use super::fields::{Amount, Status};
use super::payment::{Payment, columns};
use super::store;
use foundation::clock::Timestamp;
use storage::db::WriteTarget;
use storage::{fetch_optional, sql};

sql! {
    CAPTURE = concat!(
        "UPDATE payments SET status = 'captured', amount_captured = COALESCE($3, amount), updated_at = $4
         WHERE public_id = $1 AND user_id = $2 AND status = 'created' AND COALESCE($3, amount) <= amount
         RETURNING ", columns!());
    CANCEL = concat!(
        "UPDATE payments SET status = 'canceled', updated_at = $3
         WHERE public_id = $1 AND user_id = $2 AND status = 'created' RETURNING ", columns!());
    REFUND = concat!(
        "UPDATE payments
         SET amount_refunded = amount_refunded + COALESCE($3, amount_captured - amount_refunded),
             status = CASE WHEN COALESCE($3, amount_captured - amount_refunded) = amount_captured - amount_refunded
                      THEN 'refunded' ELSE 'partially_refunded' END,
             updated_at = $4
         WHERE public_id = $1 AND user_id = $2 AND status IN ('captured', 'partially_refunded')
           AND amount_refunded + COALESCE($3, amount_captured - amount_refunded) <= amount_captured
         RETURNING ", columns!());
}

/// A change of a payment's state.
#[derive(Clone, Copy, Debug)]
pub enum Transition {
    /// Captures this amount, or the whole amount, once. The rest is released.
    Capture(Option<Amount>),
    /// Cancels a payment that is not captured.
    Cancel,
    /// Refunds this part of the captured amount, or all that is not refunded yet.
    Refund(Option<Amount>),
}

/// Applies the transition to the payment, which belongs to this user, and returns the payment in its new
/// state.
///
/// Fails with [`Error::Conflict`] if the state does not allow the transition, with [`Error::AmountTooLarge`]
/// if the amount exceeds what is available, and with [`Error::NotFound`] if the user has no such payment.
pub async fn apply(
    target: &mut WriteTarget<'_>,
    user_id: i64,
    payment: &Payment,
    transition: Transition,
    now: Timestamp,
) -> Result<Payment, Error> {
    let id = payment.id.as_str();
    let changed = match transition {
        Transition::Capture(amount) => change_amount(target, CAPTURE, (id, user_id), amount, now).await?,
        Transition::Refund(amount) => change_amount(target, REFUND, (id, user_id), amount, now).await?,
        Transition::Cancel => fetch_optional!(target.on(), Payment, CANCEL, id, user_id, now)?,
    };
    match changed {
        Some(payment) => Ok(payment),
        None => Err(transition_error(
            &store::find(target.on(), user_id, &payment.id).await?,
            transition,
        )),
    }
}

/// Runs the statement of a capture or a refund. Without an amount, the statement uses all that is available.
/// Returns the changed payment; `None` if the statement does not apply to it.
async fn change_amount(
    target: &mut WriteTarget<'_>,
    statement: &'static str,
    (id, user_id): (&str, i64),
    amount: Option<Amount>,
    now: Timestamp,
) -> Result<Option<Payment>, Error> {
    let (on, amount) = (target.on(), amount.map(Amount::get));
    Ok(fetch_optional!(on, Payment, statement, id, user_id, amount, now)?)
}

/// Returns the error for a transition that the payment does not allow in its current state.
fn transition_error(current: &Payment, transition: Transition) -> Error {
    let available = match (transition, current.status) {
        (Transition::Capture(_), Status::Created) => current.amount,
        (Transition::Refund(_), Status::Captured | Status::PartiallyRefunded) => {
            current.amount_captured - current.amount_refunded
        }
        (_, status) => return Error::Conflict(status),
    };
    Error::AmountTooLarge { available }
}
