//! The queue of logout tokens for the clients of sessions that ended (OpenID Connect Back-Channel Logout
//! 1.0). The issuer sends them.

use foundation::clock::Timestamp;
use storage::db::{Array, Db, Error, Tx, change_in_batches};
use storage::outbox::Due;
use storage::{execute, fetch_all, fetch_optional, sql};

/// Returns the text of the statement that queues a notice for each client that got ID tokens in the sessions
/// with this condition. Reads the tables `refresh_families` and `clients` too, which other modules own.
macro_rules! queue {
    ($condition:literal) => {
        concat!(
            "INSERT INTO logout_notices (client_id, user_id, session_id, created_at, due_at, attempts)
             SELECT DISTINCT family.client_id, family.user_id, family.session_id,
                             CAST($2 AS BIGINT), CAST($2 AS BIGINT), CAST(0 AS BIGINT)
             FROM refresh_families AS family
             WHERE (SELECT backchannel_logout_uri IS NOT NULL AND disabled_at IS NULL FROM clients WHERE id = family.client_id)
               AND ' ' || family.scope || ' ' LIKE '% openid %' AND ",
            $condition
        )
    };
}

/// The condition of the notices that wait after a failed attempt: the notice itself, unless another process
/// claimed it meanwhile, and those of the client that are due.
macro_rules! failed {
    () => {
        "(id = $1 AND attempts = $2 OR client_id = $3 AND due_at <= $4)"
    };
}

sql! {
    QUEUE_OF_SESSION = queue!("family.session_id = $1");
    // The third parameter is the array of the ids of the sessions.
    QUEUE_OF_SESSIONS_SQLITE = queue!(
        "family.user_id = $1 AND family.session_id IN (SELECT value FROM json_each($3))");
    QUEUE_OF_SESSIONS_POSTGRES = queue!("family.user_id = $1 AND family.session_id = ANY ($3)");
    // The most overdue notice of each client comes first, so that a client with many does not displace the
    // others.
    DUE = "SELECT id, due_at, client_id AS recipient FROM logout_notices WHERE due_at <= $1
           ORDER BY ROW_NUMBER() OVER (PARTITION BY client_id ORDER BY due_at, id), due_at, id LIMIT 100";
    CLAIM = "UPDATE logout_notices SET attempts = attempts + 1, due_at = $3 WHERE id = $1 AND due_at = $2
             RETURNING id, client_id, user_id, session_id, created_at, attempts";
    GIVE_UP = concat!(
        "DELETE FROM logout_notices WHERE id IN (SELECT id FROM logout_notices WHERE ", failed!(),
        " AND created_at <= $5 LIMIT $6)");
    // A notice that was not tried itself inherits the number of attempts, so that the delays of a client that
    // does not answer grow, whichever of its notices is tried.
    POSTPONE = concat!(
        "UPDATE logout_notices SET due_at = $5, attempts = CASE WHEN attempts < $2 THEN $2 ELSE attempts END
         WHERE ", failed!());
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
    let ids = Array::of(session_ids, |id| *id);
    let sql = tx
        .on()
        .choose(QUEUE_OF_SESSIONS_SQLITE, QUEUE_OF_SESSIONS_POSTGRES);
    execute!(tx.on(), sql, user_id, now, ids).map(|_| ())
}

/// Returns the notices that are due, the most overdue one of each client first, at most 100.
pub async fn due(db: &Db, now: Timestamp) -> Result<Vec<Due>, Error> {
    fetch_all!(db.reader(), Due, DUE, now)
}

/// Claims a due notice until `lease_end`. Returns `None` if another process claimed it.
pub async fn claim(db: &Db, due: Due, lease_end: Timestamp) -> Result<Option<LogoutNotice>, Error> {
    let Due { id, due_at, .. } = due;
    fetch_optional!(db.writer(), LogoutNotice, CLAIM, id, due_at, lease_end)
}

/// A failed attempt to deliver a notice.
#[derive(Clone, Copy, Debug)]
pub struct FailedAttempt<'a> {
    /// The claimed notice.
    pub notice: &'a LogoutNotice,
    /// Whether the client did not answer. Its other notices that are due at `at` then share the failure.
    pub is_unanswered: bool,
    /// The time of the failure.
    pub at: Timestamp,
}

impl FailedAttempt<'_> {
    /// Postpones the next attempts.
    pub async fn postpone(self, db: &Db, due_at: Timestamp) -> Result<(), Error> {
        let (id, attempts, client, at) = self.notices();
        execute!(db.writer(), POSTPONE, id, attempts, client, at, due_at).map(|_| ())
    }

    /// Deletes the notices that were created at this time or before.
    pub async fn give_up(self, db: &Db, created_at: Timestamp) -> Result<(), Error> {
        let (id, attempts, client, at) = self.notices();
        let delete =
            async |limit: i64| execute!(db.writer(), GIVE_UP, id, attempts, client, at, created_at, limit);
        change_in_batches(delete).await.map(|_| ())
    }

    /// Returns the parameters of the condition `failed!`.
    fn notices(&self) -> (i64, i64, Option<&str>, Timestamp) {
        let notice = self.notice;
        let client = self.is_unanswered.then_some(notice.client_id.as_str());
        (notice.id, notice.attempts, client, self.at)
    }
}

/// Deletes a notice that was delivered.
pub async fn delete(db: &Db, notice: &LogoutNotice) -> Result<(), Error> {
    execute!(db.writer(), DELETE, notice.id).map(|_| ())
}
