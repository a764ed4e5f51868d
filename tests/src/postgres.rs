//! PostgreSQL databases for worlds, each on a server that this test process starts.

mod frontend;
mod proxy;
mod server;

pub use proxy::{Exchange, PostgresProxy};
pub use server::PostgresServer;

use foundation::clock::Timestamp;
use server::API_LOGIN_ROLE;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The empty database of each server.
const TEMPLATE: &str = "template1";

static DATABASES: AtomicU32 = AtomicU32::new(0);

/// A database that is dropped with this value.
#[derive(Debug)]
pub struct Database {
    name: String,
    server: Arc<PostgresServer>,
}

impl Database {
    /// Creates an empty database on the server that all worlds share.
    pub fn create() -> Self {
        Self::create_on(PostgresServer::shared(), TEMPLATE)
    }

    /// Creates an empty database on a server of its own.
    pub(crate) fn create_with_server() -> Self {
        Self::create_on(Arc::new(PostgresServer::start()), TEMPLATE)
    }

    /// Creates a copy of this database, to which no session may be open.
    pub(crate) fn copy(&self) -> Self {
        Self::create_on(Arc::clone(&self.server), &self.name)
    }

    /// Runs a script as the superuser on a server of its own, which creates a database of this name.
    pub(crate) fn create_by(script: &Path, name: &str) -> Self {
        let server = Arc::new(PostgresServer::start());
        server.administer(&format!("\\i {}\n", script.display()));
        let name = name.to_owned();
        Self { name, server }
    }

    fn create_on(server: Arc<PostgresServer>, template: &str) -> Self {
        let name = format!("world_{}", DATABASES.fetch_add(1, Ordering::Relaxed));
        server.administer(&format!(
            "CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy"
        ));
        Self { name, server }
    }

    /// Makes `clock_timestamp` return this time. Sessions that began before the first call keep the real
    /// clock, because only new ones look for functions in the schema `public` first.
    pub(crate) fn set_clock(&self, now: Timestamp) {
        let name = &self.name;
        self.server.administer(&format!(
            "\\c {name}
             CREATE OR REPLACE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql
                 AS 'SELECT to_timestamp({})';
             ALTER DATABASE {name} SET search_path = public, pg_catalog;
             \\c postgres
             ",
            now.seconds(),
        ));
    }

    /// The server of this database.
    pub(crate) fn server(&self) -> &PostgresServer {
        &self.server
    }

    /// Returns the URL over the server's Unix socket.
    pub fn url(&self) -> String {
        self.url_at(self.server.socket_dir())
    }

    /// Returns the URL over a Unix socket in this directory.
    pub(crate) fn url_at(&self, socket_dir: &Path) -> String {
        self.url_of("postgres", socket_dir)
    }

    /// Returns the URL for the API over the server's Unix socket.
    pub(crate) fn api_url(&self) -> String {
        self.api_url_at(self.server.socket_dir())
    }

    /// Returns the URL for the API over a Unix socket in this directory, with a login role that is a member
    /// of the role created by the migrations.
    pub(crate) fn api_url_at(&self, socket_dir: &Path) -> String {
        self.server.create_api_role_once(|| {
            self.server.administer(&format!(
                "CREATE ROLE {API_LOGIN_ROLE} LOGIN IN ROLE latchkey_api"
            ));
        });
        self.url_of(API_LOGIN_ROLE, socket_dir)
    }

    /// Starts a proxy with its socket in `own_dir`, which it creates. Returns it, and the URL over it.
    pub fn behind_proxy(&self, own_dir: &Path) -> (PostgresProxy, String) {
        let proxy = PostgresProxy::start(own_dir, self.server.socket_dir());
        let url = self.url_at(proxy.socket_dir());
        (proxy, url)
    }

    fn url_of(&self, user: &str, socket_dir: &Path) -> String {
        format!(
            "postgres://{user}@localhost/{}?host={}",
            self.name,
            socket_dir.display()
        )
    }

    /// A dump of the database as SQL.
    pub(crate) fn dump(&self) -> String {
        self.run("pg_dump", &["--inserts"])
    }

    /// Every row of every table as text. Faster than a dump.
    pub fn rows(&self) -> String {
        /// Returns the text of a statement that reads all tables, and NULL if there is no table.
        const STATEMENT_FOR_ALL_TABLES: &str = r#"
            SELECT string_agg(
                format('SELECT coalesce(string_agg(t::text, '' ''), '''') FROM public.%I t', tablename),
                ' UNION ALL '
            ) FROM pg_tables WHERE schemaname = 'public' "#;
        let url = self.url();
        let read = async move {
            let mut connection = PgConnection::connect(&url).await?;
            let statement: Option<String> = sqlx::query_scalar(STATEMENT_FOR_ALL_TABLES)
                .fetch_one(&mut connection)
                .await?;
            let rows: Vec<String> = match statement {
                Some(statement) => {
                    sqlx::query_scalar(AssertSqlSafe(statement))
                        .fetch_all(&mut connection)
                        .await?
                }
                None => Vec::new(),
            };
            Ok::<_, sqlx::Error>(rows.concat())
        };
        // A thread of its own, because the caller may be inside a runtime.
        let reader = std::thread::spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(read)
        });
        reader.join().unwrap().unwrap()
    }

    fn run(&self, program: &str, options: &[&str]) -> String {
        self.server.run(program, options, &self.name)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.server
                .administer(&format!("DROP DATABASE {} WITH (FORCE)", self.name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_has_the_content_of_every_table() {
        let database = Database::create_with_server();
        assert_eq!(database.rows(), "");
        database.server.administer(&format!(
            "\\c {}
             CREATE TABLE names (name TEXT);
             CREATE TABLE \"Other names\" (name TEXT, number INT);
             INSERT INTO names VALUES ('Ada''s'), ('Grace');
             INSERT INTO \"Other names\" VALUES ('Edsger', 7);
             \\c postgres
             ",
            database.name,
        ));
        let rows = database.rows();
        for row in ["(Ada's) (Grace)", "(Edsger,7)"] {
            assert!(rows.contains(row), "{rows}");
        }
    }
}
