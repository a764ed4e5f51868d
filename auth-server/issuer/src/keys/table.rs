//! The table of signing keys. Each transition is one conditional statement, recorded as a security event.

use super::master_keys::MasterKeys;
use super::signing::NewKey;
use audit::events::{Event, EventName};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::names;
use foundation::sealing::SealingKey;
use serde::Serialize;
use std::time::Duration;
use storage::db::{Db, Error, Executor, Tx};
use storage::{execute, fetch_all, fetch_optional, sql};
use utoipa::ToSchema;

/// The columns of [`Key`].
macro_rules! columns {
    () => {
        "kid, state, public_jwk, sealed_private_key, created_at, sign_after, activated_at, retired_at, dead_after,
         deleted_at, compromised, number"
    };
}
pub(super) use columns;

sql! {
    LIST = concat!("SELECT ", columns!(), " FROM signing_keys ORDER BY number");
    LIST_PUBLISHED = concat!("SELECT ", columns!(), " FROM signing_keys WHERE state <> 'deleted' ORDER BY number");
    FIND_POSITION = "SELECT created_at, number FROM signing_keys WHERE kid = $1";
    FIND_RETIRED = "SELECT public_jwk FROM signing_keys
                    WHERE kid = $1 AND state = 'deleted' AND NOT compromised AND retired_at > $2";
    // Unique indexes let one of several concurrent inserts succeed. The first key of all may sign
    // immediately, and so may the one that is staged in the same transaction, at the same time: there never
    // was a key set without it.
    STAGE = "INSERT INTO signing_keys (kid, number, state, public_jwk, sealed_private_key, created_at, sign_after,
                                       compromised)
             SELECT $1, COALESCE(MAX(number), 0) + 1, 'staged', $2, $3, CAST($4 AS BIGINT),
                    CASE WHEN COUNT(*) = 0 OR COUNT(*) = 1 AND MAX(created_at) = $4
                         THEN CAST($4 AS BIGINT) ELSE CAST($5 AS BIGINT) END, FALSE
             FROM signing_keys WHERE TRUE ON CONFLICT DO NOTHING";
    ACTIVATE = "UPDATE signing_keys SET state = 'active', activated_at = $2
                WHERE kid = $1 AND state = 'staged' AND sign_after <= $2";
    ACTIVATE_EARLY = "UPDATE signing_keys SET state = 'active', activated_at = $2, activated_early = sign_after > $2
                      WHERE kid = $1 AND state = 'staged'";
    RETIRE = "UPDATE signing_keys SET state = 'retired', retired_at = $2, dead_after = $3
              WHERE kid = $1 AND state = 'active'";
    DELETE = "UPDATE signing_keys SET state = 'deleted', deleted_at = $2, sealed_private_key = NULL
              WHERE kid = $1 AND state = 'retired' AND dead_after <= $2";
    // Also for a key that was deleted after its retirement: it no longer verifies ID token hints, and keeps
    // its time of deletion.
    DISCARD = "UPDATE signing_keys SET state = 'deleted', deleted_at = COALESCE(deleted_at, $2), sealed_private_key = NULL,
                                       compromised = TRUE
               WHERE kid = $1 AND state = $3 AND NOT compromised";
    REPLACE_PRIVATE_KEY = "UPDATE signing_keys SET sealed_private_key = $2 WHERE kid = $1 AND state <> 'deleted'";
}

/// The longest lifetime of an access token. The settings enforce it, and a retired key stays published until
/// the last token that it signed must have expired. The API rejects older tokens, by its own limit.
pub(crate) const MAX_ACCESS_TOKEN_LIFETIME: Duration = Duration::from_secs(600);
/// The longest time for which a replica signs without reading the keys again, because its active key may have
/// been retired since.
pub(super) const MAX_STALENESS: Duration = Duration::from_secs(60);
/// The longest time until every replica publishes a staged key.
pub(super) const PUBLICATION_DELAY: Duration = Duration::from_secs(1);

/// Returns the time by which the last token of a key that is retired at `retired_at` has expired.
pub(super) fn expiry_of_last_token(retired_at: Timestamp) -> Timestamp {
    retired_at.after(MAX_STALENESS + MAX_ACCESS_TOKEN_LIFETIME)
}

