//! Pools of connections that cost no round trip of their own.
//!
//! A connection is tested before its use only if there is a reason to doubt it: it was idle for long, or
//! another connection of the pool broke since its last use. A connection whose user gives up in the middle of
//! a statement is closed, because the next user would have to wait for the end of that statement.

use super::Error;
use super::connector::{Connector, EngineConnection};
use super::lease::Lease;
use deadpool::managed::{self, PoolError};
use foundation::time_limits;
use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection as _, PgConnection};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use tokio::time::timeout;

/// The longest wait for a connection, which the factor of [`time_limits`] multiplies. After it, the request
/// fails with 503.
pub(super) const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(2);
/// The time that all idle connections together have to close.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

thread_local! {
    /// The number of the current thread among those that serve requests.
    static THREAD: Cell<usize> = const { Cell::new(0) };
}

/// Makes the current thread use the connections of the thread with this number. A thread that never calls
/// this has the number 0.
pub fn use_connections_of_thread(number: usize) {
    THREAD.set(number);
}

/// Opens a connection to PostgreSQL outside of a pool. Fails after [`ACQUIRE_TIMEOUT`].
pub(super) async fn connect_to_server(options: &PgConnectOptions) -> Result<PgConnection, Error> {
    let connect = PgConnection::connect_with(options);
    let connected = timeout(time_limits::multiplied(ACQUIRE_TIMEOUT), connect).await;
    Ok(connected.map_err(|_| Error::timed_out())??)
}

/// A pool of connections. Clones share them.
#[derive(Debug)]
pub struct Pool<C: EngineConnection> {
    /// Each thread uses the connections of one share. The input and output of a connection are polled by the
    /// thread that opened it, so another thread would wait for two wake-ups in each statement.
    shares: Arc<[managed::Pool<Connector<C>>]>,
    statement_timeout: Option<Duration>,
}

impl<C: EngineConnection> Pool<C> {
    /// Returns a pool of at most `max_connections` connections in `shares` shares, each opened when it is
    /// first needed. `statement_timeout` is the time limit of every statement; `None` means no limit.
    pub(super) fn new(
        options: &C::Options,
        max_connections: usize,
        shares: usize,
        statement_timeout: Option<Duration>,
    ) -> Result<Self, Error> {
        let broken = Arc::<AtomicU64>::default();
        let share = |number| {
            let connector = Connector {
                options: options.clone(),
                broken: Arc::clone(&broken),
            };
            // The connection that was used last is the most likely to work, and the others may become idle.
            managed::Pool::builder(connector)
                .max_size((max_connections + number) / shares)
                .queue_mode(managed::QueueMode::Lifo)
                .build()
        };
        let shares: Result<Arc<[_]>, _> = (0..shares).map(share).collect();
        Ok(Self {
            shares: shares.map_err(|error| Error::Failed(sqlx::Error::Configuration(error.into())))?,
            statement_timeout,
        })
    }

    /// Returns the share of the current thread.
    fn share(&self) -> &managed::Pool<Connector<C>> {
        &self.shares[THREAD.get() % self.shares.len()]
    }

    /// Returns the options with which the connections are opened.
    pub(super) fn options(&self) -> &C::Options {
        &self.share().manager().options
    }

    /// Takes a connection out of the pool, or opens one. Fails after [`ACQUIRE_TIMEOUT`].
    pub(super) async fn acquire(&self) -> Result<Lease<C>, Error> {
        let acquired = timeout(time_limits::multiplied(ACQUIRE_TIMEOUT), self.share().get()).await;
        match acquired.map_err(|_| Error::timed_out())? {
            Ok(pooled) => Ok(Lease::new(pooled, self.statement_timeout)),
            Err(PoolError::Backend(error)) => Err(error.into()),
            Err(_) => Err(Error::Unavailable(sqlx::Error::PoolClosed)),
        }
    }

    /// Closes the idle connections, and those in use as soon as they are returned. No connection can be
    /// acquired after this call.
    pub(super) async fn close(&self) {
        let mut idle = Vec::new();
        for share in &*self.shares {
            idle.extend(share.retain(|_, _| false).removed);
            share.close();
        }
        let close = async {
            for connection in idle.into_iter().filter_map(|pooled| pooled.connection) {
                // The connection is gone even if this fails.
                let _ = connection.close().await;
            }
        };
        let _ = timeout(CLOSE_TIMEOUT, close).await;
    }
}

impl<C: EngineConnection> Clone for Pool<C> {
    fn clone(&self) -> Self {
        Self {
            shares: Arc::clone(&self.shares),
            statement_timeout: self.statement_timeout,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlx::SqliteConnection;
    use sqlx::sqlite::SqliteConnectOptions;

    #[test]
    fn the_shares_have_all_connections_and_each_thread_has_one_share() {
        let pool: Pool<SqliteConnection> = Pool::new(&SqliteConnectOptions::new(), 10, 3, None).unwrap();
        let sizes: Vec<usize> = pool.shares.iter().map(|share| share.status().max_size).collect();
        assert_eq!(sizes, [3, 3, 4]);
        let size_of_thread = |number| {
            use_connections_of_thread(number);
            pool.share().status().max_size
        };
        assert_eq!([0, 2, 3, 5].map(size_of_thread), [3, 4, 3, 4]);
    }
}
