//! Pages of a user's payments.

use super::payment::{Payment, columns};
use foundation::list_query::{Order, PageRequest};
use sqlx::AssertSqlSafe;
use storage::db::{Db, Error};
use storage::fetch_all;
use storage::paging::{self, Page, PageSlice, Sorting};

/// The columns by which the list is sorted.
const KEY: &[&str] = &["created_at", "id"];

/// Returns the requested page of the user's payments, the newest first by default.
pub async fn list(db: &Db, user_id: i64, page: &PageRequest) -> Result<Page<Payment>, Error> {
    let sorting = Sorting::by(KEY, page.order.unwrap_or(Order::Descending));
    paging::read_page(page.direction, sorting, page.cursor, |slice, anchor| async move {
        let (on, sql) = (db.reader(), AssertSqlSafe(sql(slice)));
        match anchor {
            None => fetch_all!(on, Payment, sql, user_id),
            Some(at) => fetch_all!(on, Payment, sql, at.created_at, at.id, user_id),
        }
    })
    .await
}

fn sql(slice: PageSlice) -> String {
    let (columns, user, page) = (columns!(), slice.parameter(1), slice.clauses());
    format!("SELECT {columns} FROM payments WHERE user_id = {user}{page}")
}

/// Returns the names and texts of the list statements.
pub(crate) fn statements() -> impl Iterator<Item = (String, String)> {
    let named = |slice| (format!("{}::{slice:?}", module_path!()), sql(slice));
    PageSlice::all(KEY).into_iter().map(named)
}
