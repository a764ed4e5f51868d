//! Group commit on SQLite: single statements that wait for the writer at the same time share a transaction, and so one
//! flush of the disk. Each caller gets its result after the commit.

use super::Error;
use super::pool::{Lease, Pool};
use super::statements::{Outcome, SqliteQuery, run_on_sqlite};
use sqlx::SqliteConnection;
use std::io;
use std::thread;
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};

/// The largest number of statements in a transaction. Transactions of several statements wait for it.
const MAX_STATEMENTS: usize = 64;

/// The queue of single statements that write. Clones share it. Its thread ends with the last clone.
#[derive(Clone, Debug)]
pub struct WriteQueue {
    waiting: mpsc::UnboundedSender<Waiting>,
}

/// A statement whose caller waits for `result`.
struct Waiting {
    query: SqliteQuery,
    result: oneshot::Sender<Result<Outcome, Error>>,
}

impl WriteQueue {
    /// Starts the thread that runs the statements with the connection of `writer`. It is a thread of its own, because
    /// every statement wakes it, and the threads that serve requests may be busy with a signature. Fails if no thread
    /// can be started.
    pub(super) fn start(writer: Pool<SqliteConnection>) -> Result<Self, Error> {
        let (waiting, received) = mpsc::unbounded_channel();
        let start = || {
            let runtime = Builder::new_current_thread().enable_time().build()?;
            thread::Builder::new()
                .name("sqlite-writes".to_owned())
                .spawn(move || runtime.block_on(run_all(received, &writer)))
        };
        start().map_err(|error| Error::Failed(sqlx::Error::Io(error)))?;
        Ok(Self { waiting })
    }

    /// Runs a statement. It takes effect even if the caller does not wait for the result.
    pub(super) async fn run(&self, query: SqliteQuery) -> Result<Outcome, Error> {
        let (result, received) = oneshot::channel();
        // If the thread has ended, the sender of the result is dropped.
        let _ = self.waiting.send(Waiting { query, result });
        received
            .await
            .unwrap_or(Err(Error::Unavailable(sqlx::Error::PoolClosed)))
    }
}

/// Runs the statements in the order of their arrival until the queue is dropped.
async fn run_all(mut received: mpsc::UnboundedReceiver<Waiting>, writer: &Pool<SqliteConnection>) {
    let mut group = Vec::new();
    while received.recv_many(&mut group, MAX_STATEMENTS).await > 0 {
        let mut lease = match writer.acquire().await {
            Ok(lease) => lease,
            Err(error) => {
                fail_all(group.drain(..).map(|waiting| waiting.result), &error);
                continue;
            }
        };
        // The statements that arrived during the wait for the connection.
        while group.len() < MAX_STATEMENTS {
            match received.try_recv() {
                Ok(waiting) => group.push(waiting),
                Err(_) => break,
            }
        }
        run_group(&mut lease, &mut group).await;
    }
}

/// Runs the statements in one transaction and gives each caller its result. Empties `group`.
async fn run_group(lease: &mut Lease<SqliteConnection>, group: &mut Vec<Waiting>) {
    if group.len() == 1 {
        // A statement alone commits by itself.
        for Waiting { query, result } in group.drain(..) {
            let _ = result.send(run_one(lease, query).await);
        }
        return;
    }
    let (queries, callers): (Vec<_>, Vec<_>) = group.drain(..).map(|one| (one.query, one.result)).unzip();
    match run_in_transaction(lease, queries).await {
        Ok(results) => {
            for (caller, result) in callers.into_iter().zip(results) {
                // The caller may have stopped waiting.
                let _ = caller.send(result);
            }
        }
        Err(error) => {
            if lease.control("ROLLBACK").await.is_err() {
                lease.close();
            }
            fail_all(callers, &error);
        }
    }
}

/// Runs the statements in one transaction and returns their results. Fails if the transaction cannot be committed, or if
/// a statement failed for another reason than a constraint.
async fn run_in_transaction(
    lease: &mut Lease<SqliteConnection>,
    queries: Vec<SqliteQuery>,
) -> Result<Vec<Result<Outcome, Error>>, Error> {
    lease.control("BEGIN IMMEDIATE").await?;
    let mut results = Vec::with_capacity(queries.len());
    for query in queries {
        match run_one(lease, query).await {
            // After other errors, such as a full disk, SQLite may have rolled back the whole transaction. A violated
            // constraint undoes only its statement.
            Err(error) if !error.is_constraint_violation() => return Err(error),
            result => results.push(result),
        }
    }
    lease.control("COMMIT").await?;
    Ok(results)
}

