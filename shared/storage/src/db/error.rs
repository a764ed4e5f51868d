//! What can go wrong with the database, as far as callers tell the cases apart.

/// A failed statement, transaction or connection.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A unique index refused the row.
    #[error("a row with this key exists")]
    Conflict,
    /// No connection, or the server is going away: the same call may work in a moment.
    #[error("the database is unavailable: {0}")]
    Unavailable(#[source] sqlx::Error),
    /// Anything else: a bug, or a database that was altered by hand.
    #[error("the database refused: {0}")]
    Failed(#[source] sqlx::Error),
}

impl Error {
    /// An operation that was given up.
    pub fn timed_out() -> Self {
        Self::Unavailable(sqlx::Error::PoolTimedOut)
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Database(inner) if inner.is_unique_violation() => Self::Conflict,
            sqlx::Error::Database(inner) if inner.code().is_some_and(|code| passes(&code)) => {
                Self::Unavailable(error)
            }
            sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed
            | sqlx::Error::Io(_)
            | sqlx::Error::Tls(_) => Self::Unavailable(error),
            _ => Self::Failed(error),
        }
    }
}

impl From<sqlx::migrate::MigrateError> for Error {
    fn from(error: sqlx::migrate::MigrateError) -> Self {
        Self::Failed(sqlx::Error::Migrate(Box::new(error)))
    }
}

/// SQLite: busy, locked. PostgreSQL: connection exceptions (08), insufficient resources (53), operator
/// intervention (57P), a server that became read-only (25006), a transaction that lost to another (40001, 40P01).
fn passes(code: &str) -> bool {
    matches!(code, "5" | "6" | "261" | "517" | "25006" | "40001" | "40P01")
        || code.len() == 5 && ["08", "53", "57P"].iter().any(|class| code.starts_with(class))
}
