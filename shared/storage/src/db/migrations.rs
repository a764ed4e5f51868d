//! The migrations of the schema, and those that a database lacks.

use super::connector::connect_to_file;
use super::pool::connect_to_server;
use super::{DatabaseUrl, Engine, Error};
use crate::sql;
use serde::Serialize;
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::{Connection as _, SqliteConnection};

/// The migrations for SQLite.
pub(super) static SQLITE: Migrator = sqlx::migrate!("../../migrations/sqlite");
/// The migrations for PostgreSQL.
pub(super) static POSTGRES: Migrator = sqlx::migrate!("../../migrations/postgres");

sql! {
    HAS_TABLE_SQLITE = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = '_sqlx_migrations')";
    HAS_TABLE_POSTGRES = "SELECT to_regclass('_sqlx_migrations') IS NOT NULL";
    APPLIED = "SELECT version, checksum, success FROM _sqlx_migrations ORDER BY version";
}

/// The number and the checksum of an applied migration, and whether it was applied whole.
type Applied = (i64, Vec<u8>, bool);

/// A migration that a database lacks.
#[derive(Debug, Serialize)]
pub struct PendingMigration {
    /// The number, which orders the migrations.
    pub number: i64,
    /// The name.
    pub name: &'static str,
    /// The file, from the root of the repository.
    pub file: String,
    /// The statements.
    pub sql: &'static str,
}

/// Returns the applied migrations in the database of a connection. A macro, because a function that is
/// generic over the two engines would have a dozen bounds.
macro_rules! applied {
    ($connection:expr, $has_table:expr) => {{
        let (has_table,): (bool,) = sqlx::query_as($has_table).fetch_one(&mut $connection).await?;
        match has_table {
            true => {
                sqlx::query_as::<_, Applied>(APPLIED)
                    .fetch_all(&mut $connection)
                    .await?
            }
            false => Vec::new(),
        }
    }};
}

impl DatabaseUrl {
    /// Returns the migrations that [`Db::migrate`](super::Db::migrate) would apply, in its order. Changes
    /// nothing, and does not create a missing SQLite file. Fails if the database has a migration that this
    /// program does not know or that differs from the program's own.
    pub async fn pending_migrations(&self) -> Result<Vec<PendingMigration>, Error> {
        match &self.0 {
            Engine::Sqlite(options) => {
                let file = options.get_filename();
                if !file.try_exists().map_err(sqlx::Error::Io)? {
                    return lacking(&SQLITE, "sqlite", &[]);
                }
                let mut connection = connect_to_file(file).await?;
                let applied = applied(&mut connection).await?;
                connection.close().await?;
                lacking(&SQLITE, "sqlite", &applied)
            }
            Engine::Postgres(options) => {
                let mut connection = connect_to_server(options).await?;
                lacking(&POSTGRES, "postgres", &applied!(connection, HAS_TABLE_POSTGRES))
            }
        }
    }
}

/// Returns the applied migrations of an SQLite database, in their order.
pub(super) async fn applied(connection: &mut SqliteConnection) -> Result<Vec<Applied>, Error> {
    Ok(applied!(*connection, HAS_TABLE_SQLITE))
}

/// Returns the migrations of `migrator`, whose files are in `folder`, that are not applied.
fn lacking(
    migrator: &'static Migrator,
    folder: &str,
    applied: &[Applied],
) -> Result<Vec<PendingMigration>, Error> {
    for (number, checksum, is_whole) in applied {
        let known = migrator.iter().find(|migration| migration.version == *number);
        let known = known.ok_or(MigrateError::VersionMissing(*number))?;
        if !is_whole {
            return Err(MigrateError::Dirty(*number).into());
        }
        if known.checksum[..] != checksum[..] {
            return Err(MigrateError::VersionMismatch(*number).into());
        }
    }
    let lacks = |number: i64| !applied.iter().any(|(applied, ..)| *applied == number);
    let pending = migrator.iter().filter(|migration| lacks(migration.version));
    let pending = pending.map(|migration| PendingMigration {
        number: migration.version,
        name: &migration.description,
        file: format!(
            "migrations/{folder}/{:04}_{}.sql",
            migration.version,
            migration.description.replace(' ', "_")
        ),
        sql: migration.sql.as_str(),
    });
    Ok(pending.collect())
}
