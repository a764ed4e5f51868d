//! Refresh token families (RFC 9700 §4.14.2). The exchange of an authorization code creates one row, which rotations
//! update. The refresh tokens themselves are derived from the row (see `refresh_tokens` in `auth-server`). A family's
//! id is the `grant_id` of its access tokens.

pub(crate) mod revocation;

pub(crate) use revocation::revoke_all_of_user;
pub use revocation::{Selection, revoke, revoke_all_of_client};

use crate::authentication_methods::{AuthenticationMethods, SignIn};
use audit::revocation::RETENTION;
use foundation::clock::Timestamp;
use foundation::role::Role;
use foundation::scope::Scope;
use std::time::Duration;
use storage::db::{BatchCall, Db, Engine, Error, Tx};
use storage::{delete_expired, execute, fetch_all_postgres, fetch_optional, sql};

/// The columns of [`Row`] in the statements on one table. They read the tables `users` and `clients` too, which other modules
/// own: the role becomes a claim of the access token. A transaction that changes the role of a user also ends the user's epoch.
macro_rules! columns {
    () => {
        "id, client_id, user_id, session_id, user_epoch, client_epoch, auth_time, amr, scope, generation,
         (SELECT role FROM users WHERE users.id = user_id) AS role"
    };
}

/// A condition on `refresh_families`: neither the family itself nor all tokens of its user or client have been revoked.
macro_rules! is_unrevoked {
    () => {
        "(refresh_families.revoked_at IS NULL
          AND refresh_families.user_epoch = (SELECT epoch FROM users WHERE users.id = refresh_families.user_id)
          AND refresh_families.client_epoch = (SELECT epoch FROM clients WHERE clients.id = refresh_families.client_id))"
    };
}
use is_unrevoked;

sql! {
    INSERT_SQLITE = "INSERT INTO refresh_families (id, client_id, user_id, session_id, scope, generation, created_at,
                                                   last_used_at, idle_expires_at, expires_at, auth_time, amr,
                                                   user_epoch, client_epoch)
                     VALUES ($1, $2, $3, $4, $5, 1, $6, $6, $7, $8, $9, $10, $11, $12)";
    FIND = concat!(
        "SELECT ", columns!(), ", NOT ", is_unrevoked!(), " AS is_revoked FROM refresh_families WHERE id = $1");
    FIND_CURRENT = concat!(
        "SELECT ", columns!(), ", FALSE AS is_revoked, last_used_at, idle_expires_at, expires_at
         FROM refresh_families
         WHERE id = $1 AND generation = $2 AND idle_expires_at > $3 AND expires_at > $3 AND ", is_unrevoked!());
    ROTATE_SQLITE = concat!(
        "UPDATE refresh_families SET generation = generation + 1, last_used_at = $5, idle_expires_at = $4
         WHERE id = $1 AND generation = $2 AND client_id = $3 AND idle_expires_at > $5 AND expires_at > $5
           AND ", is_unrevoked!(), "
         RETURNING ", columns!(), ", FALSE AS is_revoked");
    // The same for several tokens. A token that occurs twice changes its row, and returns it, once. The statements lock the
    // rows in the order of their ids. The second condition on `id` makes every plan find the families through the index, also
    // one that was made for a table of one row.
    ROTATE_ALL_POSTGRES = concat!("
        UPDATE refresh_families
        SET generation = refresh_families.generation + 1, last_used_at = token.now,
            idle_expires_at = token.idle_expires_at
        FROM (SELECT * FROM unnest($1::TEXT[], $2::BIGINT[], $3::TEXT[], $4::BIGINT[], $5::BIGINT[])
                            AS token (token_family_id, token_generation, token_client_id, idle_expires_at, now)
              ORDER BY token_family_id) AS token
        WHERE id = ANY ($1) AND id = token_family_id AND generation = token_generation AND client_id = token_client_id
          AND refresh_families.idle_expires_at > token.now AND expires_at > token.now AND ", is_unrevoked!(), "
        RETURNING ", columns!(), ", FALSE AS is_revoked");
    PRUNE = delete_expired!("refresh_families", "id", "expires_at + 0");
}

/// The fields of a family to create.
#[derive(Clone, Copy, Debug)]
pub struct NewFamily<'a> {
    /// The id, chosen when the authorization code was issued.
    pub id: &'a str,
    /// The client to which the tokens are issued.
    pub client_id: &'a str,
    /// The user who granted access.
    pub user_id: i64,
    /// The session in which the user consented.
    pub session_id: i64,
    /// The present epochs of the user and of the client.
    pub epochs: Epochs,
    /// The sign-in that began the session.
    pub sign_in: SignIn,
    /// The granted scope names, separated by spaces.
    pub scope: &'a str,
}

/// The epochs in which a family began. It ends with the first of them to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct Epochs {
    /// The number of times that all sessions and tokens of the user had ended.
    #[sqlx(rename = "user_epoch")]
    pub user: i64,
    /// The number of times that all tokens of the client had ended.
    #[sqlx(rename = "client_epoch")]
    pub client: i64,
}

