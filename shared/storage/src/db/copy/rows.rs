//! Copying and comparing the rows of a table.

use super::tables::{BATCH, Table};
use crate::db::Error;
use crate::db::copy_mark::Progress;
use futures_util::TryStreamExt as _;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Sqlite, SqliteConnection};

/// The number of bytes that are sent at once.
const CHUNK: usize = 1 << 16;

/// Copies the rows of a table after those of `progress`, in batches. Each batch is a transaction, which
/// stores the progress too. Calls `tell` with the number of copied rows after each that has rows.
pub(super) async fn copy(
    table: &Table,
    progress: &mut Progress,
    source: &mut SqliteConnection,
    target: &mut PgConnection,
    tell: &mut dyn FnMut(i64),
) -> Result<(), Error> {
    loop {
        let copied_before = progress.copied;
        let mut tx = target.begin().await?;
        let mut copy = tx.copy_in_raw(&table.copy_in()).await?;
        let batch = sqlx::query_as::<Sqlite, (i64, String)>(AssertSqlSafe(table.batch()));
        let mut rows = batch.bind(progress.last_rowid).fetch(&mut *source);
        let mut lines = String::new();
        while let Some((rowid, line)) = rows.try_next().await? {
            progress.last_rowid = rowid;
            progress.copied += 1;
            lines.push_str(&line);
            lines.push('\n');
            if lines.len() >= CHUNK {
                copy.send(lines.as_bytes()).await?;
                lines.clear();
            }
        }
        drop(rows);
        copy.send(lines.as_bytes()).await?;
        copy.finish().await?;
        progress.store(&mut tx).await?;
        tx.commit().await?;
        let copied = progress.copied - copied_before;
        if copied > 0 {
            tell(progress.copied);
        }
        if copied < BATCH {
            return Ok(());
        }
    }
}

/// Compares the rows of a table, in the order of its key. Returns the number of the first row that differs,
/// if there is one. Calls `tell` with the number of equal rows after each batch.
pub(super) async fn compare(
    table: &Table,
    source: &mut SqliteConnection,
    target: &mut PgConnection,
    tell: &mut dyn FnMut(i64),
) -> Result<Option<i64>, Error> {
    let lines = sqlx::query_as::<Sqlite, (String,)>(AssertSqlSafe(table.all_lines()));
    let mut lines = lines.fetch(source);
    let mut copied = target.copy_out_raw(&table.copy_out()).await?;
    let mut equal = 0;
    loop {
        match (lines.try_next().await?, copied.try_next().await?) {
            (None, None) => {
                if equal % BATCH > 0 {
                    tell(equal);
                }
                return Ok(None);
            }
            // PostgreSQL sends one message for each row.
            (Some((line,)), Some(row)) if row.strip_suffix(b"\n") == Some(line.as_bytes()) => equal += 1,
            _ => return Ok(Some(equal + 1)),
        }
        if equal % BATCH == 0 {
            tell(equal);
        }
    }
}
