//! Pages of a user's payments.

use super::{Payment, columns};
use crate::paging::{self, Cursor, Order, Page, Stretch, Walk};
use shared::db::{Db, Error};
use shared::fetch_all;
use sqlx::AssertSqlSafe;

/// The page of the user's payments that the walk comes to; the newest come first unless told otherwise.
pub(crate) async fn list(db: &Db, user_id: i64, walk: &Walk) -> Result<Page<Payment>, Error> {
    let order = walk.order.unwrap_or(Order::Descending);
    paging::read(walk.direction, order, walk.cursor, |stretch, anchor| {
        fetch(db, user_id, stretch, anchor)
    })
    .await
}

async fn fetch(
    db: &Db,
    user_id: i64,
    stretch: Stretch,
    anchor: Option<Cursor>,
) -> Result<Vec<Payment>, Error> {
    let (on, sql) = (db.reader(), AssertSqlSafe(sql(stretch)));
    match anchor {
        None => fetch_all!(on, Payment, sql, user_id),
        Some(at) => fetch_all!(on, Payment, sql, at.created_at, at.id, user_id),
    }
}

fn sql(stretch: Stretch) -> String {
    let (columns, user) = (columns!(), stretch.parameter(1));
    let (beyond, end) = (stretch.beyond("created_at"), stretch.end("created_at"));
    format!("SELECT {columns} FROM payments WHERE user_id = {user}{beyond} {end}")
}

/// Every statement of this module with its name.
pub(super) fn statements() -> impl Iterator<Item = (String, String)> {
    let named = |stretch| (format!("{}::{stretch:?}", module_path!()), sql(stretch));
    Stretch::ALL.into_iter().map(named)
}
