//! Refresh token families (RFC 9700 §4.14.2). The exchange of an authorization code or of a device code
//! creates one row, which rotations update. The refresh tokens themselves are derived from the row (see
//! `refresh_tokens` in `issuer`). A family's id is the `grant_id` of its access tokens.

pub(crate) mod replacement;
pub(crate) mod revocation;
pub(crate) mod rotation;

pub use self::revocation::{
    Selection, revoke, revoke_all_of_client, revoke_of_redirect_uri, revoke_repeatedly,
};
pub(crate) use self::revocation::{revoke_all_of_user, revoke_every};
pub use replacement::{browser_may_have_newer, record_replaced};
pub use rotation::{PresentedToken, rotate};

use crate::authentication_methods::SignIn;
use crate::end_reason::{End, EndReason};
use ::revocation::RETENTION;
use foundation::clock::Timestamp;
use foundation::role::Role;
use foundation::scope::Scope;
use std::time::Duration;
use storage::db::{Db, Error, Tx};
use storage::{delete_expired, execute, fetch_one, fetch_optional, sql};

/// The largest number of families that are looked at to count those of a client or a user: the limit of
/// COUNT_OF_CLIENT and COUNT_OF_USER.
const MAX_COUNTED: i64 = 1_000;

/// The columns of [`Family`] in the statements on one table. They read the tables `users` and `clients` too,
/// which other modules own: the role becomes a claim of the access token. A transaction that changes the role
/// of a user also ends the user's epoch.
macro_rules! columns {
    () => {
        "id, client_id, user_id, session_id, user_epoch, client_epoch, auth_time, amr, scope, generation, dpop_jkt,
         redirect_uri, (SELECT role FROM users WHERE users.id = user_id) AS role"
    };
}

/// A condition on `refresh_families`: neither the family itself nor all tokens of its user or client have
/// been revoked. The client may be deleted.
macro_rules! is_unrevoked {
    () => {
        "(refresh_families.revoked_at IS NULL
          AND refresh_families.user_epoch = (SELECT epoch FROM users WHERE users.id = refresh_families.user_id)
          AND refresh_families.client_epoch =
              COALESCE((SELECT epoch FROM clients WHERE clients.id = refresh_families.client_id), -1))"
    };
}
use columns;
pub(crate) use is_unrevoked;

