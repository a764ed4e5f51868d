//! Sessions, which browsers identify by the `sid` cookie.

pub(crate) mod ends;
pub(crate) mod lists;

pub(crate) use ends::end_every;
use ends::end_others;
pub use ends::{end, end_all, end_by_sid, find_end, prune_ended, revoke, revoke_others, revoke_own};
pub use lists::{ListQuery, OwnSession, SessionDetails, SessionSummary, UserSession, details, list, page};

use crate::authentication_methods::AuthenticationMethods;
use crate::authority::Authority;
use crate::end_reason::EndReason;
use crate::services::SessionLifetimes;
use crate::users::User;
use foundation::clock::Timestamp;
use foundation::context::{Administrator, RequestContext};
use foundation::secret::Secret;
use foundation::{random, time_limits};
use revocation::RevokingTx;
use std::time::Duration;
use storage::db::{Db, Error, Tx};
use storage::{delete_expired, execute, fetch_one, fetch_optional, sql};

sql! {
    // Returns whether the user has more sessions than the maximum.
    INSERT = "INSERT INTO sessions (sid_hash, user_id, created_at, last_seen_at, expires_at, address, user_agent, amr)
              VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
              RETURNING id, EXISTS (SELECT 1 FROM sessions AS former WHERE former.user_id = $2 AND former.sid_hash <> $1
                                    LIMIT 1 OFFSET $9) AS is_beyond";
    RENEW = "UPDATE sessions SET sid_hash = $3, created_at = $4, last_seen_at = $4, expires_at = $5, address = $6, user_agent = $7,
                                 amr = $8
             WHERE sid_hash = $1 AND user_id = $2";
    // Reads the table `users` too, which another module owns, so that a request takes one round trip.
    FIND = "SELECT s.id AS session_id, s.created_at AS signed_in_at, s.last_seen_at, s.expires_at, s.amr, u.password_change_required,
                   u.epoch, u.id, u.email, u.email_verified, u.role, u.created_at, u.updated_at
            FROM sessions s JOIN users u ON u.id = s.user_id
            WHERE s.sid_hash = $1 AND s.last_seen_at > $2 AND s.expires_at > $3 AND u.disabled_at IS NULL";
    UPDATE_LAST_SEEN = "UPDATE sessions SET last_seen_at = $2 WHERE id = $1 AND last_seen_at < $2";
    LOCK_SQLITE, LOCK_POSTGRES = "SELECT id FROM sessions WHERE id = $1 AND expires_at > $2 AND created_at = $3";
    FIND_USER = "SELECT user_id FROM sessions WHERE id = $1";
    PRUNE = delete_expired!("sessions");
}

/// The minimum time between two updates of a session's `last_seen_at`, so that not every request writes. If a
/// tenth of the idle lifetime is shorter, that applies instead.
const LAST_SEEN_INTERVAL: Duration = Duration::from_secs(60);

/// The longest time that a request waits for the update of `last_seen_at`, which the factor of
/// [`time_limits`] multiplies.
const LAST_SEEN_TIMEOUT: Duration = Duration::from_millis(500);

/// The longest time for which a sign-in takes the place of the credentials in a sensitive change.
const RECENT_SIGN_IN: Duration = Duration::from_secs(10 * 60);

/// The largest number of sessions of a user. It bounds the cost of ending all of them, which a change of the
/// password does: somebody who knows the password could otherwise prevent the change by very many sign-ins.
const MAX_PER_USER: i64 = 100;

/// A live session and its user.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct Session {
    /// The session's id, which is not secret.
    #[sqlx(rename = "session_id")]
    pub id: i64,
    /// The user who signed in.
    #[sqlx(flatten)]
    pub user: User,
    /// The epoch of the user when the session was found.
    epoch: i64,
    /// Whether the user must choose another password before doing anything else.
    pub password_change_required: bool,
    /// The time of the latest sign-in.
    pub signed_in_at: Timestamp,
    /// The methods of the latest sign-in.
    #[sqlx(rename = "amr", try_from = "String")]
    pub(crate) methods: AuthenticationMethods,
    /// The end of the session's absolute lifetime.
    pub expires_at: Timestamp,
    /// The stored time of the last use when the session was found.
    last_seen_at: Timestamp,
}

impl Session {
    /// Returns whether the latest sign-in is recent enough for a sensitive change without the credentials.
    pub fn has_recent_sign_in(&self, now: Timestamp) -> bool {
        // If the clock was set back since, the sign-in may lie in the future.
        now.since(self.signed_in_at) <= RECENT_SIGN_IN && self.signed_in_at.since(now) <= RECENT_SIGN_IN
    }

    /// Returns how long the latest sign-in stays recent.
    pub fn remaining_recent_sign_in(&self, now: Timestamp) -> Duration {
        RECENT_SIGN_IN.saturating_sub(now.since(self.signed_in_at))
    }

    /// Returns the authority of a request in this session.
    pub const fn authority(&self) -> Authority {
        Authority {
            user_id: self.user.id,
            epoch: self.epoch,
            session_id: Some(self.id),
            signed_in_at: Some(self.signed_in_at),
        }
    }

    /// Returns the user as the administrator of a change in this session.
    pub const fn administrator(&self) -> Administrator {
        Administrator {
            user_id: self.user.id,
            epoch: self.epoch,
            session: Some((self.id, self.signed_in_at)),
        }
    }
}

