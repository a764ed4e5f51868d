//! Running a statement on an SQLite connection.

use futures_util::TryStreamExt as _;
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Either, Executor as _, Sqlite, SqliteConnection};

/// A statement for SQLite with its bound values.
pub type SqliteQuery = Query<'static, Sqlite, SqliteArguments>;

/// The changed rows and the result rows of a statement on SQLite.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) changed: u64,
    pub(super) rows: Vec<SqliteRow>,
}

/// Runs a statement to its end. Fails with [`sqlx::Error::WorkerCrashed`] if its end is not reported, because
/// the results then stop without an error.
pub(super) async fn run_on_sqlite(
    connection: &mut SqliteConnection,
    query: SqliteQuery,
) -> sqlx::Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut is_complete = false;
    let mut results = connection.fetch_many(query);
    while let Some(result) = results.try_next().await? {
        match result {
            Either::Left(done) => {
                outcome.changed += done.rows_affected();
                is_complete = true;
            }
            Either::Right(row) => outcome.rows.push(row),
        }
    }
    is_complete.then_some(outcome).ok_or(sqlx::Error::WorkerCrashed)
}
