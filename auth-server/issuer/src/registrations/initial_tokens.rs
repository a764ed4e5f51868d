//! Initial access tokens (RFC 7591 §3), with which an administrator lets others register clients.

pub mod list;

use audit::events::{Event, EventName};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::random;
use foundation::secret::Secret;
use identity::administrators;
use serde::Serialize;
use std::time::Duration;
use storage::db::{Db, Error, Tx};
use storage::{delete_expired, execute, fetch_all, fetch_optional, sql};
use utoipa::ToSchema;

/// The columns of [`RegistrationToken`].
macro_rules! columns {
    () => {
        "id, uses_left, created_at, expires_at"
    };
}
use columns;

sql! {
    INSERT = "INSERT INTO registration_tokens (id, token_hash, uses_left, created_at, expires_at)
              VALUES ($1, $2, $3, $4, $5)";
    FIND = "SELECT id FROM registration_tokens WHERE token_hash = $1 AND uses_left > 0 AND expires_at > $2";
    CLAIM = "UPDATE registration_tokens SET uses_left = uses_left - 1
             WHERE token_hash = $1 AND uses_left > 0 AND expires_at > $2 RETURNING id";
    LIST = concat!(
        "SELECT ", columns!(), " FROM registration_tokens WHERE expires_at > $1 ORDER BY expires_at, id LIMIT 1000");
    DELETE = "DELETE FROM registration_tokens WHERE id = $1";
    DELETE_EVERY = "DELETE FROM registration_tokens";
    PRUNE = delete_expired!("registration_tokens", "expires_at");
}

/// The most clients that one token can register.
pub const MAX_USES: i64 = 1_000_000;
/// The longest lifetime of a token.
pub const MAX_LIFETIME: Duration = Duration::from_secs(365 * 24 * 3600);
/// The lifetime of a token, unless another one is chosen.
pub const DEFAULT_LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// An initial access token, without the token itself.
#[derive(Clone, Debug, Serialize, ToSchema, sqlx::FromRow)]
pub struct RegistrationToken {
    /// The id, which is no secret.
    pub id: String,
    /// The number of clients that it can still register.
    pub uses_left: i64,
    /// The time of its creation.
    pub created_at: Timestamp,
    /// The time at which it ends.
    pub expires_at: Timestamp,
}

/// A new initial access token, with the token itself as one more member, which is shown once.
#[derive(Serialize, ToSchema)]
pub struct NewRegistrationToken<'a> {
    /// The token without its secret.
    #[serde(flatten)]
    pub description: &'a RegistrationToken,
    /// The token itself. Only its hash is stored.
    pub token: &'a str,
}

/// Creates a token that registers up to `uses` clients within the time `lifetime`. Returns it with its
/// secret, of which only a hash is stored.
pub async fn create(
    db: &Db,
    uses: i64,
    lifetime: Duration,
    context: &RequestContext,
) -> Result<(RegistrationToken, Secret), administrators::Error> {
    let secret = random::token();
    let token = RegistrationToken {
        id: random::uuid(),
        uses_left: uses,
        created_at: context.now,
        expires_at: context.now.after(lifetime),
    };
    let mut tx = administrators::begin(db, context).await?;
    let (id, hash, now) = (token.id.as_str(), secret.hash(), context.now);
    execute!(tx.on(), INSERT, id, hash, uses, now, token.expires_at)?;
    let event = Event::success(EventName::TokenCreated);
    let event = event.detail(format!("initial access token {} for {uses} clients", token.id));
    event.record(&mut tx, context).await?;
    tx.commit().await?;
    Ok((token, secret))
}

/// Returns the tokens that have not expired, the next to expire first, at most 1,000.
pub async fn list(db: &Db, now: Timestamp) -> Result<Vec<RegistrationToken>, Error> {
    fetch_all!(db.reader(), RegistrationToken, LIST, now)
}

/// Revokes the token with this id. The clients that it registered stay. Returns whether there was one.
pub async fn revoke(db: &Db, id: &str, context: &RequestContext) -> Result<bool, administrators::Error> {
    let mut tx = administrators::begin(db, context).await?;
    if execute!(tx.on(), DELETE, id)? == 0 {
        return Ok(false);
    }
    let event = Event::success(EventName::TokenRevoked);
    let event = event.detail(format!("initial access token {id}"));
    event.record(&mut tx, context).await?;
    tx.commit().await?;
    Ok(true)
}

/// Returns whether a token can register a client now.
pub async fn is_valid(db: &Db, token: &Secret, now: Timestamp) -> Result<bool, Error> {
    let found = fetch_optional!(db.reader(), (String,), FIND, token.hash(), now)?;
    Ok(found.is_some())
}

/// Uses a token up by one client. Returns the id of the token, or `None`, without effect, if it cannot
/// register one. Of several concurrent callers, no more than `uses_left` succeed.
pub(super) async fn claim(tx: &mut Tx, token: &Secret, now: Timestamp) -> Result<Option<String>, Error> {
    let claimed = fetch_optional!(tx.on(), (String,), CLAIM, token.hash(), now)?;
    Ok(claimed.map(|(id,)| id))
}

/// Deletes all tokens.
pub async fn delete_every(tx: &mut Tx) -> Result<(), Error> {
    execute!(tx.on(), DELETE_EVERY).map(|_| ())
}

/// Deletes expired tokens. Returns their number.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, Error> {
    db.prune(PRUNE, now).await
}
