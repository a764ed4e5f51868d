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
    /// The disk is full. The statement had no effect.
    #[error("the disk of the database is full: {0}")]
    Full(#[source] sqlx::Error),
    /// A permanent failure, such as a bug or a schema that was altered by hand.
    #[error("the database reported an error: {0}")]
    Failed(#[source] sqlx::Error),
}

impl Error {
    /// Returns the error of an operation that exceeded its time limit.
    pub fn timed_out() -> Self {
        Self::Unavailable(sqlx::Error::PoolTimedOut)
    }

    /// Returns the error of a statement for which the disk has no space.
    pub fn disk_full() -> Self {
        Self::Full(sqlx::Error::Io(std::io::ErrorKind::StorageFull.into()))
    }

    /// Returns the error of a statement that exceeded its time limit. Its connection still waits for the
    /// result.
    pub(super) fn statement_timed_out() -> Self {
        let error = std::io::Error::new(std::io::ErrorKind::TimedOut, "the statement took too long");
        Self::Unavailable(sqlx::Error::Io(error))
    }

    /// Returns the error of a statement on SQLite that was undone with the transaction that it shared.
    pub(super) fn transaction_failed() -> Self {
        let error = std::io::Error::other("the transaction that the statement shared with others failed");
        Self::Unavailable(sqlx::Error::Io(error))
    }

    /// Returns the error of a call whose batch ended without an answer to it.
    pub(super) fn batch_failed() -> Self {
        let error = std::io::Error::other("the batch of the call ended early");
        Self::Unavailable(sqlx::Error::Io(error))
    }

    /// Returns the class of the error in a span.
    pub(super) fn class(&self) -> &'static str {
        match self {
            Self::Conflict => "conflict",
            Self::Unavailable(_) => "unavailable",
            Self::Full(_) => "disk full",
            Self::Failed(_) => "failed",
        }
    }

    /// Returns a copy of this error, for one call of a batch that failed with it. The copy has the message
    /// only.
    pub(super) fn of_batch(&self) -> Self {
        let copy = |error: &sqlx::Error| sqlx::Error::Io(std::io::Error::other(error.to_string()));
        match self {
            Self::Conflict => Self::Conflict,
            Self::Unavailable(error) => Self::Unavailable(copy(error)),
            Self::Full(error) => Self::Full(copy(error)),
            Self::Failed(error) => Self::Failed(copy(error)),
        }
    }

    /// Returns whether the database reported that the statement had no effect, because of an error in its
    /// values or because of a conflict with another transaction (class 40). The same statement with fewer
    /// rows may succeed.
    pub(super) fn rejects_statement(&self) -> bool {
        match self {
            Self::Conflict | Self::Failed(sqlx::Error::Database(_)) => true,
            Self::Unavailable(sqlx::Error::Database(inner)) => {
                inner.code().is_some_and(|code| is_in_class(&code, "40"))
            }
            _ => false,
        }
    }

    /// Returns whether SQLite may have rolled back the whole transaction with the statement that failed (see
    /// "Response to errors within a transaction" in its documentation). After all other errors, only the
    /// statement is undone.
    pub(super) fn may_end_sqlite_transaction(&self) -> bool {
        /// Busy, no memory, interrupted, input or output error, full.
        const CODES: [i32; 5] = [5, 7, 9, 10, 13];
        let (Self::Unavailable(error) | Self::Full(error) | Self::Failed(error)) = self else {
            return false;
        };
        let code = error
            .as_database_error()
            .and_then(|error| primary_sqlite_code(&error.code()?));
        code.is_none_or(|code| CODES.contains(&code))
    }

    /// Returns whether the connection that reported this error must not be used again: the connection is lost
    /// or its protocol state unknown, or the server shuts down (57P), became read-only (25006) or ended the
    /// connection (08).
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
            sqlx::Error::Database(inner) if inner.code().is_some_and(|code| is_full(&code)) => {
                Self::Full(error)
            }
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

/// Returns whether an error code stands for a full disk, on SQLite or on PostgreSQL.
fn is_full(code: &str) -> bool {
    code == "53100" || primary_sqlite_code(code) == Some(13)
}

/// Returns whether an error code stands for a temporary failure. SQLite: busy, locked, a read-only file, an
/// input or output error, a file that cannot be opened. PostgreSQL: connection exceptions (08), insufficient
/// resources (53), operator intervention (57P), a read-only server after a failover (25006), serialization
/// failures (40001) and deadlocks (40P01).
fn is_temporary(code: &str) -> bool {
    match primary_sqlite_code(code) {
        Some(code) => matches!(code, 5 | 6 | 8 | 10 | 14),
        None => {
            matches!(code, "25006" | "40001" | "40P01")
                || ["08", "53", "57P"].iter().any(|class| is_in_class(code, class))
        }
    }
}

/// Returns the primary code of an error code of SQLite, which is the lowest byte of an extended code; `None`
/// for a SQLSTATE, which has five characters.
fn primary_sqlite_code(code: &str) -> Option<i32> {
    let code: Option<i32> = code.parse().ok().filter(|_| code.len() < 5);
    code.map(|code| code & 0xff)
}

/// Returns whether a code is a SQLSTATE that begins with `class`.
fn is_in_class(code: &str, class: &str) -> bool {
    code.len() == 5 && code.starts_with(class)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::Db;
    use crate::{execute, fetch_one};

    #[test]
    fn codes_of_both_engines_are_told_apart() {
        for code in ["13", "53100"] {
            assert!(is_full(code), "{code}");
        }
        // Busy, locked, read-only, input or output, cannot open: each with an extended code of SQLite.
        for code in ["5", "517", "6", "262", "8", "1032", "10", "778", "14", "526"] {
            assert!(is_temporary(code) && !is_full(code), "{code}");
        }
        for code in ["08006", "53300", "57P01", "25006", "40001", "40P01"] {
            assert!(is_temporary(code) && !is_full(code), "{code}");
        }
        // A corrupt file and a failed constraint of SQLite; a NUL character and a failed constraint of
        // PostgreSQL.
        for code in ["11", "1811", "22021", "23514"] {
            assert!(!is_temporary(code) && !is_full(code), "{code}");
        }
    }

    #[tokio::test]
    async fn a_full_sqlite_file_is_told_apart() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("test.db").display());
        let db = Db::open(&url.parse().unwrap(), 1, 1).await.unwrap();
        // The database may have no more pages than it has now.
        let (_,) = fetch_one!(db.writer(), (i64,), "PRAGMA max_page_count = 1").unwrap();
        let full = execute!(db.writer(), "CREATE TABLE large AS SELECT zeroblob(1000000)");
        assert!(matches!(full, Err(Error::Full(_))), "{full:?}");
        let mut tx = db.begin().await.unwrap();
        let full = execute!(tx.on(), "CREATE TABLE large AS SELECT zeroblob(1000000)");
        assert!(matches!(full, Err(Error::Full(_))), "{full:?}");
    }

    #[tokio::test]
    async fn a_sqlite_file_that_is_read_only_or_cannot_be_opened_is_a_temporary_failure() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("test.db").display());
        let db = Db::open(&url.parse().unwrap(), 1, 1).await.unwrap();
        // The connection for reads is read-only.
        let refused = execute!(db.reader(), "CREATE TABLE small (id INTEGER)");
        assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
        let missing = directory.path().join("missing").join("test.db");
        let refused = execute!(db.reader(), "ATTACH $1 AS other", missing.display().to_string());
        assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    }
}
