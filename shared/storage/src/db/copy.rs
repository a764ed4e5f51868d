//! The copy of an embedded installation into an empty PostgreSQL database, which resumes after it was
//! interrupted.

mod rows;
mod tables;

use super::connector::{EngineConnection as _, connect_to_file};
pub use super::copy_mark::STATEMENTS as MARK_STATEMENTS;
use super::copy_mark::{self, MOVED, Progress};
use super::file::{CheckedFile, FileError, check_content, release_closing};
use super::pool::connect_to_server;
use super::{DatabaseUrl, Db, Engine, Error, migrations};
use crate::sql;
use futures_util::future::LocalBoxFuture;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Postgres, Sqlite, SqliteConnection};
use std::path::PathBuf;
pub use tables::STATEMENTS as TABLE_STATEMENTS;
use tables::{Table, tables};

sql! {
    // A table that is neither PostgreSQL's own nor that of an extension. The catalog also has those that this
    // login cannot read, of which nobody knows whether they have rows.
    ANY_TABLE_POSTGRES = "SELECT format('%I.%I', n.nspname, c.relname)
                          FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                          WHERE c.relkind IN ('r', 'p', 'f', 'm') AND left(n.nspname, 3) <> 'pg_' AND n.nspname <> 'information_schema'
                            AND NOT EXISTS (SELECT 1 FROM pg_depend d
                                            WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
                          ORDER BY 1 LIMIT 1";
    LAST_IDS_SQLITE = "SELECT name, seq FROM sqlite_sequence";
    // Makes tables continue after their last ids. Returns the number of these tables.
    CONTINUE_IDS_POSTGRES = "SELECT COUNT(setval(pg_get_serial_sequence(quote_ident(c.table_name), c.column_name), l.id + 1, FALSE))
                             FROM unnest($1::text[], $2::bigint[]) AS l (table_name, id)
                             JOIN information_schema.columns c ON c.table_name = l.table_name
                             WHERE c.table_schema = current_schema() AND c.is_identity = 'YES'";
}

/// The options of the connection to the target, beside its own: rows are compared by the text of their
/// values, and a large table takes longer than a request.
const TARGET_OPTIONS: [(&str, &str); 2] = [("bytea_output", "hex"), ("statement_timeout", "0")];

/// The reason why an installation was not copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The target is not on PostgreSQL.
    #[error("the target is not on PostgreSQL: give a URL that begins with postgres://")]
    NotPostgres,
    /// The installation was copied before.
    #[error("{}", MOVED)]
    Moved,
    /// The target has a table.
    #[error(
        "the target has the table {0}: create an empty database, and start no program on it before the copy is \
         done"
    )]
    NotEmpty(String),
    /// The target is the unfinished copy of another installation.
    #[error("the target has the unfinished copy of another installation: create an empty database")]
    OtherInstallation,
    /// The databases do not have the same columns.
    #[error("{0} is not the same in both databases: the schema of one was changed by hand")]
    OtherSchema(String),
    /// A table could not be copied or read.
    #[error("{0}: {1}")]
    Table(String, Error),
    /// A row of the target is not that of the source.
    #[error(
        "row {row} of {table} differs from its source, in the order of the key: one of the databases was changed \
         since the copy began. The installation is as it was: create an empty database and copy again"
    )]
    Differs {
        /// The table.
        table: String,
        /// The number of the first such row.
        row: i64,
    },
    /// The file of the installation cannot be copied.
    #[error(transparent)]
    File(#[from] FileError),
    /// A database failed.
    #[error(transparent)]
    Database(#[from] Error),
}

impl From<sqlx::Error> for CopyError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error.into())
    }
}

/// The step of a copy for a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyStep {
    /// It copies the rows.
    Copy,
    /// It compares the rows with their source.
    Compare,
}

/// The progress of a copy.
#[derive(Clone, Copy, Debug)]
pub struct CopyProgress<'a> {
    /// The present step.
    pub step: CopyStep,
    /// The table.
    pub table: &'a str,
    /// The number of its rows for which that is done.
    pub done: i64,
    /// The number of its rows.
    pub rows: i64,
}

/// A copy of an embedded installation that is about to begin or to resume.
pub struct InstallationCopy {
    url: DatabaseUrl,
    file: PathBuf,
    target: PgConnectOptions,
}

impl DatabaseUrl {
    /// Prepares a copy of the installation in the SQLite database into the PostgreSQL database `target`.
    /// Fails if there is no installation, or if a process uses it.
    pub async fn begin_copy(&self, target: &Self) -> Result<InstallationCopy, CopyError> {
        let file = self.sqlite()?.get_filename().to_owned();
        let Engine::Postgres(options) = &target.0 else {
            return Err(CopyError::NotPostgres);
        };
        let target = (**options).clone().options(TARGET_OPTIONS);
        if let Err(error) = file.metadata() {
            return Err(FileError::Io(file, error).into());
        }
        release_closing(&file).await?;
        let url = self.clone();
        Ok(InstallationCopy { url, file, target })
    }
}

impl InstallationCopy {
    /// Opens the source and applies the migrations that it lacks. The caller closes it before
    /// [`run`](Self::run).
    pub async fn open_source(&self) -> Result<Db, Error> {
        let db = Db::open(&self.url, 1, 1).await?;
        db.migrate().await?;
        Ok(db)
    }

