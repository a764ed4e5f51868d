//! The table `_copy`, which marks a database that no program may serve: on SQLite an installation that was
//! copied to PostgreSQL, and on PostgreSQL an unfinished copy, of which the table has the progress.

use super::{Db, Error};
use crate::{execute, fetch_one, sql};
use sqlx::{Connection as _, FromRow, PgConnection, Postgres, Sqlite, SqliteConnection};

sql! {
    EXISTS_SQLITE = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = '_copy')";
    EXISTS_POSTGRES = "SELECT to_regclass('_copy') IS NOT NULL";
    CREATE = "CREATE TABLE _copy (installation TEXT NOT NULL, table_name TEXT NOT NULL,
                                  last_rowid BIGINT NOT NULL, copied BIGINT NOT NULL)";
    REMOVE = "DROP TABLE IF EXISTS _copy";
}

// No test can prepare these, because the table exists only while it marks a database. `FIND` waits
// for the last transaction of a copy that was killed, which may be about to commit.
const FIND: &str = "SELECT installation, table_name, last_rowid, copied FROM _copy FOR UPDATE";
const INSERT: &str =
    "INSERT INTO _copy (installation, table_name, last_rowid, copied) VALUES ($1, $2, $3, $4)";
const UPDATE: &str = "UPDATE _copy SET installation = $1, table_name = $2, last_rowid = $3, copied = $4";

/// The reason why the installation in an SQLite database may not be used, with the way back.
pub(super) const MOVED: &str = "this installation was copied to PostgreSQL and continues there: set \
     DATABASE_URL to that database. To give the copy up and continue here, run `latchkey backup FILE` and \
     `latchkey restore FILE --force`, which end all sessions and tokens";
/// The reason why a PostgreSQL database may not be used.
const UNFINISHED: &str = "this database has the unfinished copy of an installation: run `latchkey copy` \
     again, or create another database";

/// The progress of a copy, which copies the tables one after the other.
#[derive(Debug, FromRow)]
pub(super) struct Progress {
    /// The installation that is copied.
    pub(super) installation: String,
    /// The table that was copied last, or an empty text.
    pub(super) table_name: String,
    /// The number of its last row that was copied.
    pub(super) last_rowid: i64,
    /// The number of its rows that were copied.
    pub(super) copied: i64,
}

impl Db {
    /// Returns the reason why no program may use this database, if there is one.
    pub(crate) async fn obstacle(&self) -> Result<Option<&'static str>, Error> {
        let exists = self.engine().choose(EXISTS_SQLITE, EXISTS_POSTGRES);
        let (is_marked,) = fetch_one!(self.reader(), (bool,), exists)?;
        Ok(is_marked.then(|| self.engine().choose(MOVED, UNFINISHED)))
    }
}

/// Removes the mark, if there is one.
pub(super) async fn remove(db: &Db) -> Result<(), Error> {
    execute!(db.writer(), REMOVE).map(|_| ())
}

/// Returns whether an installation was copied to PostgreSQL.
pub(super) async fn is_moved(source: &mut SqliteConnection) -> sqlx::Result<bool> {
    let exists = sqlx::query_as::<Sqlite, (bool,)>(EXISTS_SQLITE);
    exists.fetch_one(source).await.map(|(is_moved,)| is_moved)
}

/// Marks an installation as copied to PostgreSQL, unless it is marked.
pub(super) async fn mark_as_moved(source: &mut SqliteConnection) -> sqlx::Result<()> {
    match is_moved(source).await? {
        true => Ok(()),
        false => sqlx::query::<Sqlite>(CREATE).execute(source).await.map(|_| ()),
    }
}

/// Returns the progress of an unfinished copy, if there is one.
pub(super) async fn find(target: &mut PgConnection) -> sqlx::Result<Option<Progress>> {
    let exists = sqlx::query_as::<Postgres, (bool,)>(EXISTS_POSTGRES);
    let (is_marked,) = exists.fetch_one(&mut *target).await?;
    match is_marked {
        true => sqlx::query_as::<_, Progress>(FIND).fetch_optional(target).await,
        false => Ok(None),
    }
}

/// Marks a database as the unfinished copy of this installation. Fails if it is marked.
pub(super) async fn begin(target: &mut PgConnection, installation: &str) -> sqlx::Result<Progress> {
    let progress = Progress {
        installation: installation.to_owned(),
        table_name: String::new(),
        last_rowid: i64::MIN,
        copied: 0,
    };
    let mut tx = target.begin().await?;
    sqlx::query::<Postgres>(CREATE).execute(&mut *tx).await?;
    progress.write(INSERT, &mut tx).await?;
    tx.commit().await?;
    Ok(progress)
}

/// Removes the mark of a copy that is whole.
pub(super) async fn end(target: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query::<Postgres>(REMOVE).execute(target).await.map(|_| ())
}

impl Progress {
    /// Begins with a table.
    pub(super) fn begin(&mut self, table_name: &str) {
        table_name.clone_into(&mut self.table_name);
        self.last_rowid = i64::MIN;
        self.copied = 0;
    }

    /// Stores the progress.
    pub(super) async fn store(&self, target: &mut PgConnection) -> sqlx::Result<()> {
        self.write(UPDATE, target).await
    }

    async fn write(&self, sql: &'static str, target: &mut PgConnection) -> sqlx::Result<()> {
        let write = sqlx::query::<Postgres>(sql)
            .bind(&self.installation)
            .bind(&self.table_name)
            .bind(self.last_rowid)
            .bind(self.copied);
        write.execute(target).await.map(|_| ())
    }
}