/// A stored family.
#[derive(Clone, Debug)]
pub struct Family {
    /// The id.
    pub id: String,
    /// The client to which the tokens are issued.
    pub client_id: String,
    /// The user who granted access.
    pub user_id: i64,
    /// The user's role.
    pub role: Role,
    /// The session in which the user granted access.
    pub session_id: i64,
    /// The epochs in which the family began.
    pub epochs: Epochs,
    /// The sign-in that began the session.
    pub sign_in: SignIn,
    /// The granted scope.
    pub scope: Scope,
    /// The generation of the only valid refresh token.
    pub generation: i64,
    /// Whether the family, or all tokens of its user or client, have been revoked.
    pub is_revoked: bool,
}

/// A refresh token that can be used.
#[derive(Clone, Debug)]
pub struct CurrentToken {
    /// Its family.
    pub family: Family,
    /// The time at which it was issued.
    pub issued_at: Timestamp,
    /// The time until which it can be used.
    pub expires_at: Timestamp,
}

/// The lifetimes of refresh tokens.
#[derive(Clone, Copy, Debug)]
pub struct Lifetimes {
    /// The longest time between two rotations.
    pub idle: Duration,
    /// The longest time since the first token was issued. Rotation does not extend it.
    pub absolute: Duration,
}

#[derive(sqlx::FromRow)]
struct Row {
    id: String,
    client_id: String,
    user_id: i64,
    session_id: i64,
    #[sqlx(flatten)]
    epochs: Epochs,
    auth_time: Timestamp,
    amr: String,
    scope: String,
    generation: i64,
    is_revoked: bool,
    role: String,
}

#[derive(sqlx::FromRow)]
struct CurrentRow {
    #[sqlx(flatten)]
    row: Row,
    last_used_at: Timestamp,
    idle_expires_at: Timestamp,
    expires_at: Timestamp,
}

/// Inserts a family at generation 1. On SQLite only: on PostgreSQL, the statement that claims the code inserts the family.
pub async fn create(
    tx: &mut Tx,
    new: NewFamily<'_>,
    lifetimes: Lifetimes,
    now: Timestamp,
) -> Result<(), Error> {
    let (idle, absolute) = (now.after(lifetimes.idle), now.after(lifetimes.absolute));
    execute!(
        tx.on(),
        INSERT_SQLITE,
        new.id,
        new.client_id,
        new.user_id,
        new.session_id,
        new.scope,
        now,
        idle,
        absolute,
        new.sign_in.at,
        new.sign_in.methods.as_str(),
        new.epochs.user,
        new.epochs.client,
    )
    .map(|_| ())
}

/// Returns the family with this id, including a revoked or expired one.
pub async fn find(db: &Db, id: &str) -> Result<Option<Family>, Error> {
    Ok(fetch_optional!(db.reader(), Row, FIND, id)?.map(Family::from))
}