/// Starts a session of a user who signed in by these methods just now. If the user has more than 100 now,
/// ends the one that has been unused for the longest time. Returns the new `sid`. The caller has locked the
/// user's row.
pub async fn start(
    tx: &mut RevokingTx,
    user_id: i64,
    methods: AuthenticationMethods,
    lifetimes: SessionLifetimes,
    context: &RequestContext,
) -> Result<Secret, Error> {
    let expires_at = context.now.after(lifetimes.absolute);
    let (sid, id, is_beyond) = insert(tx, user_id, (context.now, methods), expires_at, context).await?;
    if is_beyond {
        let (others, reason) = (MAX_PER_USER - 1, EndReason::NewerSignIns);
        end_others(tx, user_id, id, others, reason, context).await?;
    }
    Ok(sid)
}

/// Renews the session with the `sid` `former` if it is one of this user, who signed in again by these methods
/// just now: it gets a new `sid`, which this function returns, and the lifetime of a new session. The former
/// `sid` ends. The id stays, and with it the codes and the refresh families, which live on although the
/// session was unused for too long. Returns `None`, without effect, if there is no such session; of several
/// concurrent calls, one renews it.
pub(crate) async fn renew(
    tx: &mut Tx,
    former: &Secret,
    user_id: i64,
    methods: AuthenticationMethods,
    lifetimes: SessionLifetimes,
    context: &RequestContext,
) -> Result<Option<Secret>, Error> {
    let (sid, now) = (random::token(), context.now);
    let renewed = execute!(
        tx.on(),
        RENEW,
        former.hash(),
        user_id,
        sid.hash(),
        now,
        now.after(lifetimes.absolute),
        context.address.map(|address| address.to_string()),
        context.user_agent.as_deref(),
        methods.as_str(),
    )?;
    Ok((renewed == 1).then_some(sid))
}

/// Starts a session in the place of one that ends in this transaction. Returns its new `sid`. The sign-in
/// remains that of the former session, and so does the end of the absolute lifetime; `methods` are those that
/// the user has used by now.
pub(crate) async fn replace(
    tx: &mut Tx,
    former: &Session,
    methods: AuthenticationMethods,
    context: &RequestContext,
) -> Result<Secret, Error> {
    let sign_in = (former.signed_in_at, methods);
    let (sid, ..) = insert(tx, former.user.id, sign_in, former.expires_at, context).await?;
    Ok(sid)
}

/// Inserts a session of a user who signed in at this time by these methods. Returns its `sid`, its id, and
/// whether the user has more sessions than the maximum.
async fn insert(
    tx: &mut Tx,
    user_id: i64,
    (signed_in_at, methods): (Timestamp, AuthenticationMethods),
    expires_at: Timestamp,
    context: &RequestContext,
) -> Result<(Secret, i64, bool), Error> {
    let sid = random::token();
    let (id, is_beyond) = fetch_one!(
        tx.on(),
        (i64, bool),
        INSERT,
        sid.hash(),
        user_id,
        signed_in_at,
        context.now,
        expires_at,
        context.address.map(|address| address.to_string()),
        context.user_agent.as_deref(),
        methods.as_str(),
        MAX_PER_USER - 1,
    )?;
    Ok((sid, id, is_beyond))
}

/// Returns the live session with this `sid`, and updates the time of its last use. Returns `None` if there is
/// no such session, if its idle or absolute lifetime ended, or if its user is disabled.
pub async fn find(
    db: &Db,
    sid: &Secret,
    lifetimes: SessionLifetimes,
    now: Timestamp,
) -> Result<Option<Session>, Error> {
    let idle_since = now.before(lifetimes.idle);
    let found = fetch_optional!(db.reader(), Session, FIND, sid.hash(), idle_since, now)?;
    if let Some(session) = &found
        && now.since(session.last_seen_at) > LAST_SEEN_INTERVAL.min(lifetimes.idle / 10)
    {
        update_last_seen(db.clone(), session.id, now).await;
    }
    Ok(found)
}

/// Updates the time of a session's last use. The request continues if this fails or takes too long.
async fn update_last_seen(db: Db, id: i64, now: Timestamp) {
    let update = tokio::spawn(async move {
        if let Err(error) = execute!(db.writer(), UPDATE_LAST_SEEN, id, now) {
            tracing::warn!(%error, "the time of a session's last use was not updated");
        }
    });
    let _ = tokio::time::timeout(time_limits::multiplied(LAST_SEEN_TIMEOUT), update).await;
}

/// Locks the row of a session until the transaction ends. Returns whether it still exists, is within its
/// absolute lifetime, and has not been renewed since `signed_in_at` by another sign-in, which ends the `sid`
/// by which it was found.
pub(crate) async fn lock(
    tx: &mut Tx,
    id: i64,
    signed_in_at: Timestamp,
    now: Timestamp,
) -> Result<bool, Error> {
    let on = tx.on();
    let lock = on.choose(LOCK_SQLITE, LOCK_POSTGRES);
    Ok(fetch_optional!(on, (i64,), lock, id, now, signed_in_at)?.is_some())
}

/// Returns the user of the session with this id, if there is one.
pub(crate) async fn find_user(db: &Db, id: i64) -> Result<Option<i64>, Error> {
    let row = fetch_optional!(db.reader(), (i64,), FIND_USER, id)?;
    Ok(row.map(|(user_id,)| user_id))
}

/// Deletes the sessions whose absolute lifetime ended, and returns their number.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, Error> {
    db.prune(PRUNE, now).await
}
