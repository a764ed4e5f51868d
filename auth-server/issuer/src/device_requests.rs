//! The requests of devices for authorization (RFC 8628): short-lived, decided once by a user, used once by
//! their client.

mod user_code;

pub use user_code::UserCode;

use foundation::clock::Timestamp;
use foundation::random;
use foundation::scope::Scope;
use foundation::secret::{self, Secret};
use identity::authentication_methods::SignIn;
use identity::refresh_families::{Epochs, StoredScope};
use identity::sessions::Session;
use std::time::Duration;
use storage::db::{Db, Error, Tx};
use storage::{delete_expired, execute, fetch_optional, sql};

/// A condition on `device_requests`: at the time `$2` a user may decide.
macro_rules! is_open {
    () => {
        "decided_at IS NULL AND expires_at > $2
         AND client_epoch = (SELECT epoch FROM clients WHERE clients.id = client_id)"
    };
}

sql! {
    INSERT = "INSERT INTO device_requests
              (id, device_code_hash, user_code_mac, client_id, client_epoch, scope, address, created_at, expires_at,
               poll_interval, next_poll_at)
              SELECT $1, $2, $3, clients.id, clients.epoch, $5, $6, $7, $8, $9, $7
              FROM clients WHERE clients.id = $4 AND clients.disabled_at IS NULL";
    FIND_OPEN = concat!(
        "SELECT id, client_id, scope, address, created_at FROM device_requests
         WHERE user_code_mac = $1 AND ", is_open!());
    // Reads the table `sessions` too, which another module owns. The caller has locked the session.
    ALLOW = concat!(
        "UPDATE device_requests
         SET decided_at = $2, user_id = $3, user_epoch = $4, consent_id = $5,
             auth_time = (SELECT sessions.created_at FROM sessions WHERE sessions.id = $6),
             amr = (SELECT sessions.amr FROM sessions WHERE sessions.id = $6)
         WHERE id = $1 AND ", is_open!());
    DENY = concat!("UPDATE device_requests SET decided_at = $2 WHERE id = $1 AND ", is_open!());
    FIND = "SELECT id, user_id, expires_at, decided_at, used_at FROM device_requests
            WHERE device_code_hash = $1 AND client_id = $2
              AND client_epoch = (SELECT epoch FROM clients WHERE clients.id = client_id)";
    POLL = "UPDATE device_requests SET next_poll_at = $2 + poll_interval * 1000000
            WHERE id = $1 AND decided_at IS NULL AND next_poll_at <= $3";
    SLOW_DOWN = "UPDATE device_requests
                 SET poll_interval = poll_interval + $4, next_poll_at = $2 + (poll_interval + $4) * 1000000
                 WHERE id = $1 AND decided_at IS NULL AND next_poll_at > $3";
    CLAIM = "UPDATE device_requests SET used_at = $2
             WHERE id = $1 AND user_id IS NOT NULL AND used_at IS NULL AND expires_at > $2
               AND client_epoch = (SELECT epoch FROM clients WHERE clients.id = client_id)
             RETURNING id, client_id, client_epoch, scope, user_id, user_epoch, consent_id, auth_time, amr";
    PRUNE = delete_expired!("device_requests");
}

/// The time in which a user can decide and the client can get its tokens.
pub(crate) const LIFETIME: Duration = Duration::from_secs(600);
/// The least time between two polls of a client, and the time by which a poll that comes too early prolongs
/// it (RFC 8628 §3.5).
pub(crate) const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// The time by which a poll may arrive before the interval has passed, because network latency varies.
const TOLERANCE: Duration = Duration::from_secs(1);
/// The time for which a request is kept after its expiry, to recognize a replay.
const RETENTION: Duration = Duration::from_secs(24 * 3600);

/// A request that a user may decide.
#[derive(sqlx::FromRow)]
pub(crate) struct OpenRequest {
    /// The id.
    pub(crate) id: String,
    /// The client that asks.
    pub(crate) client_id: String,
    /// The requested scope names, separated by spaces.
    pub(crate) scope: String,
    /// The IP address that asked.
    pub(crate) address: Option<String>,
    /// The time at which it asked.
    pub(crate) created_at: Timestamp,
}

/// The state of a request whose device code the client presents.
pub(crate) enum State {
    /// No user has decided yet.
    Pending,
    /// A user denied it.
    Denied,
    /// A user allowed it.
    Allowed,
    /// The client has used it. The value is the id of the user who allowed it.
    Used(i64),
    /// It has expired.
    Expired,
}

#[derive(sqlx::FromRow)]
struct StateRow {
    id: String,
    user_id: Option<i64>,
    expires_at: Timestamp,
    decided_at: Option<Timestamp>,
    used_at: Option<Timestamp>,
}

/// A request that the client has used up.
#[derive(sqlx::FromRow)]
pub(crate) struct ClaimedRequest {
    pub(crate) id: String,
    pub(crate) client_id: String,
    #[sqlx(flatten)]
    pub(crate) epochs: Epochs,
    #[sqlx(try_from = "StoredScope")]
    pub(crate) scope: Scope,
    pub(crate) user_id: i64,
    pub(crate) consent_id: String,
    #[sqlx(flatten)]
    pub(crate) sign_in: SignIn,
}

/// Stores a request of a client at an IP address, under the MAC of its user code, and the hash of a new
/// device code, which it returns. Returns `None`, without effect, if the client is disabled. Fails with
/// [`Error::Conflict`] if another request has the user code.
pub(crate) async fn create(
    db: &Db,
    user_code_mac: Vec<u8>,
    client_id: &str,
    scope: Scope,
    address: Option<String>,
    now: Timestamp,
) -> Result<Option<Secret>, Error> {
    let device_code = random::token();
    let inserted = execute!(
        db.writer(),
        INSERT,
        random::id(),
        device_code.hash(),
        user_code_mac,
        client_id.to_owned(),
        scope.to_string(),
        address,
        now,
        now.after(LIFETIME),
        seconds(POLL_INTERVAL),
    )?;
    Ok((inserted == 1).then_some(device_code))
}

/// Returns the request with this MAC of its user code, if a user may decide it.
pub(crate) async fn find_open(
    db: &Db,
    user_code_mac: &[u8],
    now: Timestamp,
) -> Result<Option<OpenRequest>, Error> {
    fetch_optional!(db.reader(), OpenRequest, FIND_OPEN, user_code_mac, now)
}

/// Records that the user of a session, whose sign-in counts, allows a request by a consent. Returns false,
/// without effect, if it can no longer be decided. The caller has locked the session.
pub(crate) async fn allow(
    tx: &mut Tx,
    id: &str,
    session: &Session,
    consent_id: &str,
    now: Timestamp,
) -> Result<bool, Error> {
    let authority = session.authority();
    let (user_id, epoch) = (authority.user_id, authority.epoch);
    let allowed = execute!(tx.on(), ALLOW, id, now, user_id, epoch, consent_id, session.id)?;
    Ok(allowed == 1)
}

/// Records that a user denies a request. Returns false, without effect, if it can no longer be decided.
pub(crate) async fn deny(tx: &mut Tx, id: &str, now: Timestamp) -> Result<bool, Error> {
    Ok(execute!(tx.on(), DENY, id, now)? == 1)
}

/// Returns the id and the state of the request with this device code; `None` if it is unknown or of another
/// client, or if all tokens of the client have ended since.
pub(crate) async fn find(
    db: &Db,
    device_code: &str,
    client_id: &str,
    now: Timestamp,
) -> Result<Option<(String, State)>, Error> {
    let code_hash = secret::hash(device_code);
    let row = fetch_optional!(db.reader(), StateRow, FIND, code_hash, client_id)?;
    Ok(row.map(|row| {
        let state = match (row.used_at, row.user_id, row.decided_at) {
            (Some(_), Some(user_id), _) => State::Used(user_id),
            _ if row.expires_at <= now => State::Expired,
            (_, Some(_), _) => State::Allowed,
            (_, None, Some(_)) => State::Denied,
            (_, None, None) => State::Pending,
        };
        (row.id, state)
    }))
}

/// Records a poll of a request that no user has decided. Returns whether the client kept the interval. If it
/// did not, the interval grows by five seconds (RFC 8628 §3.5).
pub(crate) async fn record_poll(db: &Db, id: &str, now: Timestamp) -> Result<bool, Error> {
    let allowed_from = now.after(TOLERANCE);
    if execute!(db.writer(), POLL, id.to_owned(), now, allowed_from)? == 1 {
        return Ok(true);
    }
    let more = seconds(POLL_INTERVAL);
    // No row: a user has decided meanwhile.
    Ok(execute!(db.writer(), SLOW_DOWN, id.to_owned(), now, allowed_from, more)? == 0)
}

/// Marks an allowed request as used: of several concurrent callers, only one gets it. Returns `None`, without
/// effect, if it is not allowed, or used or expired.
pub(crate) async fn claim(tx: &mut Tx, id: &str, now: Timestamp) -> Result<Option<ClaimedRequest>, Error> {
    fetch_optional!(tx.on(), ClaimedRequest, CLAIM, id, now)
}

/// Deletes requests whose retention has ended. Returns their number.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, Error> {
    db.prune(PRUNE, now.before(RETENTION)).await
}

fn seconds(length: Duration) -> i64 {
    i64::try_from(length.as_secs()).unwrap_or(i64::MAX)
}
