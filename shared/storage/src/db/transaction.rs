//! Transactions.

use super::connector::EngineConnection;
use super::lease::Lease;
use super::place::Place;
use super::traced::traced;
use super::{Db, Engine, Error, Executor, SqliteConnections, SqliteExecutor};
use futures_util::future::BoxFuture;
use sqlx::{PgConnection, SqliteConnection};
use tokio::runtime::Handle;

/// A transaction that is rolled back if it is dropped without [`commit`](Tx::commit). On SQLite it is `BEGIN
/// IMMEDIATE` on the writer, on PostgreSQL it has the isolation level READ COMMITTED.
pub struct Tx {
    engine: Engine<Open<SqliteConnection>, Open<PgConnection>>,
    after_commit: Vec<Box<dyn FnOnce() + Send + Sync>>,
}

/// The place where a write runs.
#[derive(Debug)]
pub enum WriteTarget<'a> {
    /// Each statement takes effect on its own.
    Db(&'a Db),
    /// The statements are part of this transaction.
    Tx(&'a mut Tx),
}

impl WriteTarget<'_> {
    /// Returns where the next statement runs.
    pub fn on(&mut self) -> Executor<'_> {
        match self {
            Self::Db(db) => db.writer(),
            Self::Tx(tx) => tx.on(),
        }
    }
}

/// A connection with an open transaction; `None` after the commit.
struct Open<C: EngineConnection>(Option<Lease<C>>);

impl Tx {
    /// Begins a transaction for writes.
    pub(super) async fn begin(db: &Db) -> Result<Self, Error> {
        let engine = match &db.connections {
            Engine::Sqlite(SqliteConnections { writer, .. }) => {
                Engine::Sqlite(Open::begin(writer.acquire().await?, "BEGIN IMMEDIATE").await?)
            }
            Engine::Postgres(pool) => Engine::Postgres(Open::begin(pool.acquire().await?, "BEGIN").await?),
        };
        Ok(Self {
            engine,
            after_commit: Vec::new(),
        })
    }

    /// Returns the connection that runs the statements of this transaction.
    pub fn on(&mut self) -> Executor<'_> {
        match &mut self.engine {
            Engine::Sqlite(open) => Engine::Sqlite(SqliteExecutor::Connection(open.on())),
            Engine::Postgres(open) => Engine::Postgres(open.on()),
        }
    }

    /// Takes the advisory lock `number` until the transaction ends. Returns false at once if another
    /// transaction holds it. Always succeeds on SQLite, where the transaction already excludes all other
    /// writers.
    pub async fn try_lock(&mut self, number: i64) -> Result<bool, Error> {
        if let Engine::Sqlite(_) = self.engine {
            return Ok(true);
        }
        let locked = crate::fetch_one!(self.on(), (bool,), "SELECT pg_try_advisory_xact_lock($1)", number);
        locked.map(|(is_locked,)| is_locked)
    }

    /// Commits the transaction, then runs the hooks of [`after_commit`](Self::after_commit) in the order of
    /// their addition. A failed commit runs none.
    pub fn commit(self) -> BoxFuture<'static, Result<(), Error>> {
        let system = self.engine.choose("sqlite", "postgresql");
        let commit = async move {
            match self.engine {
                Engine::Sqlite(open) => open.commit().await?,
                Engine::Postgres(open) => open.commit().await?,
            }
            self.after_commit.into_iter().for_each(|hook| hook());
            Ok::<_, Error>(())
        };
        traced(system, module_path!(), "COMMIT", Box::pin(commit))
    }

    /// Adds a hook that runs after the commit. It does not run after a rollback.
    pub fn after_commit(&mut self, hook: impl FnOnce() + Send + Sync + 'static) {
        self.after_commit.push(Box::new(hook));
    }
}

impl<C: EngineConnection> Open<C> {
    async fn begin(lease: Lease<C>, sql: &'static str) -> Result<Self, Error> {
        // The value exists before the statement runs, so that its `drop` cleans up if the statement does not
        // complete.
        let mut open = Self(None);
        open.0.insert(lease).control(sql).await?;
        Ok(open)
    }

    fn on(&mut self) -> Place<'_, C> {
        Place::Transaction(self.0.as_mut())
    }

    async fn commit(mut self) -> Result<(), Error> {
        if let Some(lease) = &mut self.0 {
            lease.control("COMMIT").await?;
        }
        self.0 = None;
        Ok(())
    }
}

impl<C: EngineConnection> Drop for Open<C> {
    fn drop(&mut self) {
        // A lease that is dropped in the middle of a statement closes its connection, and the server then
        // rolls back.
        let Some(mut lease) = self.0.take().filter(|lease| !lease.is_busy()) else {
            return;
        };
        match Handle::try_current() {
            Ok(runtime) => {
                runtime.spawn(async move {
                    // Without a rollback, only closing the connection ends the transaction.
                    if lease.control("ROLLBACK").await.is_err() {
                        lease.close();
                    }
                });
            }
            Err(_) => lease.close(),
        }
    }
}

impl std::fmt::Debug for Tx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tx").finish_non_exhaustive()
    }
}
