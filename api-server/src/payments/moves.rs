//! The moves of a payment. Each is one statement that holds all its conditions, so that nothing is captured
//! or given back twice, whatever races; the table's own rules stand behind it.

use super::{Amount, Error, FIND, Payment, Status, columns};
use shared::clock::Timestamp;
use shared::db::Tx;
use shared::{fetch_one, fetch_optional, sql};

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

/// What is to become of a payment.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Move {
    /// This much of it is taken, or all; what is not is released. Once.
    Capture(Option<Amount>),
    /// It is given up.
    Cancel,
    /// This much of what was captured goes back, or all that is left.
    Refund(Option<Amount>),
}

/// Moves the payment, which was found to be this user's.
pub(crate) async fn perform(
    tx: &mut Tx,
    user_id: i64,
    payment: &Payment,
    how: Move,
    now: Timestamp,
) -> Result<Payment, Error> {
    let (on, id) = (tx.on(), payment.id.as_str());
    let minor_units = |amount: Option<Amount>| amount.map(Amount::get);
    let moved = match how {
        Move::Capture(amount) => {
            fetch_optional!(on, Payment, CAPTURE, id, user_id, minor_units(amount), now)?
        }
        Move::Cancel => fetch_optional!(on, Payment, CANCEL, id, user_id, now)?,
        Move::Refund(amount) => fetch_optional!(on, Payment, REFUND, id, user_id, minor_units(amount), now)?,
    };
    match moved {
        Some(payment) => Ok(payment),
        None => Err(fetch_one!(tx.on(), Payment, FIND, id, user_id)?.refusal(how)),
    }
}

impl Payment {
    /// Why it does not make a move.
    fn refusal(&self, how: Move) -> Error {
        let left = match (how, self.status) {
            (Move::Capture(_), Status::Created) => Some(self.amount),
            (Move::Refund(_), Status::Captured | Status::PartiallyRefunded) => {
                Some(self.amount_captured - self.amount_refunded)
            }
            _ => None,
        };
        left.map_or(Error::Conflict(self.status), |left| Error::TooMuch { left })
    }
}
