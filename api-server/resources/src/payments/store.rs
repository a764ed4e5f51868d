//! Payments in the database.

use super::error::Error;
use super::fields::{Description, NewPayment};
use super::id::PaymentId;
use super::payment::{Payment, columns};
use foundation::clock::Timestamp;
use storage::db;
use storage::db::{Db, WriteTarget};
use storage::{fetch_all, fetch_one, fetch_optional, sql};

sql! {
    INSERT = concat!(
        "INSERT INTO payments (public_id, user_id, status, amount, amount_captured, amount_refunded, currency,
                               description, metadata, created_at, updated_at)
         VALUES ($1, $2, 'created', $3, 0, 0, $4, $5, $6, $7, $7) RETURNING ", columns!());
    FIND = concat!("SELECT ", columns!(), " FROM payments WHERE public_id = $1 AND user_id = $2");
    OF_USER = concat!(
        "SELECT ", columns!(), " FROM payments WHERE (user_id, created_at, id) > ($1, $2, $3) AND user_id <= $1
         ORDER BY user_id, created_at, id LIMIT 20");
}

/// Stores a new payment of this user and returns it.
pub async fn create(
    target: &mut WriteTarget<'_>,
    user_id: i64,
    new: &NewPayment,
    now: Timestamp,
) -> Result<Payment, Error> {
    let payment = fetch_one!(
        target.on(),
        Payment,
        INSERT,
        PaymentId::new(now).as_str(),
        user_id,
        new.amount.get(),
        new.currency.as_str(),
        new.description.as_ref().map(Description::as_str),
        new.metadata.to_string(),
        now,
    )?;
    Ok(payment)
}

/// Returns a payment of this user. Fails with [`Error::NotFound`] if the user has no payment with this id.
pub async fn find(db: &Db, user_id: i64, id: &PaymentId) -> Result<Payment, Error> {
    let payment = fetch_optional!(db.reader(), Payment, FIND, id.as_str(), user_id)?;
    payment.ok_or(Error::NotFound)
}

/// Returns a payment of this user, read where the write runs. Fails like [`find`].
pub(super) async fn find_in(
    target: &mut WriteTarget<'_>,
    user_id: i64,
    id: &PaymentId,
) -> Result<Payment, Error> {
    let payment = fetch_optional!(target.on(), Payment, FIND, id.as_str(), user_id)?;
    payment.ok_or(Error::NotFound)
}

/// Returns at most 20 payments of a user, the oldest first, after this time of creation (in microseconds) and row
/// id.
pub async fn of_user(
    db: &Db,
    user_id: i64,
    (created_at, row_id): (i64, i64),
) -> Result<Vec<Payment>, db::Error> {
    fetch_all!(db.reader(), Payment, OF_USER, user_id, created_at, row_id)
}
