//! The database: SQLite or PostgreSQL, with one SQL text for both wherever that costs no round trip.
//!
//! Statements are constants declared with [`sql!`](crate::sql) and run with [`fetch_one!`](crate::fetch_one),
//! [`fetch_optional!`](crate::fetch_optional), [`fetch_all!`](crate::fetch_all) and
//! [`execute!`](crate::execute) on [`Db::reader`], [`Db::writer`] or [`Tx::on`]. A test prepares every
//! statement on both engines.

mod array;
mod batch;
mod connector;
pub mod copy;
mod copy_mark;
mod error;
mod file;
mod lease;
mod macros;
mod migrations;
mod place;
mod pool;
mod postgres_statement;
mod pruning;
mod server;
mod sqlite_statement;
mod statements;
mod traced;
mod transaction;
mod used_ids;
mod value;
mod watch;
mod write_queue;

pub use array::Array;
pub use batch::BatchCall;
use batch::Batches;
use connector::create_private_file;
pub use error::Error;
pub use file::{CheckedFile, FileError, Restoration, STATEMENTS as FILE_STATEMENTS};
pub use migrations::{PendingMigration, STATEMENTS as MIGRATION_STATEMENTS};
pub use place::Place;
pub use pool::{Pool, use_connections_of_thread};
pub use postgres_statement::PostgresQuery;
pub use pruning::{STATEMENTS as LEASE_STATEMENTS, change_in_batches};
pub use server::{STATEMENTS as SERVER_STATEMENTS, Server};
pub use sqlite_statement::SqliteQuery;
#[doc(hidden)]
pub use sqlx;
pub use statements::SqliteExecutor;
#[doc(hidden)]
pub use statements::{decode_all, decode_optional, require_row};
#[doc(hidden)]
pub use traced::traced;
pub use transaction::{Tx, WriteTarget};
pub use used_ids::STATEMENTS as ID_STATEMENTS;
pub use value::Value;
pub use watch::{Version, Watch};
pub use write_queue::WriteQueue;

use foundation::time_limits;
use futures_util::future::BoxFuture;
use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{Executor as _, PgConnection, SqlSafeStr, SqliteConnection};
use std::str::FromStr;
use std::time::Duration;

