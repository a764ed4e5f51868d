//! The checks of a database file, and what it has.

use super::FileError;
use crate::db::connector::connect_to_file;
use crate::db::migrations::{self, applied};
use crate::sql;
use serde::Serialize;
use sqlx::{AssertSqlSafe, Connection as _, Sqlite, SqliteConnection};
use std::collections::BTreeMap;
use std::path::Path;

sql! {
    // The statement that counts the rows of each table. As in the copy to PostgreSQL (`db/copy/tables.rs`), a
    // name that begins with `_` is that of a table about the database.
    COUNTS_SQLITE = "SELECT group_concat(format('SELECT %Q, COUNT(*) FROM \"%w\"', name, name), ' UNION ALL ')
                     FROM sqlite_schema
                     WHERE type = 'table' AND name NOT GLOB 'sqlite_*' AND name NOT GLOB '_*'";
}

/// The content of a database file that passed every check.
#[derive(Debug, Serialize)]
pub struct CheckedFile {
    /// The number of the last migration.
    pub schema: i64,
    /// The number of rows of each table.
    pub rows: BTreeMap<String, i64>,
}

/// Checks a database file and counts its rows.
pub(super) async fn check(file: &Path) -> Result<CheckedFile, FileError> {
    let mut connection = connect_to_file(file).await?;
    let checked = check_content(&mut connection).await?;
    connection.close().await?;
    Ok(checked)
}

/// Checks the database of this connection and counts its rows.
pub(in crate::db) async fn check_content(
    connection: &mut SqliteConnection,
) -> Result<CheckedFile, FileError> {
    let found: Vec<(String,)> = sqlx::query_as("PRAGMA integrity_check")
        .fetch_all(&mut *connection)
        .await?;
    if let Some((flaw,)) = found.into_iter().find(|(line,)| line != "ok") {
        return Err(FileError::Damaged(flaw));
    }
    let orphans = sqlx::query::<Sqlite>("PRAGMA foreign_key_check");
    let orphans = orphans.fetch_all(&mut *connection).await?.len();
    if orphans > 0 {
        let flaw = format!("{orphans} rows refer to missing ones");
        return Err(FileError::Damaged(flaw));
    }
    let applied = applied(connection).await?;
    let Some((schema, ..)) = applied.last() else {
        return Err(FileError::Damaged("it is not one of Latchkey".to_owned()));
    };
    if !migrations::SQLITE.version_exists(*schema) {
        return Err(FileError::NewerSchema(*schema));
    }
    let (counts,): (String,) = sqlx::query_as(COUNTS_SQLITE).fetch_one(&mut *connection).await?;
    let rows: Vec<(String, i64)> = sqlx::query_as(AssertSqlSafe(counts))
        .fetch_all(&mut *connection)
        .await?;
    Ok(CheckedFile {
        schema: *schema,
        rows: rows.into_iter().collect(),
    })
}
