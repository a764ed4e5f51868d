//! The rows of the revocations, read in the order in which their transactions were committed.

use super::kind::{Kind, Revocation};
use foundation::clock::Timestamp;
use storage::db::{Db, Error, Version, Watch};
use storage::{fetch_all, fetch_one, sql};

sql! {
    POSITION_SQLITE = "SELECT CAST(COALESCE(MAX(id), 0) AS TEXT) FROM revocations";
    // A snapshot: the set of the transactions that were finished.
    POSITION_POSTGRES = "SELECT CAST(pg_current_snapshot() AS TEXT)";
    // The next rows of all.
    PAGE = "SELECT id, kind, subject, revoked_at, expires_at FROM revocations WHERE id > $1 ORDER BY id LIMIT $2";
    // The rows that were committed since the read with the position $1. The first row has the position of
    // this read.
    NEW_SQLITE = "SELECT CAST(id AS TEXT) AS position, id, kind, subject, revoked_at, expires_at
                  FROM revocations WHERE id > CAST($1 AS INTEGER)
                  ORDER BY id DESC";
    // Returns a row without a revocation if there is no new one. The first two conditions are those that the
    // index can serve. The second one leaves out rows of a dump from another cluster, whose transactions have
    // numbers that this one has not reached yet: the first read found them, and every further one would find
    // them again.
    NEW_POSTGRES = "SELECT CAST(pg_current_snapshot() AS TEXT) AS position, new.id, new.kind, new.subject, new.revoked_at,
                           new.expires_at
                    FROM (SELECT 1) AS one LEFT JOIN revocations AS new
                        ON new.transaction_id >= pg_snapshot_xmin(CAST($1 AS pg_snapshot))
                       AND new.transaction_id < pg_snapshot_xmax(pg_current_snapshot())
                       AND NOT pg_visible_in_snapshot(new.transaction_id, CAST($1 AS pg_snapshot))";
}

/// The number of rows that one statement of a read of all rows returns.
const PAGE_SIZE: i64 = 10_000;

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

/// A row of PAGE, in the order of its columns.
type PageRow = (i64, String, String, Timestamp, Timestamp);

#[derive(sqlx::FromRow)]
struct NewRow {
    position: String,
    kind: Option<String>,
    subject: Option<String>,
    revoked_at: Option<Timestamp>,
    expires_at: Option<Timestamp>,
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

    /// Returns the revocations that were committed since the previous read. At the first read, after a read
    /// that failed, and if the database was replaced by an older copy, passes all of them to `add`, page by
    /// page, and returns `None`.
    pub(super) async fn read(
        &mut self,
        add: impl FnMut(&[Revocation]),
    ) -> Result<Option<Vec<Revocation>>, Error> {
        let version = self.watch.version().await?;
        // If this read fails or is canceled, there is no position, and the next one reads all rows: the
        // database may have failed over to a server that lost the last transactions and uses their numbers
        // again.
        let new = match self.position.take() {
            Some(position) if version.is_some() && version == self.version => Some((position, Vec::new())),
            Some(position) => self.beyond(position).await?,
            None => None,
        };
        let (position, new) = match new {
            Some((position, revocations)) => (position, Some(revocations)),
            None => (self.read_all(add).await?, None),
        };
        self.position = Some(position);
        self.version = version;
        Ok(new)
    }

    /// Returns the new position and the revocations beyond a position, or `None` if the database was replaced
    /// by an older copy.
    async fn beyond(&self, position: String) -> Result<Option<(String, Vec<Revocation>)>, Error> {
        let sql = self.db.engine().choose(NEW_SQLITE, NEW_POSTGRES);
        let rows = fetch_all!(self.db.reader(), NewRow, sql, position.as_str())?;
        Ok(match rows.first().map(|row| row.position.clone()) {
            Some(new) if is_earlier(&new, &position) => None,
            new => Some((
                new.unwrap_or(position),
                rows.into_iter().filter_map(NewRow::revocation).collect(),
            )),
        })
    }

    /// Passes all revocations to `add`. Returns the position from before the read: rows that are committed
    /// meanwhile are beyond it.
    async fn read_all(&self, mut add: impl FnMut(&[Revocation])) -> Result<String, Error> {
        let sql = self.db.engine().choose(POSITION_SQLITE, POSITION_POSTGRES);
        let (position,) = fetch_one!(self.db.reader(), (String,), sql)?;
        let mut last_id = 0;
        loop {
            let page = fetch_all!(self.db.reader(), PageRow, PAGE, last_id, PAGE_SIZE)?;
            let Some((last, ..)) = page.last() else {
                return Ok(position);
            };
            last_id = *last;
            let known = page
                .into_iter()
                .filter_map(|(_, kind, subject, revoked_at, expires_at)| {
                    // This version may not know the kind.
                    let kind = Kind::named(&kind)?;
                    Some(Revocation {
                        kind,
                        subject,
                        revoked_at,
                        expires_at,
                    })
                });
            add(&Vec::from_iter(known));
        }
    }
}

impl NewRow {
    /// Returns the revocation; `None` if there is none, or if this version does not know its kind.
    fn revocation(self) -> Option<Revocation> {
        Some(Revocation {
            kind: Kind::named(&self.kind?)?,
            subject: self.subject?,
            revoked_at: self.revoked_at?,
            expires_at: self.expires_at?,
        })
    }
}

/// Returns whether fewer transactions had begun at one position than at another, which means that the
/// database was replaced by an older copy. Always false for positions on SQLite.
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
        let mut all = Vec::new();
        let new = rows.read(|page| all.extend_from_slice(page)).await.unwrap();
        let revocations = new.unwrap_or(all);
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
        assert_eq!(read(&mut rows).await, ["first", "second"]);
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
