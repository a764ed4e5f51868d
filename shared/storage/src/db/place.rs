//! The places where statements run.

use super::Error;
use super::connector::EngineConnection;
use super::lease::Lease;
use super::pool::Pool;

/// The place where a statement runs.
#[derive(Debug)]
pub enum Place<'a, C: EngineConnection> {
    /// Any connection of a pool. The statement commits by itself.
    Pool(&'a Pool<C>),
    /// The connection of a transaction; `None` if the transaction has ended.
    Transaction(Option<&'a mut Lease<C>>),
}

impl<C: EngineConnection> Place<'_, C> {
    /// Runs a statement as [`Lease::run`] does. Fails if the pool has no connection.
    pub(super) async fn run<T>(
        self,
        statement: impl AsyncFnOnce(&mut C) -> sqlx::Result<T>,
    ) -> Result<T, Error> {
        match self {
            Self::Pool(pool) => pool.acquire().await?.run(statement).await,
            Self::Transaction(Some(lease)) => lease.run(statement).await,
            Self::Transaction(None) => Err(Error::Unavailable(sqlx::Error::PoolClosed)),
        }
    }
}
