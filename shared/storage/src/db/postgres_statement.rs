//! Running a statement on a PostgreSQL connection.

use futures_util::TryStreamExt as _;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{Executor as _, PgConnection, Postgres};

/// A statement for PostgreSQL with its bound values.
pub type PostgresQuery = Query<'static, Postgres, PgArguments>;

/// Runs a statement and returns its rows. sqlx's `fetch_all` passes each row through two more streams.
pub(super) async fn rows_of(connection: &mut PgConnection, query: PostgresQuery) -> sqlx::Result<Vec<PgRow>> {
    let mut rows = Vec::new();
    let mut results = connection.fetch_many(query);
    while let Some(result) = results.try_next().await? {
        rows.extend(result.right());
    }
    Ok(rows)
}
