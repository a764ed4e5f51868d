//! The connections of a pool: how they are opened, and tested if there is a reason to doubt them.

use super::sqlite_statement::run_on_sqlite;
use deadpool::managed::{Manager, Metrics, RecycleResult};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection, PgConnection, SqliteConnection};
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The time after which an idle connection is tested before its next use, because a firewall or a failover
/// may have ended it without notice.
const TEST_AFTER_IDLE: Duration = Duration::from_secs(30);

/// A connection to one of the two engines.
pub trait EngineConnection: Connection + 'static {
    /// Runs a statement of transaction control, such as `COMMIT`.
    fn control(&mut self, sql: &'static str) -> impl Future<Output = sqlx::Result<()>> + Send;
}

/// Opens and tests the connections of a share.
#[derive(Debug)]
pub(super) struct Connector<C: EngineConnection> {
    pub(super) options: C::Options,
    /// The number of connections of the pool that broke so far. A change makes the idle connections doubtful.
    pub(super) broken: Arc<AtomicU64>,
}

/// A connection and the facts that decide whether it needs a test before its next use.
#[derive(Debug)]
pub(super) struct Pooled<C> {
    /// `None` if the connection broke and was closed.
    pub(super) connection: Option<C>,
    /// Whether a statement runs.
    pub(super) is_busy: bool,
    /// The value of [`Connector::broken`] when the connection was last known to work.
    broken_before: u64,
    pub(super) used_at: Instant,
}

impl EngineConnection for SqliteConnection {
    async fn control(&mut self, sql: &'static str) -> sqlx::Result<()> {
        run_on_sqlite(self, sqlx::query(sql)).await.map(|_| ())
    }
}

impl EngineConnection for PgConnection {
    async fn control(&mut self, sql: &'static str) -> sqlx::Result<()> {
        sqlx::raw_sql(sql).execute(self).await.map(|_| ())
    }
}

impl<C: EngineConnection> Connector<C> {
    /// Makes the pool test its idle connections before their next use.
    pub(super) fn doubt_idle_connections(&self) {
        self.broken.fetch_add(1, Ordering::Relaxed);
    }
}

/// Creates a missing SQLite file with mode 0600, which SQLite copies to its journal files.
pub(super) fn create_private_file(file: &Path) -> sqlx::Result<()> {
    let mut options = OpenOptions::new();
    match options.write(true).create_new(true).mode(0o600).open(file) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error.into()),
        _ => Ok(()),
    }
}

/// Opens an SQLite file as it is. The options of a [`DatabaseUrl`](super::DatabaseUrl) would create it and
/// change its journal mode.
pub(super) async fn connect_to_file(file: &Path) -> sqlx::Result<SqliteConnection> {
    let options = SqliteConnectOptions::new().filename(file);
    SqliteConnection::connect_with(&options).await
}

impl<C: EngineConnection> Manager for Connector<C> {
    type Type = Pooled<C>;
    type Error = sqlx::Error;

    async fn create(&self) -> sqlx::Result<Pooled<C>> {
        let broken_before = self.broken.load(Ordering::Relaxed);
        Ok(Pooled {
            connection: Some(self.options.connect().await?),
            is_busy: false,
            broken_before,
            used_at: Instant::now(),
        })
    }

    /// Fails if the connection must not be used again. The pool then drops it and tries the next one.
    async fn recycle(&self, pooled: &mut Pooled<C>, _: &Metrics) -> RecycleResult<sqlx::Error> {
        let connection = pooled.connection.as_mut().ok_or(sqlx::Error::PoolClosed)?;
        let broken = self.broken.load(Ordering::Relaxed);
        if pooled.broken_before != broken || pooled.used_at.elapsed() > TEST_AFTER_IDLE {
            connection.ping().await?;
            pooled.broken_before = broken;
        }
        Ok(())
    }
}