/// The state of a signing key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = SigningKeyState)]
pub enum State {
    /// Published, not signing yet.
    Staged,
    /// The key that signs.
    Active,
    /// Published, no longer signing.
    Retired,
    /// No longer published, its private key erased.
    Deleted,
}

/// A signing key.
#[derive(Clone, PartialEq, Eq, Serialize, ToSchema, sqlx::FromRow)]
#[schema(as = SigningKey)]
pub struct Key {
    /// The id in the JWKS and in token headers.
    pub kid: String,
    /// The state.
    #[sqlx(try_from = "String")]
    pub state: State,
    #[serde(skip)]
    pub(super) public_jwk: String,
    #[serde(skip)]
    pub(super) sealed_private_key: Option<Vec<u8>>,
    /// The time at which the key was generated and published.
    pub created_at: Timestamp,
    /// The time from which the key may sign: caches may hold a key set without this key until then.
    pub sign_after: Timestamp,
    /// The time at which the key became active.
    #[schema(required)]
    pub activated_at: Option<Timestamp>,
    /// The time at which the key was retired.
    #[schema(required)]
    pub retired_at: Option<Timestamp>,
    /// The time by which the last token of the retired key has expired.
    #[schema(required)]
    pub dead_after: Option<Timestamp>,
    /// The time at which the private key was erased.
    #[schema(required)]
    pub deleted_at: Option<Timestamp>,
    /// Whether the key was deleted as compromised.
    pub compromised: bool,
    /// The number in the order of creation.
    #[serde(skip)]
    pub(super) number: i64,
}

impl Key {
    /// Returns a key in this state without a life.
    #[cfg(test)]
    pub(crate) fn example(state: State) -> Self {
        Self {
            kid: "example".to_owned(),
            state,
            public_jwk: String::new(),
            sealed_private_key: None,
            created_at: Timestamp::from_micros(0),
            sign_after: Timestamp::from_micros(0),
            activated_at: None,
            retired_at: None,
            dead_after: None,
            deleted_at: None,
            compromised: false,
            number: 1,
        }
    }

    /// Returns the private key in PKCS#8 DER. Fails if neither of the master keys opens it, or if it is
    /// erased.
    pub(super) fn unseal(&self, master_keys: &MasterKeys) -> Result<Vec<u8>, super::Error> {
        let opened = master_keys.open(&self.kid, self.sealed_private_key());
        let (plain, _) = opened.map_err(|_| self.sealed_otherwise())?;
        Ok(plain)
    }

    /// Checks that one of the master keys opens the private key, and that this is not erased.
    pub fn check_seal(&self, master_keys: &MasterKeys) -> Result<(), super::Error> {
        self.unseal(master_keys).map(drop)
    }

    /// Seals the private key under the master key. Returns `None` if it is already. Fails as [`Key::unseal`]
    /// does.
    pub(super) fn reseal(&self, master_keys: &MasterKeys) -> Result<Option<Vec<u8>>, super::Error> {
        let resealed = master_keys.reseal(&self.kid, self.sealed_private_key());
        resealed.map_err(|_| self.sealed_otherwise())
    }

    fn sealed_private_key(&self) -> &[u8] {
        self.sealed_private_key.as_deref().unwrap_or_default()
    }

    fn sealed_otherwise(&self) -> super::Error {
        super::Error::Sealed(format!("the signing key {}", self.kid))
    }
}

names!(State: Staged = "staged", Active = "active", Retired = "retired", Deleted = "deleted");

impl TryFrom<String> for State {
    type Error = String;

    fn try_from(stored: String) -> Result<Self, String> {
        Self::named(&stored).ok_or_else(|| format!("a signing key has the unknown state {stored:?}"))
    }
}

/// Returns every key, oldest first.
pub async fn all(db: &Db) -> Result<Vec<Key>, Error> {
    fetch_all!(db.reader(), Key, LIST)
}

/// Returns the time at which the key with this `kid` was created, and its number.
pub(super) async fn find_position(db: &Db, kid: &str) -> Result<Option<(Timestamp, i64)>, Error> {
    fetch_optional!(db.reader(), (Timestamp, i64), FIND_POSITION, kid)
}

/// Returns the published keys, oldest first.
pub(super) async fn list_published(on: Executor<'_>) -> Result<Vec<Key>, Error> {
    fetch_all!(on, Key, LIST_PUBLISHED)
}