sql! {
    INSERT = "INSERT INTO refresh_families (id, client_id, user_id, session_id, scope, generation, created_at, last_used_at,
                                            idle_expires_at, expires_at, auth_time, amr, user_epoch, client_epoch,
                                            dpop_jkt, redirect_uri)
              VALUES ($1, $2, $3, $4, $5, 1, $6, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
    // `end_reason` and `ended_at` mean something only if `is_revoked`. Only the latest end of the epochs of a
    // user is stored, so those before it have no reason and no time.
    FIND = concat!(
        "SELECT ", columns!(), ", NOT ", is_unrevoked!(), " AS is_revoked,
                COALESCE(revocation_reason,
                         (SELECT CASE WHEN epoch = user_epoch + 1 THEN COALESCE(epoch_end_reason, 'all_of_user')
                                      WHEN epoch <> user_epoch THEN 'all_of_user' END
                          FROM users WHERE users.id = user_id),
                         'all_of_app') AS end_reason,
                COALESCE(revoked_at, (SELECT CASE WHEN epoch = user_epoch + 1 THEN epoch_ended_at END
                                      FROM users WHERE users.id = user_id)) AS ended_at
         FROM refresh_families WHERE id = $1");
    FIND_CURRENT = concat!(
        "SELECT ", columns!(), ", last_used_at, idle_expires_at, expires_at
         FROM refresh_families
         WHERE id = $1 AND generation = $2 AND idle_expires_at > $3 AND expires_at > $3 AND ", is_unrevoked!());
    COUNT_OF_CLIENT = "SELECT COUNT(*) AS looked_at,
                              COUNT(CASE WHEN idle_expires_at > $3 AND expires_at > $3
                                          AND user_epoch = (SELECT epoch FROM users WHERE users.id = family.user_id)
                                         THEN 1 END) AS live
                       FROM (SELECT user_id, user_epoch, idle_expires_at, expires_at FROM refresh_families
                             WHERE client_id = $1 AND client_epoch = $2 AND revoked_at IS NULL LIMIT 1000) AS family";
    COUNT_OF_USER = "SELECT COUNT(*) AS looked_at,
                            COUNT(CASE WHEN idle_expires_at > $2 AND expires_at > $2
                                        AND client_epoch =
                                            COALESCE((SELECT epoch FROM clients WHERE clients.id = family.client_id), -1)
                                       THEN 1 END) AS live
                     FROM (SELECT client_id, client_epoch, idle_expires_at, expires_at FROM refresh_families
                           WHERE user_id = $1 AND user_epoch = (SELECT epoch FROM users WHERE users.id = $1)
                             AND revoked_at IS NULL LIMIT 1000) AS family";
    PRUNE = delete_expired!("refresh_families");
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

/// The names of a scope in a column. Names of which one is unknown, such as that of a newer version, become
/// the empty scope.
#[derive(Debug, sqlx::Type)]
#[sqlx(transparent)]
pub struct StoredScope(String);

impl From<StoredScope> for Scope {
    fn from(stored: StoredScope) -> Self {
        stored.0.parse().unwrap_or_default()
    }
}

/// A stored family.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct Family {
    /// The id, chosen when the authorization code or the device code was issued.
    pub id: String,
    /// The client to which the tokens are issued.
    pub client_id: String,
    /// The user who granted access.
    pub user_id: i64,
    /// The user's role.
    #[sqlx(try_from = "String")]
    pub role: Role,
    /// The session in which the user granted access; `None` for a device.
    pub session_id: Option<i64>,
    /// The epochs in which the family began.
    #[sqlx(flatten)]
    pub epochs: Epochs,
    /// The sign-in that began the session.
    #[sqlx(flatten)]
    pub sign_in: SignIn,
    /// The granted scope.
    #[sqlx(try_from = "StoredScope")]
    pub scope: Scope,
    /// The generation of the only valid refresh token.
    pub generation: i64,
    /// The thumbprint of the key that the refresh tokens are bound to.
    pub dpop_jkt: Option<String>,
    /// The registered redirect URI with which the family began, if the client describes itself by a document.
    pub redirect_uri: Option<String>,
}

/// A family that may have ended.
#[derive(Clone, Debug)]
pub struct FoundFamily {
    /// The family.
    pub family: Family,
    /// The end of the family, if it, or all tokens of its user or client, have been revoked.
    pub end: Option<End>,
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

/// The number of families of a client or a user that have not ended.
#[derive(Clone, Copy, Debug, Default, sqlx::FromRow)]
pub struct FamilyCount {
    /// The number of those that were found.
    pub live: i64,
    looked_at: i64,
}

impl FamilyCount {
    /// Returns whether there may be more.
    pub const fn may_lack_some(self) -> bool {
        self.looked_at >= MAX_COUNTED
    }
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
struct FoundRow {
    #[sqlx(flatten)]
    family: Family,
    is_revoked: bool,
    end_reason: String,
    ended_at: Option<Timestamp>,
}

#[derive(sqlx::FromRow)]
struct CurrentRow {
    #[sqlx(flatten)]
    family: Family,
    last_used_at: Timestamp,
    idle_expires_at: Timestamp,
    expires_at: Timestamp,
}

/// Inserts a new family. It begins at generation 1 and has the user's role: these two fields of `new` are not
/// stored. A [scope with an unknown name](StoredScope) is stored as the empty one. On PostgreSQL, the
/// statement that claims a code inserts the family of the code itself.
pub async fn create(tx: &mut Tx, new: &Family, lifetimes: Lifetimes, now: Timestamp) -> Result<(), Error> {
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
        new.sign_in.at,
        new.sign_in.methods.as_str(),
        new.epochs.user,
        new.epochs.client,
        new.dpop_jkt.as_deref(),
        new.redirect_uri.as_deref(),
    )
    .map(|_| ())
}

/// Returns the family with this id, including a revoked or expired one.
pub async fn find(db: &Db, id: &str) -> Result<Option<FoundFamily>, Error> {
    let found = fetch_optional!(db.reader(), FoundRow, FIND, id)?;
    Ok(found.map(|found| FoundFamily {
        family: found.family,
        end: found.is_revoked.then(|| End {
            reason: EndReason::stored(&found.end_reason),
            at: found.ended_at,
        }),
    }))
}

/// Returns the refresh token of this generation of a family; `None` if it is not the current one, or if the
/// family is revoked or expired.
pub async fn find_current(
    db: &Db,
    id: &str,
    generation: i64,
    now: Timestamp,
) -> Result<Option<CurrentToken>, Error> {
    let row = fetch_optional!(db.reader(), CurrentRow, FIND_CURRENT, id, generation, now)?;
    Ok(row.map(|current| CurrentToken {
        family: current.family,
        issued_at: current.last_used_at,
        expires_at: current.idle_expires_at.min(current.expires_at),
    }))
}

/// Deletes families that expired so long ago that their access tokens have expired too. Returns their number.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, Error> {
    db.prune(PRUNE, now.before(RETENTION)).await
}

/// Counts the families of a client that have not ended, among at most 1,000 that were not revoked.
pub async fn count_of_client(
    db: &Db,
    client_id: &str,
    epoch: i64,
    now: Timestamp,
) -> Result<FamilyCount, Error> {
    fetch_one!(db.reader(), FamilyCount, COUNT_OF_CLIENT, client_id, epoch, now)
}

/// Counts the families of a user that have not ended, among at most 1,000 that were not revoked.
pub async fn count_of_user(db: &Db, user_id: i64, now: Timestamp) -> Result<FamilyCount, Error> {
    fetch_one!(db.reader(), FamilyCount, COUNT_OF_USER, user_id, now)
}
