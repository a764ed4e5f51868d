//! Group commit on SQLite: single statements that wait for the writer at the same time share a transaction,
//! and so one flush of the disk. Each caller gets its result after the commit.

use super::Error;
use super::lease::Lease;
use super::pool::{ACQUIRE_TIMEOUT, Pool};
use super::sqlite_statement::{Outcome, SqliteQuery, run_on_sqlite};
use foundation::time_limits;
use sqlx::SqliteConnection;
use std::thread;
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tracing::{Instrument as _, Span};

/// The largest number of statements in a transaction. Transactions of other callers wait for its end.
const MAX_STATEMENTS: usize = 64;
/// The largest number of statements that wait in the queue. Further ones wait for a place in it.
const CAPACITY: usize = 1024;

/// The queue of single statements that write. Clones share it. Its thread ends with the last clone.
#[derive(Clone, Debug)]
pub struct WriteQueue {
    waiting: mpsc::Sender<Waiting>,
}

/// A statement whose caller waits.
struct Waiting {
    query: SqliteQuery,
    /// The span of the caller, for the log lines about the statement.
    span: Span,
    /// Tells the caller that the statement is about to run. Closed if the caller no longer waits.
    start: oneshot::Sender<()>,
    result: oneshot::Sender<Result<Outcome, Error>>,
}

impl WriteQueue {
    /// Starts the thread that runs the statements with the connection of `writer`. It is a thread of its own,
    /// because every statement wakes it, and the threads that serve requests may be busy with a signature.
    /// Fails if no thread can be started.
    pub(super) fn start(writer: Pool<SqliteConnection>) -> Result<Self, Error> {
        let (waiting, received) = mpsc::channel(CAPACITY);
        let run = move || match Builder::new_current_thread().enable_time().build() {
            Ok(runtime) => runtime.block_on(run_all(received, &writer)),
            Err(error) => tracing::error!(%error, "the thread that writes to SQLite cannot start"),
        };
        let started = thread::Builder::new().name("sqlite-writes".to_owned()).spawn(run);
        started.map_err(|error| Error::Failed(sqlx::Error::Io(error)))?;
        Ok(Self { waiting })
    }

    /// Runs a statement. Fails if it cannot start within [`ACQUIRE_TIMEOUT`]. It does not run if the caller
    /// gives up before its start.
    pub(super) async fn run(&self, query: SqliteQuery) -> Result<Outcome, Error> {
        let (start, mut started) = oneshot::channel();
        let (result, received) = oneshot::channel();
        let span = Span::current();
        let waiting = Waiting {
            query,
            span,
            start,
            result,
        };
        let wait = async {
            // If the thread has ended, both senders are dropped.
            let _ = self.waiting.send(waiting).await;
            (&mut started).await
        };
        if timeout(time_limits::multiplied(ACQUIRE_TIMEOUT), wait)
            .await
            .is_err()
        {
            started.close();
            // The statement may have started at this very moment.
            started.try_recv().map_err(|_| Error::timed_out())?;
        }
        received
            .await
            .unwrap_or_else(|_| Err(Error::transaction_failed()))
    }

    /// Fails if the thread has ended, so that no statement can run.
    pub(super) fn check(&self) -> Result<(), Error> {
        match self.waiting.is_closed() {
            true => Err(Error::Unavailable(sqlx::Error::WorkerCrashed)),
            false => Ok(()),
        }
    }
}

/// Runs the statements in the order of their arrival until the queue is dropped.
async fn run_all(mut received: mpsc::Receiver<Waiting>, writer: &Pool<SqliteConnection>) {
    let mut group = Vec::new();
    while received.recv_many(&mut group, MAX_STATEMENTS).await > 0 {
        if let Err(error) = run_next(&mut received, writer, &mut group).await {
            tracing::error!(%error, "statements that write to SQLite failed together");
            // Tells the callers, because it drops the senders of their results.
            group.clear();
        }
    }
}

/// Runs the statements of `group`, and those that arrive before the connection is free. Fails as
/// [`run_group`] does, or if the connection does not become free.
async fn run_next(
    received: &mut mpsc::Receiver<Waiting>,
    writer: &Pool<SqliteConnection>,
    group: &mut Vec<Waiting>,
) -> Result<(), Error> {
    let mut lease = writer.acquire().await?;
    while group.len() < MAX_STATEMENTS {
        match received.try_recv() {
            Ok(waiting) => group.push(waiting),
            Err(_) => break,
        }
    }
    run_group(&mut lease, group).await
}

