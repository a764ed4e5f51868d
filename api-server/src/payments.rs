//! Payments: what one is made of, the moves it makes, and how they are stored. A payment is its user's alone.

mod currency;
mod fields;
mod id;
mod list;
mod moves;

pub(crate) use currency::Currency;
pub(crate) use fields::{Amount, Description, Metadata, NewPayment, Status};
pub(crate) use id::PaymentId;
pub(crate) use list::list;
pub(crate) use moves::{Move, perform};

use crate::paging::{Cursor, Listed};
use serde::Serialize;
use shared::clock::Timestamp;
use shared::db::{self, Db, Tx};
use shared::{fetch_all, fetch_one, fetch_optional, sql};
use utoipa::ToSchema;

macro_rules! columns {
    () => {
        "id, public_id, status, amount, amount_captured, amount_refunded, currency, description, metadata, \
         created_at, updated_at"
    };
}
use columns;

sql! {
    INSERT = concat!(
        "INSERT INTO payments (public_id, user_id, status, amount, amount_captured, amount_refunded, currency,
                               description, metadata, created_at, updated_at)
         VALUES ($1, $2, 'created', $3, 0, 0, $4, $5, $6, $7, $7) RETURNING ", columns!());
    FIND = concat!("SELECT ", columns!(), " FROM payments WHERE public_id = $1 AND user_id = $2");
    OF_USER = concat!(
        "SELECT ", columns!(), " FROM payments WHERE user_id = $1 AND (created_at, id) > ($2, $3)
         ORDER BY created_at, id LIMIT $4");
}

/// A payment as the API shows one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema, sqlx::FromRow)]
pub(crate) struct Payment {
    #[serde(skip)]
    #[sqlx(rename = "id")]
    place: i64,
    /// Identifies the payment.
    #[sqlx(rename = "public_id", try_from = "String")]
    pub(crate) id: PaymentId,
    /// What became of it so far.
    #[sqlx(try_from = "String")]
    pub(crate) status: Status,
    /// What may be captured, in the minor units of the currency.
    pub(crate) amount: i64,
    /// What was captured; the rest was released.
    pub(crate) amount_captured: i64,
    /// What was given back of that.
    pub(crate) amount_refunded: i64,
    /// The currency, by its code in ISO 4217.
    pub(crate) currency: String,
    /// What it is for.
    pub(crate) description: Option<String>,
    /// What the caller notes of it.
    #[sqlx(try_from = "String")]
    pub(crate) metadata: Metadata,
    /// When it was made.
    pub(crate) created_at: Timestamp,
    /// When it last moved.
    pub(crate) updated_at: Timestamp,
}

/// Why a payment was not read or moved.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The user has no such payment.
    #[error("there is no such payment")]
    Missing,
    /// It is past the state that this move begins from.
    #[error("the payment is {}", .0.as_str())]
    Conflict(Status),
    /// More than is left.
    #[error("more than the {left} that are left")]
    TooMuch {
        /// In minor units.
        left: i64,
    },
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

impl Listed for Payment {
    fn cursor(&self) -> Cursor {
        Cursor {
            created_at: self.created_at,
            id: self.place,
        }
    }
}

/// Stores a new payment of this user.
pub(crate) async fn create(
    tx: &mut Tx,
    user_id: i64,
    new: &NewPayment,
    now: Timestamp,
) -> Result<Payment, Error> {
    let payment = fetch_one!(
        tx.on(),
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

/// A payment of this user.
pub(crate) async fn find(db: &Db, user_id: i64, id: &PaymentId) -> Result<Payment, Error> {
    let payment = fetch_optional!(db.reader(), Payment, FIND, id.as_str(), user_id)?;
    payment.ok_or(Error::Missing)
}

/// A user's payments after that of this time and place, the oldest first.
pub(crate) async fn of_user(
    db: &Db,
    user_id: i64,
    (created_at, place): (i64, i64),
    limit: i64,
) -> Result<Vec<Payment>, db::Error> {
    fetch_all!(db.reader(), Payment, OF_USER, user_id, created_at, place, limit)
}

/// Every statement about payments with its name.
pub(crate) fn statements() -> impl Iterator<Item = (String, String)> {
    crate::owned(STATEMENTS)
        .chain(crate::owned(moves::STATEMENTS))
        .chain(list::statements())
}
