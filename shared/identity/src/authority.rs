//! The authority of a request to write for a user. It is checked when the body of the request has arrived,
//! and again by the statement or the transaction that writes.

use foundation::clock::Timestamp;
use storage::db::{Error, Executor, Tx};
use storage::{fetch_optional, sql};

/// `authority_holds!("$1", "$2", "$3", " FOR SHARE")` is an SQL condition: the [`Authority`] whose `user_id`,
/// `epoch` and `session_id` are these parameters holds. It does not check whether the session has expired.
/// The last argument locks the user's row on PostgreSQL, so that the epoch cannot end before the transaction
/// does. It is empty for SQLite, which has no row locks and one writer.
#[macro_export]
macro_rules! authority_holds {
    ($user_id:literal, $epoch:literal, $session_id:literal, $lock:literal) => {
        concat!(
            "EXISTS (SELECT 1 FROM users WHERE users.id = ",
            $user_id,
            " AND users.epoch = ",
            $epoch,
            $lock,
            ") AND (CAST(",
            $session_id,
            " AS BIGINT) IS NULL OR EXISTS (SELECT 1 FROM sessions WHERE sessions.id = ",
            $session_id,
            "))"
        )
    };
}

/// The text of the statement that finds a session if the authority `$1`, `$2`, `$3`, `$5` holds. `$user_lock`
/// and `$session_lock` are locking clauses, or empty. The condition on the user names no column of the
/// session, so PostgreSQL locks the user first.
macro_rules! lock_session {
    ($user_lock:literal, $session_lock:literal) => {
        concat!(
            "SELECT sessions.id FROM sessions
             WHERE sessions.id = $3 AND sessions.expires_at > $4 AND sessions.created_at = $5
               AND EXISTS (SELECT 1 FROM users WHERE users.id = $1 AND users.epoch = $2",
            $user_lock,
            ")",
            $session_lock
        )
    };
}

sql! {
    HOLDS = concat!(
        "SELECT CAST(1 AS BIGINT) FROM (SELECT 1) AS one WHERE ", authority_holds!("$1", "$2", "$3", ""),
        " AND NOT EXISTS (SELECT 1 FROM sessions
                          WHERE sessions.id = $3 AND (sessions.expires_at <= $4 OR sessions.created_at <> $5))");
    LOCK_SESSION_SQLITE = lock_session!("", "");
    LOCK_SESSION_POSTGRES = lock_session!(" FOR NO KEY UPDATE", " FOR NO KEY UPDATE OF sessions");
}

/// A user whose credentials were verified, with the epoch and the session on which these credentials depend.
/// The authority ends with the session, with the next sign-in in it, which gives it another `sid`, and with
/// the epoch, which ends whenever the user is signed out everywhere: for example by a change of the password
/// or the role, and by the disabling or deletion of the account.
#[derive(Clone, Copy, Debug)]
pub struct Authority {
    /// The id of the user.
    pub user_id: i64,
    /// The epoch of the user (see [`StoredCredentials::epoch`](crate::users::StoredCredentials::epoch)) in
    /// which the session or the access token began.
    pub epoch: i64,
    /// The id of the session; `None` for an access token.
    pub session_id: Option<i64>,
    /// The time of the sign-in in the session; `None` for an access token.
    pub signed_in_at: Option<Timestamp>,
}

impl Authority {
    /// Returns whether the epoch is the user's current one, and the session exists, has had no other sign-in
    /// and has not reached the end of its absolute lifetime at `now`. Fails if the database does.
    pub async fn holds(self, on: Executor<'_>, now: Timestamp) -> Result<bool, Error> {
        let (id, epoch, session_id) = (self.user_id, self.epoch, self.session_id);
        let row = fetch_optional!(on, (i64,), HOLDS, id, epoch, session_id, now, self.signed_in_at)?;
        Ok(row.is_some())
    }

    /// Locks the rows of the user and of the session until the transaction ends, and returns whether the
    /// authority holds, as [`Authority::holds`] does; false for an authority without a session. If so, what
    /// this transaction writes is committed before the authority ends. The user comes first, as in the
    /// transactions that end all sessions of a user.
    pub async fn lock_session(self, tx: &mut Tx, now: Timestamp) -> Result<bool, Error> {
        let on = tx.on();
        let lock = on.choose(LOCK_SESSION_SQLITE, LOCK_SESSION_POSTGRES);
        let (id, epoch, session_id) = (self.user_id, self.epoch, self.session_id);
        let row = fetch_optional!(on, (i64,), lock, id, epoch, session_id, now, self.signed_in_at)?;
        Ok(row.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use storage::db::Db;
    use storage::execute;
    use tempfile::TempDir;

    const AUTHORITY: Authority = Authority {
        user_id: 1,
        epoch: 3,
        session_id: Some(2),
        signed_in_at: Some(Timestamp::from_micros(0)),
    };

    /// A database with the user and the session of [`AUTHORITY`], which expires at `expires_at`.
    async fn open(expires_at: Timestamp) -> (TempDir, Db) {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("test.db").display());
        let db = Db::open(&url.parse().unwrap(), 1, 1).await.unwrap();
        db.migrate().await.unwrap();
        let user = "INSERT INTO users (id, email, email_key, email_verified, role, password_hash, epoch,
                                       password_change_required, created_at, updated_at)
                    VALUES (1, 'ann@example.org', 'ann@example.org', FALSE, 'user', '', 3, FALSE, 0, 0)";
        execute!(db.writer(), user).unwrap();
        let session =
            "INSERT INTO sessions (id, sid_hash, user_id, created_at, last_seen_at, expires_at, amr)
                       VALUES (2, x'00', 1, 0, 0, $1, 'pwd')";
        execute!(db.writer(), session, expires_at).unwrap();
        (directory, db)
    }

    /// Whether the authority holds, and whether a statement that writes and a transaction that locks find so.
    async fn checks(db: &Db, authority: Authority, now: Timestamp) -> [bool; 3] {
        let write = concat!(
            "UPDATE users SET updated_at = 0 WHERE id = 1 AND ",
            authority_holds!("$1", "$2", "$3", "")
        );
        let Authority {
            user_id,
            epoch,
            session_id,
            ..
        } = authority;
        let written = execute!(db.writer(), write, user_id, epoch, session_id).unwrap();
        let mut tx = db.begin().await.unwrap();
        [
            authority.holds(db.reader(), now).await.unwrap(),
            written == 1,
            authority.lock_session(&mut tx, now).await.unwrap(),
        ]
    }

    #[tokio::test]
    async fn an_authority_ends_with_its_epoch_and_its_session() {
        let now = Timestamp::from_micros(1_000_000);
        let expires_at = now.after(Duration::from_secs(1));
        let (_directory, db) = open(expires_at).await;
        assert_eq!(checks(&db, AUTHORITY, now).await, [true, true, true]);
        let former = Authority {
            epoch: 2,
            ..AUTHORITY
        };
        assert_eq!(checks(&db, former, now).await, [false, false, false]);
        // The statement that writes leaves the expiry to the check before it.
        assert_eq!(checks(&db, AUTHORITY, expires_at).await, [false, true, false]);
        // A sign-in in the session gives it another identifier, which that check finds too.
        execute!(db.writer(), "UPDATE sessions SET created_at = 1 WHERE id = 2").unwrap();
        assert_eq!(checks(&db, AUTHORITY, now).await, [false, true, false]);
        execute!(db.writer(), "DELETE FROM sessions WHERE id = 2").unwrap();
        assert_eq!(checks(&db, AUTHORITY, now).await, [false, false, false]);
        let of_token = Authority {
            session_id: None,
            signed_in_at: None,
            ..AUTHORITY
        };
        assert_eq!(checks(&db, of_token, now).await, [true, true, false]);
    }
}