/// Runs the statements in one transaction and gives each caller its result. Fails if the transaction cannot
/// be committed.
async fn run_group(lease: &mut Lease<SqliteConnection>, group: &mut Vec<Waiting>) -> Result<(), Error> {
    if group.len() == 1 {
        // A statement alone commits by itself.
        for waiting in group.drain(..) {
            if let Some((caller, result)) = run_one(lease, waiting).await {
                // The caller may have stopped waiting.
                let _ = caller.send(result);
            }
        }
        return Ok(());
    }
    lease.control("BEGIN IMMEDIATE").await?;
    let mut results = Vec::with_capacity(group.len());
    let committed = async {
        for waiting in group.drain(..) {
            match run_one(lease, waiting).await {
                Some((_, Err(error))) if error.may_end_sqlite_transaction() => return Err(error),
                result => results.extend(result),
            }
        }
        lease.control("COMMIT").await
    };
    if let Err(error) = committed.await {
        if lease.control("ROLLBACK").await.is_err() {
            lease.close();
        }
        return Err(error);
    }
    for (caller, result) in results {
        let _ = caller.send(result);
    }
    Ok(())
}

/// Runs a statement, unless its caller no longer waits. Returns the caller and the result.
async fn run_one(
    lease: &mut Lease<SqliteConnection>,
    waiting: Waiting,
) -> Option<(oneshot::Sender<Result<Outcome, Error>>, Result<Outcome, Error>)> {
    waiting.start.send(()).ok()?;
    let statement = async |connection: &mut SqliteConnection| {
        run_on_sqlite(connection, waiting.query)
            .instrument(waiting.span)
            .await
    };
    Some((waiting.result, lease.run(statement).await))
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
    async fn a_failed_statement_of_a_group_fails_alone() {
        let (_directory, db) = open().await;
        // While this transaction is open, the other statements wait and so become one group.
        let tx = db.begin().await.unwrap();
        let (first, duplicate, too_large, overflow, last, committed) = tokio::join!(
            async { execute!(db.writer(), INSERT, 1) },
            async { execute!(db.writer(), INSERT, 1) },
            async { execute!(db.writer(), INSERT, 100) },
            // The absolute value of the smallest integer is too large.
            async {
                execute!(
                    db.writer(),
                    "INSERT INTO numbers SELECT abs(-9223372036854775807 - $1)",
                    1
                )
            },
            async { execute!(db.writer(), INSERT, 2) },
            tx.commit(),
        );
        committed.unwrap();
        assert_eq!(first.unwrap(), 1);
        assert!(matches!(duplicate, Err(Error::Conflict)), "{duplicate:?}");
        assert!(matches!(too_large, Err(Error::Failed(_))), "{too_large:?}");
        assert!(matches!(overflow, Err(Error::Failed(_))), "{overflow:?}");
        assert_eq!(last.unwrap(), 1);
        assert_eq!(count(&db).await, 2);
    }

    #[tokio::test]
    async fn a_full_disk_fails_and_undoes_the_whole_group() {
        let (_directory, db) = open().await;
        // The database may have no more pages than it has now.
        let (_,) = fetch_one!(db.writer(), (i64,), "PRAGMA max_page_count = 1").unwrap();
        let tx = db.begin().await.unwrap();
        let (first, failed, last, committed) = tokio::join!(
            async { execute!(db.writer(), INSERT, 1) },
            async { execute!(db.writer(), "CREATE TABLE large AS SELECT zeroblob(1000000)") },
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
    async fn a_statement_does_not_run_if_its_caller_gave_up_before() {
        let (_directory, db) = open().await;
        let tx = db.begin().await.unwrap();
        let abandoned = async { execute!(db.writer(), INSERT, 1) };
        assert!(futures_util::FutureExt::now_or_never(abandoned).is_none());
        let (next, committed) = tokio::join!(async { execute!(db.writer(), INSERT, 2) }, tx.commit());
        committed.unwrap();
        assert_eq!(next.unwrap(), 1);
        assert_eq!(count(&db).await, 1);
    }
}
