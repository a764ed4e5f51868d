//! The rows of the revocations, read in the order in which their transactions were committed.

use super::{Kind, Revocation};
use foundation::clock::Timestamp;
use storage::db::{Db, Error, Version, Watch};
use storage::{fetch_all, sql};

sql! {
    // The rows that were committed since the read with the position $1. The first row has the position of this read.
    NEW_SQLITE = "SELECT CAST(id AS TEXT) AS position, kind, subject, revoked_at
                  FROM revocations WHERE id > CAST($1 AS INTEGER)
                  ORDER BY id DESC";
    // The position is a snapshot: the set of the transactions that were finished. Returns a row without a revocation if
    // there is no new one. The first condition is the one that the index can serve.
    NEW_POSTGRES = "SELECT CAST(pg_current_snapshot() AS TEXT) AS position, new.kind, new.subject, new.revoked_at
                    FROM (SELECT 1) AS one LEFT JOIN revocations AS new
                        ON new.transaction_id >= pg_snapshot_xmin(CAST($1 AS pg_snapshot))
                       AND NOT pg_visible_in_snapshot(new.transaction_id, CAST($1 AS pg_snapshot))";
}

/// The position before all rows on SQLite, whose ids begin at 1.
const START_SQLITE: &str = "0";
/// The snapshot in which no transaction is finished.
const START_POSTGRES: &str = "1:1:";

/// A reader of the rows that are new since its previous read.
#[derive(Debug)]
pub(super) struct RevocationRows {
    db: Db,
    watch: Watch,
    /// The database version before the last read.
    version: Option<Version>,
    /// The position of the last read; `None` if the next one must read all rows.
    position: Option<String>,
}

#[derive(sqlx::FromRow)]
struct Row {
    position: String,
    kind: Option<String>,
    subject: Option<String>,
    revoked_at: Option<Timestamp>,
}

impl RevocationRows {
    pub(super) fn new(db: Db) -> Self {
        Self {
            watch: db.watch(),
            db,
            version: None,
            position: None,
        }
    }

    /// Returns whether the next read reads all rows.
    pub(super) const fn reads_all(&self) -> bool {
        self.position.is_none()
    }

    /// Returns the revocations that were committed since the previous read. Returns all of them at the first read, after a read
    /// that failed, and if the database was replaced by an older copy.
    pub(super) async fn read(&mut self) -> Result<Vec<Revocation>, Error> {
        let version = self.watch.version().await?;
        // If this read fails or is canceled, there is no position, and the next one reads all rows: the database may
        // have failed over to a server that lost the last transactions and uses their numbers again.
        let (position, revocations) = match self.position.take() {
            Some(position) if version.is_some() && version == self.version => (position, Vec::new()),
            Some(position) => self.beyond(position).await?,
            None => self.all().await?,
        };
        self.position = Some(position);
        self.version = version;
        Ok(revocations)
    }

    /// Returns the new position and the revocations beyond a position, or all revocations if the database was replaced
    /// by an older copy.
    async fn beyond(&self, position: String) -> Result<(String, Vec<Revocation>), Error> {
        let rows = self.fetch_beyond(&position).await?;
        match rows.first().map(|row| row.position.clone()) {
            Some(new) if is_earlier(&new, &position) => self.all().await,
            new => Ok((new.unwrap_or(position), revocations(rows))),
        }
    }

    /// Returns the position and all revocations.
    async fn all(&self) -> Result<(String, Vec<Revocation>), Error> {
        let start = self.db.engine().choose(START_SQLITE, START_POSTGRES);
        let rows = self.fetch_beyond(start).await?;
        let position = rows.first().map_or(start, |row| &row.position).to_owned();
        Ok((position, revocations(rows)))
    }

    async fn fetch_beyond(&self, position: &str) -> Result<Vec<Row>, Error> {
        let sql = self.db.engine().choose(NEW_SQLITE, NEW_POSTGRES);
        fetch_all!(self.db.reader(), Row, sql, position)
    }
}

/// Returns the revocations of these rows. A kind that this version does not know is left out.
fn revocations(rows: Vec<Row>) -> Vec<Revocation> {
    let revocation = |row: Row| {
        Some(Revocation {
            kind: Kind::named(&row.kind?)?,
            subject: row.subject?,
            revoked_at: row.revoked_at?,
        })
    };
    rows.into_iter().filter_map(revocation).collect()
}

/// Returns whether fewer transactions had begun at one position than at another, which means that the database was
/// replaced by an older copy. Always false for positions on SQLite.
fn is_earlier(position: &str, than: &str) -> bool {
    let next_transaction = |snapshot: &str| snapshot.split(':').nth(1)?.parse::<u64>().ok();
    next_transaction(position) < next_transaction(than)
}

#[cfg(test)]
mod tests {
    use super::*;
    use storage::execute;

    async fn revoke(db: &Db, subject: &str) {
        let insert =
            "INSERT INTO revocations (kind, subject, revoked_at, expires_at) VALUES ('jti', $1, 0, 1)";
        execute!(db.writer(), insert, subject).unwrap();
    }

    async fn read(rows: &mut RevocationRows) -> Vec<String> {
        let revocations = rows.read().await.unwrap();
        revocations.into_iter().map(|one| one.subject).collect()
    }

    #[tokio::test]
    async fn a_revocation_is_read_once() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("test.db").display());
        let db = Db::open(&url.parse().unwrap(), 1, 1).await.unwrap();
        db.migrate().await.unwrap();
        let mut rows = RevocationRows::new(db.clone());
        for subject in ["first", "second"] {
            revoke(&db, subject).await;
        }
        assert_eq!(read(&mut rows).await, ["second", "first"]);
        // Any write changes the version of the database.
        let version = rows.version;
        execute!(db.writer(), "CREATE TABLE unrelated (id INTEGER)").unwrap();
        assert_eq!(read(&mut rows).await, [""; 0]);
        assert!(rows.version.is_some() && rows.version != version);
        revoke(&db, "third").await;
        assert_eq!(read(&mut rows).await, ["third"]);
    }

    #[test]
    fn a_snapshot_with_fewer_transactions_is_earlier() {
        assert!(is_earlier("90:95:", "90:100:92,93"));
        assert!(!is_earlier("90:100:92,93", "90:100:"));
        assert!(!is_earlier("90:101:", "90:100:"));
        assert!(!is_earlier("7", "9"));
    }
}