/// The time limit of a statement on PostgreSQL, whose server may stop responding without closing the
/// connection. The factor of [`time_limits`] multiplies it. With the wait for a connection, a request fails
/// within five seconds if the factor is 1.
const POSTGRES_STATEMENT_TIMEOUT: Duration = Duration::from_millis(2_500);
/// The settings of the query planner for each PostgreSQL connection: a statement finds the rows of every
/// table, also of a join, through the most selective index. The planner's own choice is another one where it
/// expects many rows of a parameter, or where the plan of a prepared statement, which a connection keeps, was
/// made while the table was small. The migrations declare the number of values of the columns by which lists
/// are selected (`n_distinct`), so that the planner expects few rows of each. A bitmap scan loses the order of
/// the index. The connection makes one plan for each statement, whatever its parameters.
/// The compiler (`jit`) takes longer than such a statement.
pub const POSTGRES_READS_BY_INDEX: [(&str, &str); 6] = [
    ("plan_cache_mode", "force_generic_plan"),
    ("enable_seqscan", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
    ("enable_bitmapscan", "off"),
    ("jit", "off"),
];
/// The number of SQLite connections that read.
const SQLITE_READERS: usize = 4;
/// The least number of PostgreSQL connections in a share, if there are that many, so that a slow statement
/// does not hold up the other requests of its thread.
const LEAST_CONNECTIONS_OF_SHARE: usize = 4;

/// A value for the engine in use: `S` on SQLite, `P` on PostgreSQL.
#[derive(Clone, Copy, Debug)]
pub enum Engine<S, P> {
    /// The value for SQLite.
    Sqlite(S),
    /// The value for PostgreSQL.
    Postgres(P),
}

/// The place where a statement runs: a pool, the queue of writes, or a transaction.
pub type Executor<'a> = Engine<SqliteExecutor<'a>, Place<'a, PgConnection>>;

/// The database. Clones share its connections.
#[derive(Clone, Debug)]
pub struct Db {
    connections: Engine<SqliteConnections, Pool<PgConnection>>,
    batches: Batches,
}

/// The connections to an SQLite file. One writes, so that transactions queue in its pool and single
/// statements in `queue`, instead of failing with `SQLITE_BUSY`. Others read at the same time (WAL).
#[derive(Clone, Debug)]
struct SqliteConnections {
    /// The pool of the only connection that writes.
    writer: Pool<SqliteConnection>,
    /// The single statements that wait for that connection.
    queue: WriteQueue,
    /// The pool of the connections that read.
    readers: Pool<SqliteConnection>,
}

/// A valid database URL: `sqlite:PATH` or `postgres://…`.
#[derive(Clone)]
pub struct DatabaseUrl(Engine<Box<SqliteConnectOptions>, Box<PgConnectOptions>>);

impl<S, P> Engine<S, P> {
    /// Returns the value for this engine, such as one of two statements with the same parameters and columns.
    pub fn choose<T>(&self, sqlite: T, postgres: T) -> T {
        match self {
            Self::Sqlite(_) => sqlite,
            Self::Postgres(_) => postgres,
        }
    }
}

impl Db {
    /// Connects to the database, on PostgreSQL with at most `postgres_connections` connections, which are
    /// divided among `threads` threads. Creates a missing SQLite file with mode 0600. Fails if that is not
    /// possible, or if no connection is accepted within the time limit of a wait for a connection.
    pub async fn open(url: &DatabaseUrl, postgres_connections: u32, threads: usize) -> Result<Self, Error> {
        let connections = match &url.0 {
            Engine::Sqlite(options) => {
                create_private_file(options.get_filename())?;
                let writer = Pool::new(&**options, 1, 1, None)?;
                // Creates the journal, without which a connection that only reads cannot open the file.
                writer.acquire().await?;
                let readers = Pool::new(&(**options).clone().read_only(true), SQLITE_READERS, 1, None)?;
                let queue = WriteQueue::start(writer.clone())?;
                Engine::Sqlite(SqliteConnections {
                    writer,
                    queue,
                    readers,
                })
            }
            Engine::Postgres(options) => {
                let limit = Some(time_limits::multiplied(POSTGRES_STATEMENT_TIMEOUT));
                let connections = usize::try_from(postgres_connections).unwrap_or(usize::MAX);
                let shares = threads.min(connections / LEAST_CONNECTIONS_OF_SHARE).max(1);
                let pool = Pool::new(&**options, connections, shares, limit)?;
                pool.acquire().await?;
                Engine::Postgres(pool)
            }
        };
        Ok(Self {
            connections,
            batches: Batches::default(),
        })
    }

    /// Returns the engine in use.
    pub const fn engine(&self) -> Engine<(), ()> {
        match self.connections {
            Engine::Sqlite(_) => Engine::Sqlite(()),
            Engine::Postgres(_) => Engine::Postgres(()),
        }
    }

    /// Applies the missing migrations. Fails if the database has a migration that this program does not know
    /// or that differs from the program's own.
    pub async fn migrate(&self) -> Result<(), Error> {
        match &self.connections {
            Engine::Sqlite(SqliteConnections { writer, .. }) => {
                let mut lease = writer.acquire().await?;
                let result = migrations::SQLITE.run(lease.begin_statement()?).await;
                lease.end_statement(result.map_err(Error::from))
            }
            Engine::Postgres(pool) => {
                let mut lease = pool.acquire().await?;
                let result = migrations::POSTGRES.run(lease.begin_statement()?).await;
                lease.end_statement(result.map_err(Error::from))
            }
        }
    }

    /// Returns where statements run that only read.
    pub fn reader(&self) -> Executor<'_> {
        match &self.connections {
            Engine::Sqlite(SqliteConnections { readers, .. }) => {
                Engine::Sqlite(SqliteExecutor::Connection(Place::Pool(readers)))
            }
            Engine::Postgres(pool) => Engine::Postgres(Place::Pool(pool)),
        }
    }

    /// Returns where single statements run that write. Each takes effect on its own; on SQLite, several may
    /// share a commit (see [`WriteQueue`]).
    pub fn writer(&self) -> Executor<'_> {
        match &self.connections {
            Engine::Sqlite(SqliteConnections { queue, .. }) => Engine::Sqlite(SqliteExecutor::Writes(queue)),
            Engine::Postgres(pool) => Engine::Postgres(Place::Pool(pool)),
        }
    }

    /// Begins a transaction for writes.
    pub fn begin(&self) -> BoxFuture<'_, Result<Tx, Error>> {
        let system = self.engine().choose("sqlite", "postgresql");
        traced(system, module_path!(), "BEGIN", Box::pin(Tx::begin(self)))
    }

    /// Returns a [`Watch`], which detects commits by any process.
    pub fn watch(&self) -> Watch {
        Watch::new(self)
    }

    /// Prepares a statement without running it. Fails if it is not valid for this engine and schema.
    pub async fn prepare(&self, sql: impl SqlSafeStr) -> Result<(), Error> {
        let sql = sql.into_sql_str();
        match &self.connections {
            Engine::Sqlite(SqliteConnections { writer, .. }) => {
                let prepare =
                    async |connection: &mut SqliteConnection| connection.prepare(sql).await.map(|_| ());
                writer.acquire().await?.run(prepare).await
            }
            Engine::Postgres(pool) => {
                let prepare = async |connection: &mut PgConnection| connection.prepare(sql).await.map(|_| ());
                pool.acquire().await?.run(prepare).await
            }
        }
    }

    /// Checks that the database responds.
    pub async fn ping(&self) -> Result<(), Error> {
        if let Engine::Sqlite(SqliteConnections { queue, .. }) = &self.connections {
            queue.check()?;
        }
        crate::fetch_one!(self.reader(), (i64,), "SELECT CAST(1 AS BIGINT)").map(|_| ())
    }

    /// Closes the idle connections, and those in use as soon as their statements complete.
    pub async fn close(&self) {
        match &self.connections {
            Engine::Sqlite(SqliteConnections { writer, readers, .. }) => {
                readers.close().await;
                writer.close().await;
            }
            Engine::Postgres(pool) => pool.close().await,
        }
    }
}

impl FromStr for DatabaseUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            let options = PgConnectOptions::from_str(text).map_err(|error| error.to_string())?;
            let options = options
                .application_name("latchkey")
                .options(POSTGRES_READS_BY_INDEX);
            return Ok(Self(Engine::Postgres(Box::new(options))));
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

foundation::opaque_debug!(DatabaseUrl);
