//! Payments in the database.

use super::error::Error;
use super::fields::{Description, NewPayment};
use super::id::PaymentId;
use super::payment::{Payment, columns};
use crate::storage_use::{Allowance, size_of_row, stored_bytes};
use foundation::clock::Timestamp;
use identity::authority_holds;
use storage::db::{self, Db, Executor, WriteTarget};
use storage::{execute, fetch_all, fetch_optional, sql};

/// The text of the statement that inserts a payment if the authority of its user holds and the user stores at
/// most `$10` bytes. `$lock` is that of [`authority_holds!`], `$count_lock` that of [`stored_bytes!`].
macro_rules! insert {
    ($lock:literal, $count_lock:literal) => {
        concat!(
            "INSERT INTO payments (public_id, user_id, status, amount, amount_captured, amount_refunded, currency,
                                   description, metadata, created_at, updated_at)
             SELECT $1, $2, 'created', $3, 0, 0, $4, $5, $6, $7, $7 WHERE ",
            authority_holds!("$2", "$8", "$9", $lock),
            " AND ",
            stored_bytes!("$2", $count_lock),
            " <= $10"
        )
    };
}

sql! {
    INSERT_SQLITE = insert!("", "");
    INSERT_POSTGRES = insert!(" FOR SHARE", " FOR NO KEY UPDATE");
    FIND = concat!("SELECT ", columns!(), " FROM payments WHERE public_id = $1 AND user_id = $2");
    OF_USER = concat!(
        "SELECT ", columns!(), " FROM payments WHERE (user_id, created_at, id) > ($1, $2, $3) AND user_id <= $1
         ORDER BY user_id, created_at, id LIMIT 20");
}

/// Stores a new payment of this user and returns its id. Fails with [`Error::Refused`] if the user's
/// authority has ended or the user would store more than the quota.
pub async fn create(
    target: &mut WriteTarget<'_>,
    allowance: Allowance,
    new: &NewPayment,
    now: Timestamp,
) -> Result<PaymentId, Error> {
    let Allowance { authority, quota } = allowance;
    let id = PaymentId::new(now);
    let description = new.description.as_ref().map(Description::as_str);
    let metadata = new.metadata.to_string();
    let most = quota.before(size_of_row(&[description.unwrap_or_default(), &metadata]));
    let on = target.on();
    let insert = on.choose(INSERT_SQLITE, INSERT_POSTGRES);
    let inserted = execute!(
        on,
        insert,
        id.as_str(),
        authority.user_id,
        new.amount.get(),
        new.currency.as_str(),
        description,
        metadata,
        now,
        authority.epoch,
        authority.session_id,
        most,
    )?;
    match inserted {
        0 => Err(allowance.refusal(target, now).await?.into()),
        _ => Ok(id),
    }
}

/// Returns a payment of this user. Fails with [`Error::NotFound`] if the user has no payment with this id.
pub async fn find(on: Executor<'_>, user_id: i64, id: &PaymentId) -> Result<Payment, Error> {
    let payment = fetch_optional!(on, Payment, FIND, id.as_str(), user_id)?;
    payment.ok_or(Error::NotFound)
}

/// Returns at most 20 payments of a user, the oldest first, after this time of creation (in microseconds) and
/// row id.
pub async fn of_user(
    db: &Db,
    user_id: i64,
    (created_at, row_id): (i64, i64),
) -> Result<Vec<Payment>, db::Error> {
    fetch_all!(db.reader(), Payment, OF_USER, user_id, created_at, row_id)
}
