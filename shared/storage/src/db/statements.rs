//! Running statements on a connection, and decoding their rows.
//!
//! The futures are boxed here, because the compiler copies the body of an `async fn` into every crate that
//! awaits it. A boxed one is compiled once.

use super::Error;
use super::place::Place;
use super::postgres_statement::{PostgresQuery, rows_of};
use super::sqlite_statement::{Outcome, SqliteQuery, run_on_sqlite};
use super::write_queue::WriteQueue;
use futures_util::future::BoxFuture;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{Executor as _, FromRow, PgConnection, Row, SqliteConnection};

/// The place where a statement runs on SQLite.
#[derive(Debug)]
pub enum SqliteExecutor<'a> {
    /// A connection of the readers, or that of a transaction.
    Connection(Place<'a, SqliteConnection>),
    /// The queue of single statements that write.
    Writes(&'a WriteQueue),
}

impl<'a> Place<'a, PgConnection> {
    /// Runs a statement and returns the number of changed rows.
    pub fn execute(self, query: PostgresQuery) -> BoxFuture<'a, Result<u64, Error>> {
        Box::pin(async move {
            let done = self
                .run(async |connection| connection.execute(query).await)
                .await?;
            Ok(done.rows_affected())
        })
    }

    /// Runs a statement and returns its first row, if it has one.
    pub fn fetch_optional(self, query: PostgresQuery) -> BoxFuture<'a, Result<Option<PgRow>, Error>> {
        Box::pin(self.run(async |connection| connection.fetch_optional(query).await))
    }

    /// Runs a statement and returns its rows.
    pub fn fetch_all(self, query: PostgresQuery) -> BoxFuture<'a, Result<Vec<PgRow>, Error>> {
        Box::pin(self.run(async |connection| rows_of(connection, query).await))
    }
}

impl<'a> SqliteExecutor<'a> {
    /// Runs a statement and returns the number of changed rows.
    pub fn execute(self, query: SqliteQuery) -> BoxFuture<'a, Result<u64, Error>> {
        Box::pin(async move { self.run(query).await.map(|outcome| outcome.changed) })
    }

    /// Runs a statement and returns its first row, if it has one.
    pub fn fetch_optional(self, query: SqliteQuery) -> BoxFuture<'a, Result<Option<SqliteRow>, Error>> {
        Box::pin(async move {
            match self {
                // Does not compute further rows.
                Self::Connection(place) => {
                    place
                        .run(async |connection| connection.fetch_optional(query).await)
                        .await
                }
                Self::Writes(queue) => queue
                    .run(query)
                    .await
                    .map(|outcome| outcome.rows.into_iter().next()),
            }
        })
    }

    /// Runs a statement and returns its rows.
    pub fn fetch_all(self, query: SqliteQuery) -> BoxFuture<'a, Result<Vec<SqliteRow>, Error>> {
        Box::pin(async move { self.run(query).await.map(|outcome| outcome.rows) })
    }

    async fn run(self, query: SqliteQuery) -> Result<Outcome, Error> {
        match self {
            Self::Connection(place) => {
                place
                    .run(async |connection| run_on_sqlite(connection, query).await)
                    .await
            }
            Self::Writes(queue) => queue.run(query).await,
        }
    }
}

/// Decodes the row of a statement that has at most one.
pub fn decode_optional<T: for<'r> FromRow<'r, R>, R: Row>(
    row: Result<Option<R>, Error>,
) -> Result<Option<T>, Error> {
    row?.map(|row| T::from_row(&row).map_err(Error::from)).transpose()
}

/// Decodes the rows of a statement.
pub fn decode_all<T: for<'r> FromRow<'r, R>, R: Row>(rows: Result<Vec<R>, Error>) -> Result<Vec<T>, Error> {
    rows?
        .iter()
        .map(|row| T::from_row(row).map_err(Error::from))
        .collect()
}

/// Returns the row of a statement that always has one. Fails if it has none.
pub fn require_row<T>(row: Option<T>) -> Result<T, Error> {
    row.ok_or(Error::Failed(sqlx::Error::RowNotFound))
}
