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
        Transition::Capture(amount) => {
            let amount = amount.map(Amount::get);
            fetch_optional!(target.on(), Payment, CAPTURE, id, user_id, amount, now)?
        }
        Transition::Refund(amount) => {
            let amount = amount.map(Amount::get);
            fetch_optional!(target.on(), Payment, REFUND, id, user_id, amount, now)?
        }
        Transition::Cancel => fetch_optional!(target.on(), Payment, CANCEL, id, user_id, now)?,
    };
    if let Some(payment) = changed {
        return Ok(payment);
    }
    let current = store::find(target.on(), user_id, &payment.id).await?;
    Err(transition_error(&current, transition))
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