/// Returns the refresh token of this generation of a family; `None` if it is not the current one, or if the family is revoked
/// or expired.
pub async fn find_current(
    db: &Db,
    id: &str,
    generation: i64,
    now: Timestamp,
) -> Result<Option<CurrentToken>, Error> {
    let row = fetch_optional!(db.reader(), CurrentRow, FIND_CURRENT, id, generation, now)?;
    Ok(row.map(|current| CurrentToken {
        family: Family::from(current.row),
        issued_at: current.last_used_at,
        expires_at: current.idle_expires_at.min(current.expires_at),
    }))
}

/// Moves a family from `generation` to the next one, so that the next refresh token replaces the current one. The idle
/// lifetime then ends `idle` after `now`. Returns the family with its new generation. Returns `None`, without effect,
/// if `generation` is not the current one, or if the family belongs to another client, is revoked or expired. Only one
/// of several concurrent callers succeeds.
pub async fn rotate(
    db: &Db,
    id: &str,
    generation: i64,
    client_id: &str,
    idle: Duration,
    now: Timestamp,
) -> Result<Option<Family>, Error> {
    let idle_expires_at = now.after(idle);
    match db.engine() {
        Engine::Sqlite(()) => {
            let (on, sql) = (db.writer(), ROTATE_SQLITE);
            let row = fetch_optional!(on, Row, sql, id, generation, client_id, idle_expires_at, now)?;
            Ok(row.map(Family::from))
        }
        Engine::Postgres(()) => {
            let rotate = Rotate {
                family_id: id.to_owned(),
                generation,
                client_id: client_id.to_owned(),
                idle_expires_at,
                now,
            };
            db.call(rotate).await
        }
    }
}

/// The call that rotates a refresh token on PostgreSQL; `None` if it is not valid.
struct Rotate {
    family_id: String,
    generation: i64,
    client_id: String,
    idle_expires_at: Timestamp,
    now: Timestamp,
}

impl Rotate {
    fn was_rotated_to(&self, family: &Family) -> bool {
        family.id == self.family_id
            && family.generation == self.generation + 1
            && family.client_id == self.client_id
    }
}

impl BatchCall for Rotate {
    type Answer = Option<Family>;

    async fn run(db: &Db, calls: &[Self]) -> Result<Vec<Option<Family>>, Error> {
        let rows = fetch_all_postgres!(
            db.writer(),
            Row,
            ROTATE_ALL_POSTGRES,
            Vec::from_iter(calls.iter().map(|token| token.family_id.as_str())),
            Vec::from_iter(calls.iter().map(|token| token.generation)),
            Vec::from_iter(calls.iter().map(|token| token.client_id.as_str())),
            Vec::from_iter(calls.iter().map(|token| token.idle_expires_at)),
            Vec::from_iter(calls.iter().map(|token| token.now)),
        )?;
        let mut rotated: Vec<Family> = rows.into_iter().map(Family::from).collect();
        let answer = |token: &Self| {
            let place = rotated.iter().position(|family| token.was_rotated_to(family))?;
            // Taken out, so that only one of several calls with the same token succeeds.
            Some(rotated.swap_remove(place))
        };
        Ok(calls.iter().map(answer).collect())
    }
}

/// Deletes families that expired so long ago that their access tokens have expired too. Returns their number.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, Error> {
    db.prune(PRUNE, now.before(RETENTION)).await
}

impl From<Row> for Family {
    fn from(row: Row) -> Self {
        Self {
            scope: row.scope.parse().unwrap_or_default(),
            // An unknown name becomes the role that permits least.
            role: Role::stored(&row.role),
            sign_in: SignIn {
                at: row.auth_time,
                methods: AuthenticationMethods::stored(&row.amr),
            },
            session_id: row.session_id,
            epochs: row.epochs,
            id: row.id,
            client_id: row.client_id,
            user_id: row.user_id,
            generation: row.generation,
            is_revoked: row.is_revoked,
        }
    }
}
