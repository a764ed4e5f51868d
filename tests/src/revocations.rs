//! The reads of the revocations on PostgreSQL.

use crate::polling::eventually;
use crate::world::World;
use storage::fetch_one;

impl World {
    /// Expects that the mirrors and the issuers, which look for new revocations in PostgreSQL, find none.
    pub async fn expect_idle_mirrors(&self) {
        let db = self.db().await;
        let reads = async || {
            let reads =
                "SELECT seq_scan + idx_scan, (seq_tup_read + idx_tup_fetch)::BIGINT FROM pg_stat_user_tables
                         WHERE relname = 'revocations'";
            fetch_one!(db.reader(), (i64, i64), reads).unwrap()
        };
        // The server counts the reads of a connection once a second or later, so the first rounds may include
        // a burst.
        eventually("a known row is read again and again", async || {
            let (scans, rows) = reads().await;
            eventually("the mirrors do not read", async || reads().await.0 > scans + 20).await;
            reads().await.1 - rows < 100
        })
        .await;
    }
}
