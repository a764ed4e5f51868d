//! Refresh token families (RFC 9700 §4.14.2): one row for each code that was exchanged, whatever the
//! number of rotations. The tokens are derived from the row (`auth-server`'s `refresh_tokens`); here is
//! what can happen to a family. Its id is the access tokens' `grant_id`.

use audit::events::{Event, EventName};
use audit::revocation::{self, PendingAnnouncement};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::scope::Scope;
use std::time::Duration;
use storage::db::{Db, Error, Tx};
use storage::{execute, fetch_all, fetch_optional, sql};

sql! {
    INSERT = "INSERT INTO families (id, client_id, user_id, session_id, scope, generation, created_at,
                                    last_used_at, idle_expires_at, expires_at)
              VALUES ($1, $2, $3, $4, $5, 1, $6, $6, $7, $8)";
    FIND = "SELECT id, client_id, user_id, scope, generation, revoked_at FROM families WHERE id = $1";
    ROTATE = "UPDATE families SET generation = generation + 1, last_used_at = $5, idle_expires_at = $4
              WHERE id = $1 AND generation = $2 AND client_id = $3 AND revoked_at IS NULL
                AND idle_expires_at > $5 AND expires_at > $5
              RETURNING id, client_id, user_id, scope, generation, revoked_at";
    REVOKE_ONE = "UPDATE families SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL
                  RETURNING id, client_id, user_id, scope, generation, revoked_at";
    REVOKE_OF_USER = "UPDATE families SET revoked_at = $2 WHERE user_id = $1 AND revoked_at IS NULL
                      RETURNING id, client_id, user_id, scope, generation, revoked_at";
    REVOKE_OF_CLIENT = "UPDATE families SET revoked_at = $3
                        WHERE user_id = $1 AND client_id = $2 AND revoked_at IS NULL
                        RETURNING id, client_id, user_id, scope, generation, revoked_at";
    REVOKE_OF_SESSION = "UPDATE families SET revoked_at = $2
                         WHERE session_id = $1 AND revoked_at IS NULL
                           AND client_id IN (SELECT id FROM clients WHERE first_party)
                         RETURNING id, client_id, user_id, scope, generation, revoked_at";
    PRUNE = "DELETE FROM families WHERE expires_at <= $1";
}

/// A family to be.
#[derive(Clone, Debug)]
pub struct NewFamily {
    /// The id, chosen when the code was made.
    pub id: String,
    /// Whom the tokens are for.
    pub client_id: String,
    /// Whose tokens they are.
    pub user_id: i64,
    /// The session in which the user consented.
    pub session_id: i64,
    /// What was granted.
    pub scope: Scope,
}

/// A family as stored.
#[derive(Clone, Debug)]
pub struct Family {
    /// The id.
    pub id: String,
    /// Whom the tokens are for.
    pub client_id: String,
    /// Whose tokens they are.
    pub user_id: i64,
    /// What was granted.
    pub scope: Scope,
    /// The generation of the one refresh token that is good.
    pub generation: i64,
    /// Set once the family is dead.
    pub revoked_at: Option<Timestamp>,
}

/// How long a refresh token lives unused, and a family in all.
#[derive(Clone, Copy, Debug)]
pub struct Lifetimes {
    /// From one use to the next.
    pub idle: Duration,
    /// From the first token on; rotation never extends it.
    pub absolute: Duration,
}

/// Which families to revoke.
#[derive(Clone, Copy, Debug)]
pub enum Selection<'a> {
    /// One, by its id.
    Family(&'a str),
    /// All of a user.
    OfUser(i64),
    /// All of a user with one client.
    OfUserAndClient(i64, &'a str),
    /// Those that first-party clients began in a session.
    OfSession(i64),
}

#[derive(sqlx::FromRow)]
struct Row {
    id: String,
    client_id: String,
    user_id: i64,
    scope: String,
    generation: i64,
    revoked_at: Option<Timestamp>,
}

/// Begins a family at generation 1.
pub async fn create(tx: &mut Tx, new: &NewFamily, lifetimes: Lifetimes, now: Timestamp) -> Result<(), Error> {
    let (idle, absolute) = (now.after(lifetimes.idle), now.after(lifetimes.absolute));
    execute!(
        tx.on(),
        INSERT,
        new.id.as_str(),
        new.client_id.as_str(),
        new.user_id,
        new.session_id,
        new.scope.to_string(),
        now,
        idle,
        absolute,
    )
    .map(|_| ())
}

/// The family of this id.
pub async fn find(db: &Db, id: &str) -> Result<Option<Family>, Error> {
    Ok(fetch_optional!(db.reader(), Row, FIND, id)?.map(Family::from))
}

/// Claims the refresh token of `generation` in one conditional statement: of any number of callers one
/// gets the family with the next generation. `None` changed nothing.
pub async fn rotate(
    db: &Db,
    id: &str,
    generation: i64,
    client_id: &str,
    idle: Duration,
    now: Timestamp,
) -> Result<Option<Family>, Error> {
    let row = fetch_optional!(
        db.writer(),
        Row,
        ROTATE,
        id,
        generation,
        client_id,
        now.after(idle),
        now
    )?;
    Ok(row.map(Family::from))
}

/// Revokes families and every access token of theirs: the cascade that each ending of a grant goes
/// through. Call [`Mirror::announce`](audit::revocation::RevocationMirror::announce) after the commit.
pub async fn revoke(
    tx: &mut Tx,
    of: Selection<'_>,
    context: &RequestContext,
) -> Result<PendingAnnouncement, Error> {
    let now = context.now;
    let rows = match of {
        Selection::Family(id) => fetch_all!(tx.on(), Row, REVOKE_ONE, id, now)?,
        Selection::OfUser(id) => fetch_all!(tx.on(), Row, REVOKE_OF_USER, id, now)?,
        Selection::OfUserAndClient(id, client_id) => {
            fetch_all!(tx.on(), Row, REVOKE_OF_CLIENT, id, client_id, now)?
        }
        Selection::OfSession(id) => fetch_all!(tx.on(), Row, REVOKE_OF_SESSION, id, now)?,
    };
    let Some(first) = rows.first() else {
        return Ok(PendingAnnouncement::none());
    };
    let announcement = revocation::deny_families(tx, first.user_id, now).await?;
    let ids: Vec<&str> = rows.iter().map(|family| family.id.as_str()).collect();
    let event = Event::success(EventName::TokenRevoked)
        .user(first.user_id)
        .detail(format!("grants {}", ids.join(" ")));
    let event = if rows.len() == 1 {
        event.client(&first.client_id)
    } else {
        event
    };
    event.record(tx, context).await?;
    Ok(announcement)
}

/// Deletes families that ended of old age, long enough ago that their last access token has too.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, Error> {
    execute!(db.writer(), PRUNE, now.before(revocation::RETENTION))
}

impl From<Row> for Family {
    fn from(row: Row) -> Self {
        Self {
            scope: row.scope.parse().unwrap_or_default(),
            id: row.id,
            client_id: row.client_id,
            user_id: row.user_id,
            generation: row.generation,
            revoked_at: row.revoked_at,
        }
    }
}
