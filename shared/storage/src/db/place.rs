//! The places where statements run, each of which gives a connection for one statement.

use super::Error;
use super::connector::EngineConnection;
use super::lease::Lease;
use super::pool::Pool;
use std::ops::{Deref, DerefMut};

/// The place where a statement runs.
#[derive(Debug)]
pub enum Place<'a, C: EngineConnection> {
    /// Any connection of a pool. The statement commits by itself.
    Pool(&'a Pool<C>),
    /// The connection of a transaction; `None` if the transaction has ended.
    Transaction(Option<&'a mut Lease<C>>),
}

/// The connection for one statement.
#[derive(Debug)]
pub enum StatementLease<'a, C: EngineConnection> {
    /// On loan for this statement.
    Own(Lease<C>),
    /// On loan for a transaction.
    OfTransaction(&'a mut Lease<C>),
}

impl<'a, C: EngineConnection> Place<'a, C> {
    /// Returns the connection for one statement. Fails if the pool has none.
    pub async fn acquire(self) -> Result<StatementLease<'a, C>, Error> {
        match self {
            Self::Pool(pool) => pool.acquire().await.map(StatementLease::Own),
            Self::Transaction(lease) => {
                let lease = lease.ok_or(Error::Unavailable(sqlx::Error::PoolClosed))?;
                Ok(StatementLease::OfTransaction(lease))
            }
        }
    }
}

impl<C: EngineConnection> Deref for StatementLease<'_, C> {
    type Target = Lease<C>;

    fn deref(&self) -> &Lease<C> {
        match self {
            Self::Own(lease) => lease,
            Self::OfTransaction(lease) => lease,
        }
    }
}

impl<C: EngineConnection> DerefMut for StatementLease<'_, C> {
    fn deref_mut(&mut self) -> &mut Lease<C> {
        match self {
            Self::Own(lease) => lease,
            Self::OfTransaction(lease) => lease,
        }
    }
}