/// Returns the public half of a key that was retired after `since` and is no longer published. A compromised
/// key never was.
pub(super) async fn find_retired_jwk(db: &Db, kid: &str, since: Timestamp) -> Result<Option<String>, Error> {
    let row = fetch_optional!(db.reader(), (String,), FIND_RETIRED, kid, since)?;
    Ok(row.map(|(public_jwk,)| public_jwk))
}

/// Returns the oldest key in this state, if there is one. At most one key is staged, and at most one is
/// active.
pub fn in_state(keys: &[Key], state: State) -> Option<&Key> {
    keys.iter().find(|key| key.state == state)
}

/// Stages a new key, sealed under `sealing_key`, unless one is staged. Returns whether the key was staged. It
/// may sign once no cache can hold a key set without it; `max_age` is the time for which clients may cache
/// the JWKS.
pub(super) async fn stage(
    tx: &mut Tx,
    new: &NewKey,
    sealing_key: &SealingKey,
    max_age: Duration,
    context: &RequestContext,
) -> Result<bool, Error> {
    let rows = execute!(
        tx.on(),
        STAGE,
        new.kid.as_str(),
        new.public_jwk.as_str(),
        sealing_key.seal(&new.kid, new.private_key.as_ref()),
        context.now,
        context.now.after(max_age + PUBLICATION_DELAY),
    )?;
    record_change(tx, rows, Event::success(EventName::KeyStaged), &new.kid, context).await
}

/// Activates the staged key if it may sign. Returns whether the key was activated. Fails with a conflict if
/// another key is active.
pub(super) async fn activate(tx: &mut Tx, kid: &str, context: &RequestContext) -> Result<bool, Error> {
    let rows = execute!(tx.on(), ACTIVATE, kid, context.now)?;
    record_change(tx, rows, Event::success(EventName::KeyActivated), kid, context).await
}

/// Activates the staged key, whether or not it may sign yet, because the active one is compromised. Returns
/// whether the key was activated. Fails with a conflict if another key is active.
pub(super) async fn activate_early(tx: &mut Tx, kid: &str, context: &RequestContext) -> Result<bool, Error> {
    let rows = execute!(tx.on(), ACTIVATE_EARLY, kid, context.now)?;
    record_change(tx, rows, Event::success(EventName::KeyActivated), kid, context).await
}

/// Retires the key if it is active. Returns whether the key was retired.
pub(super) async fn retire(tx: &mut Tx, kid: &str, context: &RequestContext) -> Result<bool, Error> {
    let dead_after = expiry_of_last_token(context.now);
    let rows = execute!(tx.on(), RETIRE, kid, context.now, dead_after)?;
    record_change(tx, rows, Event::success(EventName::KeyRetired), kid, context).await
}

/// Deletes the key if it is retired and its last token has expired. Returns whether the key was deleted.
pub(super) async fn delete(tx: &mut Tx, kid: &str, context: &RequestContext) -> Result<bool, Error> {
    let rows = execute!(tx.on(), DELETE, kid, context.now)?;
    record_change(tx, rows, Event::success(EventName::KeyDeleted), kid, context).await
}

/// Deletes a compromised key if its state is still that of `seen`. Returns whether the key was deleted.
pub(super) async fn discard(tx: &mut Tx, seen: &Key, context: &RequestContext) -> Result<bool, Error> {
    let kid = seen.kid.as_str();
    let rows = execute!(tx.on(), DISCARD, kid, context.now, seen.state.as_str())?;
    record_change(tx, rows, Event::success(EventName::KeyCompromised), kid, context).await
}

/// Stores another sealed form of the private key, unless the key is deleted. Returns the number of changed
/// rows.
pub(super) async fn replace_private_key(tx: &mut Tx, kid: &str, sealed: &[u8]) -> Result<u64, Error> {
    execute!(tx.on(), REPLACE_PRIVATE_KEY, kid, sealed)
}

/// Records the event if `rows`, the number of changed rows, is 1. Returns whether it is.
async fn record_change(
    tx: &mut Tx,
    rows: u64,
    event: Event,
    kid: &str,
    context: &RequestContext,
) -> Result<bool, Error> {
    if rows == 1 {
        let event = event.detail(format!("kid {kid}"));
        event.record(tx, context).await?;
    }
    Ok(rows == 1)
}