async fn run_one(lease: &mut Lease<SqliteConnection>, query: SqliteQuery) -> Result<Outcome, Error> {
    let result = run_on_sqlite(lease.begin_statement()?, query).await;
    lease.end_statement(result.map_err(Error::from))
}

/// Reports an error to several callers.
fn fail_all(callers: impl IntoIterator<Item = oneshot::Sender<Result<Outcome, Error>>>, error: &Error) {
    for caller in callers {
        let copy = io::Error::other(error.to_string());
        let _ = caller.send(Err(Error::Unavailable(sqlx::Error::Io(copy))));
    }
}

#[cfg(test)]
mod tests {
    use crate::db::{Db, Error};
    use crate::{execute, fetch_one};
    use tempfile::TempDir;

    const INSERT: &str = "INSERT INTO numbers (id) VALUES ($1)";

    async fn open() -> (TempDir, Db) {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("test.db").display());
        let db = Db::open(&url.parse().unwrap(), 1, 1).await.unwrap();
        let table = "CREATE TABLE numbers (id INTEGER PRIMARY KEY CHECK (id < 100))";
        execute!(db.writer(), table).unwrap();
        (directory, db)
    }

    async fn count(db: &Db) -> i64 {
        let (count,) = fetch_one!(db.reader(), (i64,), "SELECT count(*) FROM numbers").unwrap();
        count
    }

    #[tokio::test]
    async fn a_violated_constraint_fails_only_its_own_statement_of_a_group() {
        let (_directory, db) = open().await;
        // While this transaction is open, the other statements wait and so become one group.
        let tx = db.begin().await.unwrap();
        let (first, duplicate, too_large, last, committed) = tokio::join!(
            async { execute!(db.writer(), INSERT, 1) },
            async { execute!(db.writer(), INSERT, 1) },
            async { execute!(db.writer(), INSERT, 100) },
            async { execute!(db.writer(), INSERT, 2) },
            tx.commit(),
        );
        committed.unwrap();
        assert_eq!(first.unwrap(), 1);
        assert!(matches!(duplicate, Err(Error::Conflict)), "{duplicate:?}");
        assert!(matches!(too_large, Err(Error::Failed(_))), "{too_large:?}");
        assert_eq!(last.unwrap(), 1);
        assert_eq!(count(&db).await, 2);
    }

    #[tokio::test]
    async fn another_error_fails_and_undoes_the_whole_group() {
        let (_directory, db) = open().await;
        let tx = db.begin().await.unwrap();
        // The absolute value of the smallest integer overflows.
        let overflow = "INSERT INTO numbers (id) SELECT abs(-9223372036854775807 - $1)";
        let (first, failed, last, committed) = tokio::join!(
            async { execute!(db.writer(), INSERT, 1) },
            async { execute!(db.writer(), overflow, 1) },
            async { execute!(db.writer(), INSERT, 2) },
            tx.commit(),
        );
        committed.unwrap();
        for result in [first, failed, last] {
            assert!(matches!(result, Err(Error::Unavailable(_))), "{result:?}");
        }
        assert_eq!(count(&db).await, 0);
        assert_eq!(execute!(db.writer(), INSERT, 3).unwrap(), 1);
        assert_eq!(count(&db).await, 1);
    }

    #[tokio::test]
    async fn a_statement_takes_effect_even_if_its_caller_stops_waiting() {
        let (_directory, db) = open().await;
        let tx = db.begin().await.unwrap();
        let abandoned = async { execute!(db.writer(), INSERT, 1) };
        assert!(futures_util::FutureExt::now_or_never(abandoned).is_none());
        let (next, committed) = tokio::join!(async { execute!(db.writer(), INSERT, 2) }, tx.commit());
        committed.unwrap();
        assert_eq!(next.unwrap(), 1);
        assert_eq!(count(&db).await, 2);
    }
}
