//! Whether anything was written since the last look, where the engine can tell at no cost.

use crate::db::{Db, Error};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection as _, SqliteConnection};
use std::sync::Arc;

/// The database as it stood at some moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Counts of different connections cannot be compared.
    connection: u64,
    count: i64,
}

/// A connection of its own that only watches.
#[derive(Debug)]
pub struct Watch {
    sqlite: Option<Arc<SqliteConnectOptions>>,
    connection: Option<SqliteConnection>,
    connections: u64,
}

impl Watch {
    pub(super) fn new(db: &Db) -> Self {
        Self {
            sqlite: match db {
                Db::Sqlite { readers, .. } => Some(readers.connect_options()),
                Db::Postgres(_) => None,
            },
            connection: None,
            connections: 0,
        }
    }

    /// The present version: two that are equal have no commit between them. `None` where the engine cannot
    /// tell (PostgreSQL), and there was perhaps one. Other processes' commits count on SQLite too
    /// (`PRAGMA data_version`).
    pub async fn version(&mut self) -> Result<Option<Version>, Error> {
        let Some(options) = &self.sqlite else {
            return Ok(None);
        };
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                self.connections += 1;
                SqliteConnection::connect_with(options).await?
            }
        };
        let (count,): (i64,) = sqlx::query_as("PRAGMA data_version")
            .fetch_one(&mut connection)
            .await?;
        // One that failed is not kept.
        self.connection = Some(connection);
        Ok(Some(Version {
            connection: self.connections,
            count,
        }))
    }
}
