//! Deletion of many rows, beside which other writers never wait long.

use super::{Db, Error};
use crate::execute;
use foundation::clock::Timestamp;
use std::time::Duration;

/// The number of rows that one transaction deletes.
const BATCH: i64 = 500;
/// The time between two transactions, in which other writers get their turn.
const PAUSE: Duration = Duration::from_millis(20);
/// The start value of [`lock_of`], which makes a collision with other advisory locks unlikely.
const LOCKS: i64 = 0x7072_756e_696e_6701;

impl Db {
    /// Deletes the rows that expired at `until` or before, in small transactions with pauses. `sql` is a statement of
    /// [`delete_expired!`](crate::delete_expired). Stops if another process is running the same statement, so that one
    /// does at a time: the caller tries again at its next interval. Returns the number of deleted rows.
    pub async fn prune(&self, sql: &'static str, until: Timestamp) -> Result<u64, Error> {
        let lock = lock_of(sql);
        delete_in_batches(|limit| async move {
            let mut tx = self.begin().await?;
            if !tx.try_lock(lock).await? {
                return Ok(0);
            }
            let rows = execute!(tx.on(), sql, until, limit)?;
            tx.commit().await?;
            Ok(rows)
        })
        .await
    }
}

/// Calls `delete`, with pauses, until there are no more rows to delete. It gets the largest number of rows that it may delete, and
/// returns the number of those that it deleted. Returns the number of all.
pub async fn delete_in_batches<F>(delete: impl Fn(i64) -> F) -> Result<u64, Error>
where
    F: Future<Output = Result<u64, Error>>,
{
    let mut deleted = 0;
    loop {
        let rows = delete(BATCH).await?;
        deleted += rows;
        if rows < BATCH.cast_unsigned() {
            return Ok(deleted);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Returns the number of the advisory lock of a statement, which is the same in every process.
fn lock_of(sql: &str) -> i64 {
    let add = |lock: i64, byte: u8| lock.wrapping_mul(31).wrapping_add(i64::from(byte));
    sql.bytes().fold(LOCKS, add)
}
