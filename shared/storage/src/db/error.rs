//! Database errors, by the cases that callers distinguish.

/// A failed statement, transaction or connection.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The row violates a unique index.
    #[error("a row with this key already exists")]
    Conflict,
    /// A temporary failure, such as no connection or a deadlock. The same operation may succeed later.
    #[error("the database is unavailable: {0}")]
    Unavailable(#[source] sqlx::Error),
    /// A permanent failure, such as a bug or a schema that was altered by hand.
    #[error("the database reported an error: {0}")]
    Failed(#[source] sqlx::Error),
}

impl Error {
    /// Returns the error of an operation that exceeded its time limit.
    pub fn timed_out() -> Self {
        Self::Unavailable(sqlx::Error::PoolTimedOut)
    }

    /// Returns the error of a statement that exceeded its time limit. Its connection still waits for the result.
    pub(super) fn statement_timed_out() -> Self {
        let error = std::io::Error::new(std::io::ErrorKind::TimedOut, "the statement took too long");
        Self::Unavailable(sqlx::Error::Io(error))
    }

    /// Returns the error of a statement on SQLite that was undone with the transaction that it shared.
    pub(super) fn transaction_failed() -> Self {
        let error = std::io::Error::other("the transaction that the statement shared with others failed");
        Self::Unavailable(sqlx::Error::Io(error))
    }

    /// Returns the error of a statement for PostgreSQL on SQLite.
    #[doc(hidden)]
    pub fn needs_postgres() -> Self {
        Self::Failed(sqlx::Error::Configuration(
            "the statement needs PostgreSQL".into(),
        ))
    }

    /// Returns the error of a call whose batch ended without an answer to it.
    pub(super) fn batch_failed() -> Self {
        let error = std::io::Error::other("the batch of the call ended early");
        Self::Unavailable(sqlx::Error::Io(error))
    }

    /// Returns a copy of this error, for one call of a batch that failed with it. The copy has the message only.
    pub(super) fn of_batch(&self) -> Self {
        let copy = |error: &sqlx::Error| sqlx::Error::Io(std::io::Error::other(error.to_string()));
        match self {
            Self::Conflict => Self::Conflict,
            Self::Unavailable(error) => Self::Unavailable(copy(error)),
            Self::Failed(error) => Self::Failed(copy(error)),
        }
    }

    /// Returns whether the database reported that the statement had no effect, because of an error in its values or because
    /// of a conflict with another transaction (class 40). The same statement with fewer rows may succeed.
    pub(super) fn rejects_statement(&self) -> bool {
        match self {
            Self::Conflict | Self::Failed(sqlx::Error::Database(_)) => true,
            Self::Unavailable(sqlx::Error::Database(inner)) => {
                inner.code().is_some_and(|code| is_in_class(&code, "40"))
            }
            _ => false,
        }
    }

    /// Returns whether SQLite may have rolled back the whole transaction with the statement that failed (see "Response to
    /// errors within a transaction" in its documentation). After all other errors, only the statement is undone.
    pub(super) fn may_end_sqlite_transaction(&self) -> bool {
        /// Busy, no memory, interrupted, input or output error, full.
        const CODES: [i32; 5] = [5, 7, 9, 10, 13];
        let (Self::Unavailable(error) | Self::Failed(error)) = self else {
            return false;
        };
        // The lowest byte of an extended code is its primary code.
        let code = error
            .as_database_error()
            .and_then(|error| error.code()?.parse::<i32>().ok());
        code.is_none_or(|code| CODES.contains(&(code & 0xff)))
    }

    /// Returns whether the connection that reported this error must not be used again: the connection is lost or its
    /// protocol state unknown, or the server shuts down (57P), became read-only (25006) or ended the connection (08).
    pub(super) fn breaks_connection(&self) -> bool {
        let (Self::Unavailable(error) | Self::Failed(error)) = self else {
            return false;
        };
        match error {
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::WorkerCrashed => true,
            sqlx::Error::Database(inner) => inner.code().is_some_and(|code| {
                code == "25006" || ["08", "57P"].iter().any(|class| is_in_class(&code, class))
            }),
            _ => false,
        }
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Database(inner) if inner.is_unique_violation() => Self::Conflict,
            sqlx::Error::Database(inner) if inner.code().is_some_and(|code| is_temporary(&code)) => {
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

/// Returns whether an error code stands for a temporary failure. SQLite: busy, locked. PostgreSQL: connection exceptions
/// (08), insufficient resources (53), operator intervention (57P), a read-only server after a failover (25006),
/// serialization failures (40001) and deadlocks (40P01).
fn is_temporary(code: &str) -> bool {
    matches!(code, "5" | "6" | "261" | "517" | "25006" | "40001" | "40P01")
        || ["08", "53", "57P"].iter().any(|class| is_in_class(code, class))
}

/// Returns whether a code is a SQLSTATE that begins with `class`.
fn is_in_class(code: &str, class: &str) -> bool {
    code.len() == 5 && code.starts_with(class)
}
