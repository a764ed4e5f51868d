//! Databases with the tables, the installation secret and the first signing keys. Worlds begin with copies of
//! them, because the generation of two RSA keys takes a third of the processor time of a short test.

use crate::postgres::Database;
use crate::program::{Program, ProgramConfig, Running};
use foundation::clock::Timestamp;
use foundation::sealing::SealingKey;
use sqlx::AssertSqlSafe;
use std::path::Path;
use storage::db::Db;
use storage::{execute, fetch_one};
use tempfile::TempDir;
use tokio::sync::OnceCell;

/// The database file of a data directory.
const FILE: &str = "latchkey.db";
/// Its write-ahead log, which has a part of the content if the process has left it.
const LOG: &str = "latchkey.db-wal";

/// A database in which an issuer has generated its first signing keys.
#[derive(Debug)]
pub(super) struct PreparedDatabase {
    /// The key that seals the signing keys.
    pub(super) master_key: String,
    /// The database, if it is on PostgreSQL.
    pub(super) database: Option<Database>,
    /// The directory of the database, if it is on SQLite.
    dir: TempDir,
}

impl PreparedDatabase {
    /// Returns the database on SQLite of this test process. The first call prepares it.
    pub(super) async fn sqlite() -> &'static Self {
        static SQLITE: OnceCell<PreparedDatabase> = OnceCell::const_new();
        SQLITE.get_or_init(|| Self::prepare(None)).await
    }

    /// Returns the database on PostgreSQL of this test process. The first call prepares it.
    pub(super) async fn postgres() -> &'static Self {
        static POSTGRES: OnceCell<PreparedDatabase> = OnceCell::const_new();
        POSTGRES
            .get_or_init(|| Self::prepare(Some(Database::create())))
            .await
    }

    /// Copies the database on SQLite to a data directory.
    pub(super) fn copy_to(&self, data_dir: &Path) {
        std::fs::copy(self.dir.path().join(FILE), data_dir.join(FILE)).unwrap();
        // SQLite deletes the log when the last connection is closed before the program ends.
        let log = self.dir.path().join(LOG);
        if log.exists() {
            std::fs::copy(log, data_dir.join(LOG)).unwrap();
        }
    }

    /// Dates the signing keys of a copy as if they had been generated at this time. The trigger that forbids
    /// it is absent meanwhile.
    pub(super) async fn date_keys(copy: &Db, now: Timestamp) {
        let (trigger, drop) = copy.reader().choose(
            (
                "SELECT sql FROM sqlite_schema WHERE name = 'signing_keys_move'",
                "DROP TRIGGER signing_keys_move",
            ),
            (
                "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname = 'signing_keys_move'",
                "DROP TRIGGER signing_keys_move ON signing_keys",
            ),
        );
        let (trigger,) = fetch_one!(copy.reader(), (String,), trigger).unwrap();
        let generated = "SELECT MIN(created_at) FROM signing_keys";
        let (generated,) = fetch_one!(copy.reader(), (i64,), generated).unwrap();
        execute!(copy.writer(), drop).unwrap();
        let date = "UPDATE signing_keys
                    SET created_at = created_at + $1, sign_after = sign_after + $1, activated_at = activated_at + $1";
        execute!(copy.writer(), date, now.micros() - generated).unwrap();
        execute!(copy.writer(), AssertSqlSafe(trigger)).unwrap();
        copy.close().await;
    }

    async fn prepare(database: Option<Database>) -> Self {
        let dir = tempfile::Builder::new()
            .prefix("latchkey-prepared-")
            .tempdir()
            .unwrap();
        let mut config = ProgramConfig::bare(Program::AuthServer, dir.path());
        config.flag("--data-dir", dir.path());
        for name in ["master", "account"] {
            let file = dir.path().join(format!("{name}.key"));
            std::fs::write(&file, SealingKey::generate().to_text()).unwrap();
            config.flag(&format!("--{name}-key-file"), file);
        }
        let file = format!("sqlite:{}", dir.path().join(FILE).display());
        config.flag("--database-url", database.as_ref().map_or(file, Database::url));
        let issuer = Running::start(&config, "127.0.0.1:0", &dir.path().join("log")).await;
        issuer.terminate();
        assert!(issuer.wait_for_exit().await.success());
        Self {
            master_key: std::fs::read_to_string(dir.path().join("master.key")).unwrap(),
            database,
            dir,
        }
    }
}
