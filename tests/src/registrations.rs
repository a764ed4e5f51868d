//! Clients that registered themselves and were never used, in numbers that no network may register in a test.

use crate::world::World;
use std::time::Duration;
use storage::db::Db;
use storage::{execute, fetch_one};

/// The number of abandoned clients.
const ROWS: i64 = 100_000;
/// The rows that one statement inserts within its time limit on a busy machine.
const ROWS_PER_STATEMENT: i64 = 10_000;
/// The time after which a client that was never used ends.
const DAY: Duration = Duration::from_secs(24 * 3600);

const FILL: &str = "
    INSERT INTO clients (id, name, type, redirect_uris, post_logout_redirect_uris, scope, default_scope, first_party,
                         refresh_cookie, refresh_retry_window, epoch, created_at, origin, unused_until)
    WITH RECURSIVE numbers (n) AS (SELECT CAST($1 AS BIGINT) + 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $1 + $3)
    SELECT 'abandoned-' || n, 'An app', CASE WHEN n % 2 = 0 THEN 'spa' ELSE 'native' END,
           '[\"https://abandoned.test/' || n || '\"]', '[]', 'posts:read', 'posts:read', FALSE, FALSE, 0, 0, 1,
           'registration', CAST($2 AS BIGINT)
    FROM numbers";

impl World {
    /// Inserts 100,000 clients that registered themselves just now and were never used.
    pub async fn abandon_registrations(&self, db: &Db) {
        let end = self.now().after(DAY);
        for first in 0..ROWS / ROWS_PER_STATEMENT {
            let before = first * ROWS_PER_STATEMENT;
            execute!(db.writer(), FILL, before, end, ROWS_PER_STATEMENT).unwrap();
        }
    }
}

/// The number of clients that registered themselves and were never used.
pub async fn count_unused_registrations(db: &Db) -> i64 {
    let unused = "SELECT COUNT(*) FROM clients WHERE unused_until IS NOT NULL";
    fetch_one!(db.reader(), (i64,), unused).unwrap().0
}
