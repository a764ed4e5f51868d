//! The server of the database and the rights of this login on it, which `doctor` reports.

use super::{DatabaseUrl, Db, Engine, Error};
use crate::{fetch_one, sql};
use std::path::Path;

sql! {
    // The tables are those of the owner of the applied migrations, because the schema may have others.
    SERVER_POSTGRES = "SELECT CAST(current_setting('server_version_num') AS BIGINT) AS version,
                              COALESCE(BOOL_AND(has_table_privilege(tables.oid, 'SELECT')
                                                AND has_table_privilege(tables.oid, 'INSERT')
                                                AND has_table_privilege(tables.oid, 'UPDATE')
                                                AND has_table_privilege(tables.oid, 'DELETE')), FALSE) AS has_all_tables,
                              COALESCE(BOOL_AND(pg_has_role(tables.relowner, 'USAGE')), TRUE)
                              AND COALESCE(has_schema_privilege(current_schema(), 'CREATE'), FALSE) AS can_migrate,
                              COALESCE(BOOL_OR(has_any_column_privilege(tables.oid, 'SELECT'))
                                         FILTER (WHERE tables.relname IN ('signing_keys', 'installation_secret',
                                                                          'authorization_codes')), FALSE) AS reads_secrets,
                              EXISTS (SELECT 1 FROM pg_roles
                                      WHERE rolname = 'latchkey_api' AND pg_has_role(oid, 'USAGE')) AS is_api
                       FROM pg_class AS tables
                       JOIN pg_class AS migrations
                         ON migrations.oid = to_regclass('_sqlx_migrations') AND migrations.relowner = tables.relowner
                            AND migrations.relnamespace = tables.relnamespace
                       WHERE tables.relkind = 'r'";
}

/// A PostgreSQL server, as the login of this process sees it.
#[derive(Clone, Copy, Debug, sqlx::FromRow)]
pub struct Server {
    /// The number of the version, such as 170_002 for 17.2.
    pub version: i64,
    /// Whether the login may read and write every table; false if there is none.
    pub has_all_tables: bool,
    /// Whether the login may change the schema.
    pub can_migrate: bool,
    /// Whether the login may read the signing keys, the installation secret or the codes.
    pub reads_secrets: bool,
    /// Whether the login has the rights of the role `latchkey_api`.
    pub is_api: bool,
}

impl DatabaseUrl {
    /// Returns the path of the SQLite database; `None` on PostgreSQL.
    pub fn file(&self) -> Option<&Path> {
        match &self.0 {
            Engine::Sqlite(options) => Some(options.get_filename()),
            Engine::Postgres(_) => None,
        }
    }
}

impl Db {
    /// Returns the server; `None` on SQLite.
    pub async fn server(&self) -> Result<Option<Server>, Error> {
        match self.engine().choose(None, Some(SERVER_POSTGRES)) {
            Some(sql) => fetch_one!(self.reader(), Server, sql).map(Some),
            None => Ok(None),
        }
    }
}
