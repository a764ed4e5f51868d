//! Connections on loan from a pool, and the beginning and the end of their statements.

use super::Error;
use super::connector::{Connector, EngineConnection};
use deadpool::managed::Object;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// A connection on loan from its pool.
#[derive(Debug)]
pub struct Lease<C: EngineConnection> {
    pooled: Object<Connector<C>>,
    statement_timeout: Option<Duration>,
}

impl<C: EngineConnection> Lease<C> {
    pub(super) const fn new(pooled: Object<Connector<C>>, statement_timeout: Option<Duration>) -> Self {
        Self {
            pooled,
            statement_timeout,
        }
    }

    /// Runs a statement. Fails with [`Error::Unavailable`] at the time limit.
    pub(super) async fn run<T>(
        &mut self,
        statement: impl AsyncFnOnce(&mut C) -> sqlx::Result<T>,
    ) -> Result<T, Error> {
        let limit = self.statement_timeout;
        let statement = statement(self.begin_statement()?);
        let result = match limit {
            Some(limit) => match timeout(limit, statement).await {
                Ok(result) => result.map_err(Error::from),
                Err(_) => Err(Error::statement_timed_out()),
            },
            None => statement.await.map_err(Error::from),
        };
        self.end_statement(result)
    }

    /// Returns the connection for one statement without a time limit, whose result goes to
    /// [`end_statement`](Self::end_statement). Fails if the connection broke.
    pub(super) fn begin_statement(&mut self) -> Result<&mut C, Error> {
        self.pooled.is_busy = true;
        let connection = self.pooled.connection.as_mut();
        connection.ok_or(Error::Unavailable(sqlx::Error::PoolClosed))
    }

    /// Notes the result of a statement and returns it. Closes the connection after an error that broke it.
    pub(super) fn end_statement<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        if result.as_ref().is_err_and(Error::breaks_connection) {
            self.close();
        } else {
            self.pooled.is_busy = false;
            self.pooled.used_at = Instant::now();
        }
        result
    }

    /// Runs a statement of transaction control, such as `COMMIT`.
    pub(super) async fn control(&mut self, sql: &'static str) -> Result<(), Error> {
        self.run(async |connection| connection.control(sql).await).await
    }

    /// Returns whether a statement runs. If the lease is dropped then, its connection is closed.
    pub(super) fn is_busy(&self) -> bool {
        self.pooled.is_busy
    }

    /// Closes the connection without waiting for the server. The other connections of the pool are tested
    /// before their next use.
    pub(super) fn close(&mut self) {
        self.pooled.connection = None;
        if let Some(pool) = Object::pool(&self.pooled) {
            pool.manager().doubt_idle_connections();
        }
    }
}

impl<C: EngineConnection> Drop for Lease<C> {
    fn drop(&mut self) {
        if self.pooled.is_busy {
            self.pooled.connection = None;
        }
    }
}
