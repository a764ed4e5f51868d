//! The database: SQLite or PostgreSQL, one SQL text for both.
//!
//! Statements are constants made by [`sql!`](crate::sql), run by [`fetch_one!`](crate::fetch_one),
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

/// How long a request waits for a connection before it is answered 503.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(2);
/// Readers beside the one SQLite writer.
const SQLITE_READERS: u32 = 4;

/// Something that is one thing on SQLite and another on PostgreSQL.
#[derive(Clone, Debug)]
pub enum Engine<S, P> {
    /// The embedded engine.
    Sqlite(S),
    /// The server.
    Postgres(P),
}

/// Connections to the one database of this process. Cheap to clone.
#[derive(Clone, Debug)]
pub enum Db {
    /// One writer, so that writes queue here and never fail as busy; readers beside it (WAL).
    Sqlite {
        /// The one connection that writes.
        writer: SqlitePool,
        /// Connections that read.
        readers: SqlitePool,
    },
    /// A small pool: few busy connections beat many.
    Postgres(PgPool),
}

/// A transaction; dropped without [`commit`](Tx::commit) it is rolled back. `BEGIN IMMEDIATE` on the writer of
/// SQLite, READ COMMITTED on PostgreSQL.
pub struct Tx {
    engine: Engine<Transaction<'static, Sqlite>, Transaction<'static, Postgres>>,
    after_commit: Vec<Box<dyn FnOnce() + Send + Sync>>,
}

/// Where the database is, checked: `sqlite:PATH` or `postgres://…`.
#[derive(Clone)]
pub struct DatabaseUrl(Engine<Box<SqliteConnectOptions>, Box<PgConnectOptions>>);

impl Db {
    /// Opens the database; a missing SQLite file is made.
    pub async fn open(url: &DatabaseUrl, postgres_connections: u32) -> Result<Self, Error> {
        match &url.0 {
            Engine::Sqlite(options) => {
                make_private(options.get_filename())?;
                let pool = |most| {
                    SqlitePoolOptions::new()
                        .max_connections(most)
                        .acquire_timeout(ACQUIRE_TIMEOUT)
                };
                Ok(Self::Sqlite {
                    writer: pool(1).connect_with((**options).clone()).await?,
                    readers: pool(SQLITE_READERS).connect_lazy_with((**options).clone().read_only(true)),
                })
            }
            Engine::Postgres(options) => {
                // A pool that cannot connect says only that it timed out; a connection says why.
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

    /// Brings the schema up to this program's version.
    pub async fn migrate(&self) -> Result<(), Error> {
        match self {
            Self::Sqlite { writer, .. } => sqlx::migrate!("../../migrations/sqlite").run(writer).await?,
            Self::Postgres(pool) => sqlx::migrate!("../../migrations/postgres").run(pool).await?,
        }
        Ok(())
    }

    /// Where a read runs.
    pub fn reader(&self) -> Engine<&SqlitePool, &PgPool> {
        match self {
            Self::Sqlite { readers, .. } => Engine::Sqlite(readers),
            Self::Postgres(pool) => Engine::Postgres(pool),
        }
    }

    /// Where a single writing statement runs, committed by itself.
    pub fn writer(&self) -> Engine<&SqlitePool, &PgPool> {
        match self {
            Self::Sqlite { writer, .. } => Engine::Sqlite(writer),
            Self::Postgres(pool) => Engine::Postgres(pool),
        }
    }

    /// Begins a transaction that will write.
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

    /// A look at whether anything was written, by whichever process.
    pub fn watch(&self) -> Watch {
        Watch::new(self)
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), Error> {
        crate::fetch_one!(self.reader(), (i64,), "SELECT CAST(1 AS BIGINT)").map(|_| ())
    }

    /// Closes every connection, waiting for what they do.
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
    /// Where the statements of this transaction run.
    pub fn on(&mut self) -> Engine<&mut SqliteConnection, &mut PgConnection> {
        match &mut self.engine {
            Engine::Sqlite(tx) => Engine::Sqlite(tx),
            Engine::Postgres(tx) => Engine::Postgres(tx),
        }
    }

    /// Takes the lock of this number until the transaction ends, without waiting for it: false if another
    /// transaction has it. On SQLite this one has the whole database.
    pub async fn try_lock(&mut self, number: i64) -> Result<bool, Error> {
        let Engine::Postgres(tx) = &mut self.engine else {
            return Ok(true);
        };
        let (taken,) = sqlx::query_as("SELECT pg_try_advisory_xact_lock($1)")
            .bind(number)
            .fetch_one(&mut **tx)
            .await?;
        Ok(taken)
    }

    /// Commits, and then runs the hooks that were added by [`after_commit`](Self::after_commit).
    pub async fn commit(self) -> Result<(), Error> {
        match self.engine {
            Engine::Sqlite(tx) => tx.commit().await?,
            Engine::Postgres(tx) => tx.commit().await?,
        }
        self.after_commit.into_iter().for_each(|hook| hook());
        Ok(())
    }

    /// Adds a hook that runs once the transaction is committed; a rollback drops it.
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
            return Err("a database URL begins with sqlite: or postgres://".to_owned());
        }
        if text.contains(":memory:") || text.contains("mode=memory") {
            return Err("an in-memory database would be lost at the end; name a file".to_owned());
        }
        let options = SqliteConnectOptions::from_str(text)
            .map_err(|error| error.to_string())?
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            // NORMAL can lose the last commits at a power cut, and a revoked token would live again.
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

/// Makes a missing database file for this user alone; the files beside it take after it.
fn make_private(file: &Path) -> Result<(), Error> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file);
    match made {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(sqlx::Error::Io(error).into()),
        _ => Ok(()),
    }
}
