//! The ids that an SQLite database gives out.

use super::{Error, Tx};
use crate::{execute, sql};
use foundation::clock::Timestamp;

sql! {
    // SQLite has no such row of a table that never had one itself.
    BEGIN_IDS_SQLITE = "INSERT INTO sqlite_sequence (name, seq)
                        SELECT name, 0 FROM sqlite_schema
                        WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'
                          AND name NOT IN (SELECT name FROM sqlite_sequence)";
    SKIP_IDS_SQLITE = "UPDATE sqlite_sequence SET seq = $1 WHERE seq < $1";
}

impl Tx {
    /// Makes every table with growing ids continue at `now`, in microseconds, on SQLite: beyond all ids that
    /// were given before, because no table gets a row in each microsecond.
    pub async fn skip_used_ids(&mut self, now: Timestamp) -> Result<(), Error> {
        execute!(self.on(), BEGIN_IDS_SQLITE)?;
        execute!(self.on(), SKIP_IDS_SQLITE, now).map(|_| ())
    }
}
