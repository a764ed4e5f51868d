//! The database: SQLite or PostgreSQL, with one SQL text for both.
//!
//! Statements are constants declared with [`sql!`](crate::sql) and run with [`fetch_one!`](crate::fetch_one),
//! [`fetch_optional!`](crate::fetch_optional), [`fetch_all!`](crate::fetch_all) and
//! [`execute!`](crate::execute) on [`Db::reader`], [`Db::writer`] or [`Tx::on`]. A test prepares every
//! statement on both engines.

mod error;
mod macros;
mod watch;

pub use error::Error;
#[doc(hidden)]
pub use sqlx;
pub use watch::{Version, Watch};

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{
    Connection as _, PgConnection, PgPool, Postgres, Sqlite, SqliteConnection, SqlitePool, Transaction,
};
use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

/// The longest wait for a connection. After it, the request fails with 503.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(2);
/// The number of SQLite connections that read.
const SQLITE_READERS: u32 = 4;

/// A value for the engine in use: `S` on SQLite, `P` on PostgreSQL.
#[derive(Clone, Debug)]
pub enum Engine<S, P> {
    /// The value for SQLite.
    Sqlite(S),
    /// The value for PostgreSQL.
    Postgres(P),
}

/// The connections to the database. Clones share them.
#[derive(Clone, Debug)]
pub enum Db {
    /// One connection writes, so that writes queue in its pool instead of failing with `SQLITE_BUSY`. Others read at
    /// the same time (WAL).
    Sqlite {
        /// The pool of the only connection that writes.
        writer: SqlitePool,
        /// The pool of the connections that read.
        readers: SqlitePool,
    },
    /// One pool for reads and writes.
    Postgres(PgPool),
}

/// A transaction that is rolled back if it is dropped without [`commit`](Tx::commit). On SQLite it is `BEGIN IMMEDIATE`
/// on the writer, on PostgreSQL it has the isolation level READ COMMITTED.
pub struct Tx {
    engine: Engine<Transaction<'static, Sqlite>, Transaction<'static, Postgres>>,
    after_commit: Vec<Box<dyn FnOnce() + Send + Sync>>,
}

/// A valid database URL: `sqlite:PATH` or `postgres://…`.
#[derive(Clone)]
pub struct DatabaseUrl(Engine<Box<SqliteConnectOptions>, Box<PgConnectOptions>>);

impl Db {
    /// Connects to the database, on PostgreSQL with at most `postgres_connections` connections. Creates a missing
    /// SQLite file with mode 0600. Fails if that is not possible, or if no connection is accepted within 2 s.
    pub async fn open(url: &DatabaseUrl, postgres_connections: u32) -> Result<Self, Error> {
        match &url.0 {
            Engine::Sqlite(options) => {
                create_private_file(options.get_filename())?;
                let pool = |max_connections| {
                    SqlitePoolOptions::new()
                        .max_connections(max_connections)
                        .acquire_timeout(ACQUIRE_TIMEOUT)
                };
                Ok(Self::Sqlite {
                    writer: pool(1).connect_with((**options).clone()).await?,
                    readers: pool(SQLITE_READERS).connect_lazy_with((**options).clone().read_only(true)),
                })
            }
            Engine::Postgres(options) => {
                // Connects without the pool first, because the pool would report a timeout instead of the cause.
                let first = tokio::time::timeout(ACQUIRE_TIMEOUT, PgConnection::connect_with(options)).await;
                first.map_err(|_| Error::timed_out())??.close().await?;
                let pool = PgPoolOptions::new()
                    .max_connections(postgres_connections)
                    .acquire_timeout(ACQUIRE_TIMEOUT)
                    .connect_with((**options).clone())
                    .await?;
                Ok(Self::Postgres(pool))
            }
        }
    }

    /// Applies the missing migrations. Fails if the database has a migration that this program does not know or that
    /// differs from the program's own.
    pub async fn migrate(&self) -> Result<(), Error> {
        match self {
            Self::Sqlite { writer, .. } => sqlx::migrate!("../../migrations/sqlite").run(writer).await?,
            Self::Postgres(pool) => sqlx::migrate!("../../migrations/postgres").run(pool).await?,
        }
        Ok(())
    }

