//! The queue of logout tokens for the clients of sessions that ended (OpenID Connect Back-Channel Logout 1.0). The
//! issuer sends them.

use audit::outbox::Due;
use foundation::clock::Timestamp;
use storage::db::{Db, Error, Tx};
use storage::{execute, fetch_all, fetch_optional, sql};

/// Returns the text of the statement that queues a notice for each client that got ID tokens in the sessions with this
/// condition. Reads the tables `refresh_families` and `clients` too, which other modules own.
macro_rules! queue {
    ($condition:literal) => {
        concat!(
            "INSERT INTO logout_notices (client_id, user_id, session_id, created_at, due_at, attempts)
             SELECT DISTINCT family.client_id, family.user_id, family.session_id,
                             CAST($2 AS BIGINT), CAST($2 AS BIGINT), CAST(0 AS BIGINT)
             FROM refresh_families AS family JOIN clients ON clients.id = family.client_id
             WHERE clients.backchannel_logout_uri IS NOT NULL AND clients.disabled_at IS NULL
               AND ' ' || family.scope || ' ' LIKE '% openid %' AND ",
            $condition
        )
    };
}

sql! {
    QUEUE_OF_SESSION = queue!("family.session_id = $1");
    // The third parameter holds the ids of the sessions, each between two spaces.
    QUEUE_OF_SESSIONS = queue!("family.user_id = $1 AND $3 LIKE '% ' || family.session_id || ' %'");
    DUE = "SELECT id, due_at FROM logout_notices WHERE due_at <= $1 ORDER BY due_at, id LIMIT 100";
    CLAIM = "UPDATE logout_notices SET attempts = attempts + 1, due_at = $3 WHERE id = $1 AND due_at = $2
             RETURNING id, client_id, user_id, session_id, created_at, attempts";
    POSTPONE = "UPDATE logout_notices SET due_at = $2 WHERE id = $1 AND attempts = $3";
    DELETE = "DELETE FROM logout_notices WHERE id = $1";
}

/// A notice to a client that a session ended.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct LogoutNotice {
    /// The id of the notice.
    pub id: i64,
    /// The client.
    pub client_id: String,
    /// The user of the session.
    pub user_id: i64,
    /// The session.
    pub session_id: i64,
    /// The end of the session.
    pub created_at: Timestamp,
    /// The number of attempts, including the present one.
    pub attempts: i64,
}

/// Queues the notices of a session that ends in this transaction.
pub(crate) async fn queue_of_session(tx: &mut Tx, session_id: i64, now: Timestamp) -> Result<(), Error> {
    execute!(tx.on(), QUEUE_OF_SESSION, session_id, now).map(|_| ())
}

/// Queues the notices of sessions of a user that end in this transaction.
pub(crate) async fn queue_of_sessions(
    tx: &mut Tx,
    user_id: i64,
    session_ids: &[i64],
    now: Timestamp,
) -> Result<(), Error> {
    let ids: Vec<String> = session_ids.iter().map(i64::to_string).collect();
    let ids = format!(" {} ", ids.join(" "));
    execute!(tx.on(), QUEUE_OF_SESSIONS, user_id, now, ids).map(|_| ())
}

/// Returns the notices that are due, the most overdue first, at most 100.
pub async fn due(db: &Db, now: Timestamp) -> Result<Vec<Due>, Error> {
    fetch_all!(db.reader(), Due, DUE, now)
}

/// Claims a due notice until `lease_end`. Returns `None` if another process claimed it.
pub async fn claim(db: &Db, due: Due, lease_end: Timestamp) -> Result<Option<LogoutNotice>, Error> {
    let Due { id, due_at } = due;
    fetch_optional!(db.writer(), LogoutNotice, CLAIM, id, due_at, lease_end)
}

/// Postpones the next attempt of a claimed notice.
pub async fn postpone(db: &Db, notice: &LogoutNotice, due_at: Timestamp) -> Result<(), Error> {
    execute!(db.writer(), POSTPONE, notice.id, due_at, notice.attempts).map(|_| ())
}

/// Deletes a notice that was delivered or given up.
pub async fn delete(db: &Db, notice: &LogoutNotice) -> Result<(), Error> {
    execute!(db.writer(), DELETE, notice.id).map(|_| ())
}
