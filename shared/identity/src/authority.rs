//! The authority of a request to write for a user. It is checked when the body of the request has arrived, and again by
//! the statement or the transaction that writes.

use foundation::clock::Timestamp;
use storage::db::{Db, Error};
use storage::{fetch_optional, sql};

/// `authority_holds!("$1", "$2", "$3", " FOR SHARE")` is an SQL condition: the [`Authority`] whose `user_id`, `epoch`
/// and `session_id` are these parameters holds. It does not check whether the session has expired. The last argument
/// locks the user's row on PostgreSQL, so that the epoch cannot end before the transaction does. It is empty for
/// SQLite, which has no row locks and one writer.
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

sql! {
    HOLDS = concat!(
        "SELECT CAST(1 AS BIGINT) FROM (SELECT 1) AS one WHERE ", authority_holds!("$1", "$2", "$3", ""),
        " AND NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.id = $3 AND sessions.expires_at <= $4)");
}

/// A user whose credentials were verified, with the epoch and the session on which these credentials depend. The
/// authority ends with the session, and with the epoch, which ends whenever the user is signed out everywhere: for
/// example by a change of the password or the role, and by the disabling or deletion of the account.
#[derive(Clone, Copy, Debug)]
pub struct Authority {
    /// The id of the user.
    pub user_id: i64,
    /// The epoch of the user (see [`StoredCredentials::epoch`](crate::users::StoredCredentials::epoch)) in which the
    /// session or the access token began.
    pub epoch: i64,
    /// The id of the session; `None` for an access token.
    pub session_id: Option<i64>,
}

impl Authority {
    /// Returns whether the epoch is the user's current one, and the session exists and has not reached the end of its
    /// absolute lifetime at `now`. Fails if the database does.
    pub async fn holds(self, db: &Db, now: Timestamp) -> Result<bool, Error> {
        let Self {
            user_id,
            epoch,
            session_id,
        } = self;
        let row = fetch_optional!(db.reader(), (i64,), HOLDS, user_id, epoch, session_id, now)?;
        Ok(row.is_some())
    }
}
