//! Changes of many rows, beside which other writers never wait long.

use super::{Db, Engine, Error};
use crate::{execute, sql};
use foundation::clock::Timestamp;
use foundation::random;
use std::time::Duration;

/// The time in PostgreSQL, in microseconds.
macro_rules! now {
    () => {
        "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"
    };
}

sql! {
    // Takes or renews a lease, unless another process has it. All processes compare with the clock of the
    // database.
    TAKE_LEASE_POSTGRES = concat!(
        "INSERT INTO housekeeping_leases (task, holder, ends_at) VALUES ($1, $2, ", now!(), " + $3)
         ON CONFLICT (task) DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at
         WHERE housekeeping_leases.holder = excluded.holder OR housekeeping_leases.ends_at <= ", now!());
    END_LEASE_POSTGRES = "DELETE FROM housekeeping_leases WHERE task = $1 AND holder = $2";
}

/// The number of rows that one transaction changes.
const BATCH: i64 = 500;
/// The time between two transactions, in which other writers get their turn.
const PAUSE: Duration = Duration::from_millis(20);
/// The length of a lease, which each batch renews. Longer than the time limit of its statements.
const LEASE: Duration = Duration::from_secs(30);

impl Db {
    /// Deletes the rows that expired at `until` or before, as
    /// [`change_under_lease`](Self::change_under_lease) does. `sql` is a statement of
    /// [`delete_expired!`](crate::delete_expired). Returns the number of deleted rows.
    pub async fn prune(&self, sql: &'static str, until: Timestamp) -> Result<u64, Error> {
        // `DELETE FROM` and the table.
        let task = sql.split(" WHERE ").next().unwrap_or(sql);
        self.change_under_lease(
            task,
            |limit| async move { execute!(self.writer(), sql, until, limit) },
        )
        .await
    }

    /// Changes rows as [`change_in_batches`] does, in one process at a time. Stops if another process has the
    /// lease on `task`: the caller tries again at its next interval. The lease of a process that was killed
    /// ends after half a minute. On SQLite one process writes, so it needs no lease.
    pub async fn change_under_lease<F>(&self, task: &str, change: impl Fn(i64) -> F) -> Result<u64, Error>
    where
        F: Future<Output = Result<u64, Error>>,
    {
        if let Engine::Sqlite(()) = self.engine() {
            return change_in_batches(change).await;
        }
        let length = i64::try_from(LEASE.as_micros()).unwrap_or(i64::MAX);
        let holder = random::id();
        let (holder, change) = (holder.as_str(), &change);
        // No connection is held between the batches, so that connections may be pooled by transaction.
        let changed = change_in_batches(|limit| async move {
            // No row is written if another process has the lease.
            match execute!(self.writer(), TAKE_LEASE_POSTGRES, task, holder, length)? {
                0 => Ok(0),
                _ => change(limit).await,
            }
        });
        let changed = changed.await?;
        execute!(self.writer(), END_LEASE_POSTGRES, task, holder)?;
        Ok(changed)
    }
}

/// Calls `change`, with pauses, until there are no more rows to change. It gets the largest number of rows
/// that it may change, and returns the number of those that it changed. Returns the number of all.
pub async fn change_in_batches<F>(change: impl Fn(i64) -> F) -> Result<u64, Error>
where
    F: Future<Output = Result<u64, Error>>,
{
    let mut changed = 0;
    loop {
        let rows = change(BATCH).await?;
        changed += rows;
        if rows < BATCH.cast_unsigned() {
            return Ok(changed);
        }
        tokio::time::sleep(PAUSE).await;
    }
}
