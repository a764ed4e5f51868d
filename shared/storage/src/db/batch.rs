//! Batches: calls of one kind that run as one statement.
//!
//! A statement costs both sides messages and wake-ups, whether it concerns one row or ten. A thread therefore
//! collects the calls of the requests that it has input for, and runs them together. A call that no other one
//! joins runs at once. The calls of the process that change one row run one batch after the other.

mod queue;

use super::{Db, Error};
use foundation::sync::lock;
use foundation::time_limits::multiplied;
use opentelemetry::Context;
use opentelemetry::trace::FutureExt as _;
use queue::{Caller, Waiting};
use std::sync::Arc;
use std::time::Duration;
use std::{mem, slice};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tracing::{Instrument as _, Span};

pub use queue::BatchCall;
pub(super) use queue::Batches;

/// The longest time that a caller waits for its answer, also if batches before it fail one after the other.
const MAX_WAIT: Duration = Duration::from_secs(5);

impl Db {
    /// Runs a call in a batch with the others of its type. It does not run if the caller gives up before its
    /// start. If the database rejects the statement of several calls, each runs again alone, so that a call
    /// fails for its own values only.
    pub async fn call<C: BatchCall>(&self, call: C) -> Result<C::Answer, Error> {
        let (caller, answer) = oneshot::channel();
        let waiting = self.batches.queue_for(&call);
        lock(&waiting).calls.push((call, caller));
        start_task(self, &waiting, Span::current(), Context::current());
        match timeout(multiplied(MAX_WAIT), answer).await {
            Ok(answer) => answer.unwrap_or_else(|_| Err(Error::batch_failed())),
            Err(_) => Err(Error::timed_out()),
        }
    }
}

/// Starts a task for the waiting calls that can run now, unless there is one. It runs after the tasks that
/// are ready now, so their calls join, and it goes on if its caller gives up.
fn start_task<C: BatchCall>(db: &Db, waiting: &Waiting<C>, span: Span, trace: Context) {
    let mut queue = lock(waiting);
    if queue.has_free_call() && !mem::replace(&mut queue.has_task, true) {
        let run = run_next(db.clone(), Arc::clone(waiting)).with_context(trace);
        tokio::spawn(run.instrument(span));
    }
}

/// Runs the next batch of the waiting calls.
async fn run_next<C: BatchCall>(db: Db, waiting: Waiting<C>) {
    let batch = {
        let mut queue = lock(&waiting);
        queue.has_task = false;
        queue.take()
    };
    start_task(&db, &waiting, Span::none(), Context::new());
    let calls = batch.iter();
    let rows = calls.filter_map(|(call, _)| call.contended_row()).collect();
    let _busy = BusyRows {
        db: db.clone(),
        waiting,
        rows,
    };
    run_batch(&db, batch).await;
}

/// Runs calls, and gives each caller that still waits its answer.
async fn run_batch<C: BatchCall>(db: &Db, batch: Vec<(C, Caller<C>)>) {
    let still_waited_for = batch.into_iter().filter(|(_, caller)| !caller.is_closed());
    let (calls, callers): (Vec<C>, Vec<Caller<C>>) = still_waited_for.unzip();
    if calls.is_empty() {
        return;
    }
    let answers = match C::run(db, &calls).await {
        Err(error) if calls.len() > 1 && error.rejects_statement() => {
            tracing::warn!(%error, "the database rejected a batch, so its calls run alone");
            return run_alone(db, calls, callers).await;
        }
        Err(error) => {
            for caller in callers {
                let _ = caller.send(Err(error.of_batch()));
            }
            return;
        }
        Ok(answers) => answers,
    };
    for (caller, answer) in callers.into_iter().zip(answers) {
        // The caller may have stopped waiting.
        let _ = caller.send(Ok(answer));
    }
}

/// Runs the calls of a rejected batch one by one, except those whose callers no longer wait. After an error
/// that concerns every call, such as a lost connection, the remaining calls fail with it too.
async fn run_alone<C: BatchCall>(db: &Db, calls: Vec<C>, callers: Vec<Caller<C>>) {
    let mut failure: Option<Error> = None;
    for (call, caller) in calls.into_iter().zip(callers) {
        if caller.is_closed() {
            continue;
        }
        let answer = match &failure {
            Some(error) => Err(error.of_batch()),
            None => C::run(db, slice::from_ref(&call)).await.and_then(only_one),
        };
        if let Err(error) = &answer
            && !error.rejects_statement()
        {
            failure = Some(error.of_batch());
        }
        let _ = caller.send(answer);
    }
}

fn only_one<T>(answers: Vec<T>) -> Result<T, Error> {
    answers.into_iter().next().ok_or_else(Error::batch_failed)
}

/// The busy rows of a batch. Dropping frees them, and starts the task of the calls that wait for them.
struct BusyRows<C: BatchCall> {
    db: Db,
    waiting: Waiting<C>,
    rows: Vec<i64>,
}