    /// Returns the pool for statements that only read.
    pub fn reader(&self) -> Engine<&SqlitePool, &PgPool> {
        match self {
            Self::Sqlite { readers, .. } => Engine::Sqlite(readers),
            Self::Postgres(pool) => Engine::Postgres(pool),
        }
    }

    /// Returns the pool for single statements that write. Each commits by itself.
    pub fn writer(&self) -> Engine<&SqlitePool, &PgPool> {
        match self {
            Self::Sqlite { writer, .. } => Engine::Sqlite(writer),
            Self::Postgres(pool) => Engine::Postgres(pool),
        }
    }

    /// Begins a transaction for writes.
    pub async fn begin(&self) -> Result<Tx, Error> {
        let engine = match self {
            Self::Sqlite { writer, .. } => Engine::Sqlite(writer.begin_with("BEGIN IMMEDIATE").await?),
            Self::Postgres(pool) => Engine::Postgres(pool.begin().await?),
        };
        Ok(Tx {
            engine,
            after_commit: Vec::new(),
        })
    }

    /// Returns a [`Watch`], which detects commits by any process.
    pub fn watch(&self) -> Watch {
        Watch::new(self)
    }

    /// Checks that the database responds.
    pub async fn ping(&self) -> Result<(), Error> {
        crate::fetch_one!(self.reader(), (i64,), "SELECT CAST(1 AS BIGINT)").map(|_| ())
    }

    /// Closes all connections. Waits for those in use.
    pub async fn close(&self) {
        match self {
            Self::Sqlite { writer, readers } => {
                readers.close().await;
                writer.close().await;
            }
            Self::Postgres(pool) => pool.close().await,
        }
    }
}

impl Tx {
    /// Returns the connection that runs the statements of this transaction.
    pub fn on(&mut self) -> Engine<&mut SqliteConnection, &mut PgConnection> {
        match &mut self.engine {
            Engine::Sqlite(tx) => Engine::Sqlite(tx),
            Engine::Postgres(tx) => Engine::Postgres(tx),
        }
    }

    /// Takes the advisory lock `number` until the transaction ends. Returns false at once if another transaction holds
    /// it. Always succeeds on SQLite, where the transaction already excludes all other writers.
    pub async fn try_lock(&mut self, number: i64) -> Result<bool, Error> {
        let Engine::Postgres(tx) = &mut self.engine else {
            return Ok(true);
        };
        let (is_locked,) = sqlx::query_as("SELECT pg_try_advisory_xact_lock($1)")
            .bind(number)
            .fetch_one(&mut **tx)
            .await?;
        Ok(is_locked)
    }

    /// Commits the transaction, then runs the hooks of [`after_commit`](Self::after_commit) in the order of their
    /// addition. A failed commit runs none.
    pub async fn commit(self) -> Result<(), Error> {
        match self.engine {
            Engine::Sqlite(tx) => tx.commit().await?,
            Engine::Postgres(tx) => tx.commit().await?,
        }
        self.after_commit.into_iter().for_each(|hook| hook());
        Ok(())
    }

    /// Adds a hook that runs after the commit. It does not run after a rollback.
    pub fn after_commit(&mut self, hook: impl FnOnce() + Send + Sync + 'static) {
        self.after_commit.push(Box::new(hook));
    }
}

impl std::fmt::Debug for Tx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tx").finish_non_exhaustive()
    }
}

impl FromStr for DatabaseUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            let options = PgConnectOptions::from_str(text).map_err(|error| error.to_string())?;
            return Ok(Self(Engine::Postgres(Box::new(
                options.application_name("latchkey"),
            ))));
        }
        if !text.starts_with("sqlite:") {
            return Err("a database URL must begin with sqlite: or postgres://".to_owned());
        }
        if text.contains(":memory:") || text.contains("mode=memory") {
            return Err("an in-memory database loses its data when the process ends: name a file".to_owned());
        }
        let options = SqliteConnectOptions::from_str(text)
            .map_err(|error| error.to_string())?
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            // NORMAL can lose the last commits at a power failure, which would undo revocations.
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(5));
        Ok(Self(Engine::Sqlite(Box::new(options))))
    }
}

impl std::fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DatabaseUrl(…)")
    }
}

/// Creates a missing database file with mode 0600, which SQLite copies to its journal files.
fn create_private_file(file: &Path) -> Result<(), Error> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let created = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file);
    match created {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(sqlx::Error::Io(error).into()),
        _ => Ok(()),
    }
}
