//! The authority of a request to write for a user, checked by the statement or transaction that writes.

use foundation::clock::Timestamp;
use storage::db::{Db, Error};
use storage::{fetch_optional, sql};

/// `authority_holds!("$1", "$2", "$3", " FOR SHARE")` is the condition that an [`Authority`]
/// holds, whose `user_id`, `epoch` and `session_id` are these parameters. With the last argument, which SQLite neither needs
/// nor knows, it holds until the transaction ends.
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

/// A user whose credentials were verified, and what ends these credentials: the end of the user's epoch, which comes with
/// every change of the password, the role and the second factor, and with the disabling and the deletion of the account; and
/// the end of the session.
#[derive(Clone, Copy, Debug)]
pub struct Authority {
    /// The id of the user.
    pub user_id: i64,
    /// The epoch of the user (see [`StoredCredentials::epoch`](crate::users::StoredCredentials::epoch)) in which the session or
    /// the access token began.
    pub epoch: i64,
    /// The id of the session; `None` for an access token.
    pub session_id: Option<i64>,
}

impl Authority {
    /// Returns whether the authority holds at the time `now`.
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