impl<C: BatchCall> Drop for BusyRows<C> {
    fn drop(&mut self) {
        let mut queue = lock(&self.waiting);
        for row in &self.rows {
            queue.busy_rows.remove(row);
        }
        drop(queue);
        // There is no runtime while the process ends.
        if Handle::try_current().is_ok() {
            start_task(&self.db, &self.waiting, Span::none(), Context::new());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::Array;
    use crate::{execute, fetch_all, fetch_one};
    use futures_util::FutureExt as _;
    use futures_util::future::join_all;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tempfile::TempDir;
    use tokio::sync::Semaphore;

    /// The call that inserts a number and returns its double. All calls of a statement fail together.
    struct Double(i64);

    static STATEMENTS: AtomicUsize = AtomicUsize::new(0);

    impl BatchCall for Double {
        type Answer = i64;

        async fn run(db: &Db, calls: &[Self]) -> Result<Vec<i64>, Error> {
            const INSERT: &str = "INSERT INTO numbers SELECT value FROM json_each($1) RETURNING id * 2";
            STATEMENTS.fetch_add(1, Ordering::Relaxed);
            let numbers = Array::of(calls, |Self(number)| *number);
            let doubles = fetch_all!(db.writer(), (i64,), INSERT, numbers)?;
            Ok(doubles.into_iter().map(|(double,)| double).collect())
        }
    }

    async fn open() -> (TempDir, Db) {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("test.db").display());
        let db = Db::open(&url.parse().unwrap(), 1, 1).await.unwrap();
        execute!(
            db.writer(),
            "CREATE TABLE numbers (id INTEGER PRIMARY KEY CHECK (id < 1000))"
        )
        .unwrap();
        (directory, db)
    }

    async fn count(db: &Db) -> i64 {
        fetch_one!(db.reader(), (i64,), "SELECT count(*) FROM numbers")
            .unwrap()
            .0
    }

    // One test, because the statements are counted in a static.
    #[tokio::test]
    async fn concurrent_calls_share_a_statement_and_fail_alone() {
        let (_directory, db) = open().await;
        let answers = join_all((0..100).map(|number| db.call(Double(number)))).await;
        let doubles: Vec<i64> = answers.into_iter().map(Result::unwrap).collect();
        assert_eq!(doubles, Vec::from_iter((0..100).map(|number| 2 * number)));
        assert_eq!(STATEMENTS.swap(0, Ordering::Relaxed), 2, "64 calls and 36");

        let answers = join_all([100, 7, 101, 1000].map(|number| db.call(Double(number)))).await;
        assert_eq!(*answers[0].as_ref().unwrap(), 200);
        assert!(matches!(answers[1], Err(Error::Conflict)), "{answers:?}");
        assert_eq!(*answers[2].as_ref().unwrap(), 202);
        assert!(matches!(answers[3], Err(Error::Failed(_))), "{answers:?}");
        assert_eq!(
            STATEMENTS.swap(0, Ordering::Relaxed),
            5,
            "one of four, and one for each"
        );

        assert!(
            db.call(Double(102)).now_or_never().is_none(),
            "the caller gives up"
        );
        assert_eq!(db.call(Double(103)).await.unwrap(), 206);
        assert_eq!(STATEMENTS.swap(0, Ordering::Relaxed), 1);
        assert_eq!(count(&db).await, 103);
    }

    /// The call that changes this row, and returns how many calls its batch has. Row 1 waits for [`PERMITS`].
    struct Change(i64);

    static PERMITS: Semaphore = Semaphore::const_new(0);

    impl BatchCall for Change {
        type Answer = usize;

        fn contended_row(&self) -> Option<i64> {
            Some(self.0)
        }

        async fn run(_: &Db, calls: &[Self]) -> Result<Vec<usize>, Error> {
            if calls[0].0 == 1 {
                PERMITS.acquire().await.unwrap().forget();
            }
            Ok(vec![calls.len(); calls.len()])
        }
    }

    #[tokio::test]
    async fn calls_that_change_a_busy_row_are_in_the_next_batch() {
        let (_directory, db) = open().await;
        let call = |row| {
            let db = db.clone();
            tokio::spawn(async move { db.call(Change(row)).await.unwrap() })
        };
        let first = call(1);
        tokio::task::yield_now().await;
        let of_row_1 = [1; 10].map(call);
        assert_eq!(call(2).await.unwrap(), 1);
        PERMITS.add_permits(1);
        assert_eq!(first.await.unwrap(), 1);
        PERMITS.add_permits(1);
        for later in of_row_1 {
            assert_eq!(later.await.unwrap(), 10);
        }
    }

    #[tokio::test]
    async fn the_calls_of_an_unavailable_database_fail_together() {
        let (_directory, db) = open().await;
        db.close().await;
        let answers = join_all((0..3).map(|number| db.call(Find(number)))).await;
        for answer in answers {
            assert!(matches!(answer, Err(Error::Unavailable(_))), "{answer:?}");
        }
    }

    /// The call that reads a number.
    struct Find(i64);

    impl BatchCall for Find {
        type Answer = i64;

        async fn run(db: &Db, calls: &[Self]) -> Result<Vec<i64>, Error> {
            const FIND: &str = "SELECT id FROM numbers WHERE id IN (SELECT value FROM json_each($1))";
            let numbers = Array::of(calls, |Self(number)| *number);
            let found = fetch_all!(db.reader(), (i64,), FIND, numbers)?;
            Ok(found.into_iter().map(|(number,)| number).collect())
        }
    }
}