    /// Copies all rows that an interrupted copy has not, and compares all rows with their source. Then marks
    /// the source, so that no program uses it again, and makes the target one that programs use. No process
    /// can use either of them meanwhile. `installation` is a text that only this one has.
    pub fn run<'a>(
        &'a self,
        installation: &'a str,
        tell: &'a mut dyn FnMut(CopyProgress<'_>),
    ) -> LocalBoxFuture<'a, Result<CheckedFile, CopyError>> {
        Box::pin(async move {
            let mut source = self.lock_source().await?;
            let checked = check_content(&mut source).await?;
            let mut target = connect_to_server(&self.target).await?;
            let mut progress = find_or_begin(installation, &mut source, &mut target).await?;
            migrations::POSTGRES.run(&mut target).await.map_err(Error::from)?;
            let tables = tables(&mut source, &mut target).await?;
            switch_triggers(&tables, "DISABLE", &mut target).await?;
            let mut tell = |step, table: &Table, done| {
                let rows = checked.rows.get(&table.name).copied().unwrap_or_default();
                let table = table.name.as_str();
                tell(CopyProgress {
                    step,
                    table,
                    done,
                    rows,
                });
            };
            let is_last = |table: &Table| table.name == progress.table_name;
            let first = tables.iter().position(is_last).unwrap_or_default();
            for table in &tables[first..] {
                if progress.table_name != table.name {
                    progress.begin(&table.name);
                }
                let tell = &mut |done| tell(CopyStep::Copy, table, done);
                let copied = rows::copy(table, &mut progress, &mut source, &mut target, tell).await;
                copied.map_err(|error| CopyError::Table(table.name.clone(), error))?;
            }
            for table in &tables {
                let tell = &mut |done| tell(CopyStep::Compare, table, done);
                let compared = rows::compare(table, &mut source, &mut target, tell).await;
                if let Some(row) = compared.map_err(|error| CopyError::Table(table.name.clone(), error))? {
                    let table = table.name.clone();
                    return Err(CopyError::Differs { table, row });
                }
            }
            hand_over(source, target, &tables).await?;
            Ok(checked)
        })
    }

    /// Opens the source in a transaction that excludes all other processes, also those that only read. Its
    /// lock ends with this process.
    async fn lock_source(&self) -> Result<SqliteConnection, CopyError> {
        release_closing(&self.file).await?;
        let mut source = connect_to_file(&self.file).await?;
        // With FULL, a power failure can undo the mark of the source after the target came into use.
        source.control("PRAGMA synchronous = EXTRA").await?;
        let in_use = || CopyError::File(FileError::InUse(self.file.clone()));
        let begun = source.control("BEGIN EXCLUSIVE").await;
        begun.map_err(|error| match Error::from(error) {
            Error::Unavailable(_) => in_use(),
            other => other.into(),
        })?;
        // A program that started since has a journal beside the file again, with which others can read.
        let mode = sqlx::query_as::<Sqlite, (String,)>("PRAGMA journal_mode");
        let (mode,) = mode.fetch_one(&mut source).await?;
        match mode.as_str() {
            "delete" => Ok(source),
            _ => Err(in_use()),
        }
    }
}

/// Returns the progress of the copy of this installation, which begins if the target is empty.
async fn find_or_begin(
    installation: &str,
    source: &mut SqliteConnection,
    target: &mut PgConnection,
) -> Result<Progress, CopyError> {
    match copy_mark::find(target).await? {
        Some(progress) if progress.installation == installation => return Ok(progress),
        Some(_) => return Err(CopyError::OtherInstallation),
        None => {}
    }
    if copy_mark::is_moved(source).await? {
        return Err(CopyError::Moved);
    }
    require_empty(target).await?;
    Ok(copy_mark::begin(target, installation).await?)
}

/// Gives the source up and makes its copy one that programs use.
async fn hand_over(
    mut source: SqliteConnection,
    mut target: PgConnection,
    tables: &[Table],
) -> Result<(), CopyError> {
    let last_ids = sqlx::query_as::<Sqlite, (String, i64)>(LAST_IDS_SQLITE);
    let last_ids = last_ids.fetch_all(&mut source).await?;
    let mut tx = target.begin().await?;
    continue_ids(last_ids, &mut tx).await?;
    switch_triggers(tables, "ENABLE", &mut tx).await?;
    copy_mark::end(&mut tx).await?;
    // The planner has no statistics of these rows yet.
    tx.control("ANALYZE").await?;
    // The source is marked first: after a crash in between, the next run completes the target.
    copy_mark::mark_as_moved(&mut source).await?;
    source.control("COMMIT").await?;
    Ok(tx.commit().await?)
}

/// Fails if the database has a table.
async fn require_empty(target: &mut PgConnection) -> Result<(), CopyError> {
    let table = sqlx::query_as::<Postgres, (String,)>(ANY_TABLE_POSTGRES);
    match table.fetch_optional(target).await? {
        Some((table,)) => Err(CopyError::NotEmpty(table)),
        None => Ok(()),
    }
}

/// Switches the triggers of all tables off or on, in one transaction.
async fn switch_triggers(tables: &[Table], switch: &str, target: &mut PgConnection) -> Result<(), CopyError> {
    let statements: String = tables.iter().map(|table| table.switch_triggers(switch)).collect();
    sqlx::raw_sql(AssertSqlSafe(statements)).execute(target).await?;
    Ok(())
}

/// Makes the tables continue after their last ids, which may be those of deleted rows.
async fn continue_ids(last_ids: Vec<(String, i64)>, target: &mut PgConnection) -> Result<(), CopyError> {
    let expected = last_ids.len();
    let (tables, ids): (Vec<String>, Vec<i64>) = last_ids.into_iter().unzip();
    let continued = sqlx::query_as::<Postgres, (i64,)>(CONTINUE_IDS_POSTGRES);
    let (continued,) = continued.bind(tables).bind(ids).fetch_one(target).await?;
    match usize::try_from(continued) == Ok(expected) {
        true => Ok(()),
        false => Err(CopyError::OtherSchema("a column of ids".to_owned())),
    }
}
