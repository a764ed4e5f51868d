//! Cheap detection of commits, on SQLite only.

use super::{Db, Engine, Error, SqliteConnections};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection as _, SqliteConnection};

/// A version of the database. Equal versions mean that there was no commit between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// The number of the watch's connection, because data versions of different connections are not
    /// comparable.
    connection: u64,
    data_version: i64,
}

/// Detects commits by any process, on a connection of its own.
#[derive(Debug)]
pub struct Watch {
    sqlite: Option<SqliteConnectOptions>,
    connection: Option<SqliteConnection>,
    /// The number of connections opened so far.
    connections: u64,
}

impl Watch {
    pub(super) fn new(db: &Db) -> Self {
        Self {
            sqlite: match &db.connections {
                Engine::Sqlite(SqliteConnections { readers, .. }) => Some(readers.options().clone()),
                Engine::Postgres(_) => None,
            },
            connection: None,
            connections: 0,
        }
    }

    /// Returns the current version (`PRAGMA data_version`), or `None` on PostgreSQL, which has no such
    /// version, so that callers must assume a commit.
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
        let (data_version,): (i64,) = sqlx::query_as("PRAGMA data_version")
            .fetch_one(&mut connection)
            .await?;
        // A connection that failed above is dropped, and the next call opens a new one.
        self.connection = Some(connection);
        Ok(Some(Version {
            connection: self.connections,
            data_version,
        }))
    }
}
