//! The table of signing keys. Each step of a key's life is one conditional statement, with its event.

use super::signing::Draft;
use serde::Serialize;
use shared::clock::Timestamp;
use shared::db::{Db, Error, Tx};
use shared::events::{Context, Event, Name};
use shared::{execute, fetch_all, sql};
use std::time::Duration;

sql! {
    LIST = "SELECT kid, state, public_jwk, sealed_private_key, created_at, sign_after, activated_at, retired_at,
                   dead_after, deleted_at, compromised
            FROM signing_keys ORDER BY number";
    LIVE = "SELECT kid, state, public_jwk, sealed_private_key, created_at, sign_after, activated_at, retired_at,
                   dead_after, deleted_at, compromised
            FROM signing_keys WHERE state <> 'deleted' ORDER BY number";
    // The unique indexes leave one of those who stage at once; the first key of all may sign at once.
    STAGE = "INSERT INTO signing_keys (kid, number, state, public_jwk, sealed_private_key, created_at, sign_after,
                                       compromised)
             SELECT $1, COALESCE(MAX(number), 0) + 1, 'staged', $2, $3, CAST($4 AS BIGINT),
                    CASE WHEN COUNT(*) = 0 THEN CAST($4 AS BIGINT) ELSE CAST($5 AS BIGINT) END, FALSE
             FROM signing_keys WHERE TRUE ON CONFLICT DO NOTHING";
    ACTIVATE = "UPDATE signing_keys SET state = 'active', activated_at = $2
                WHERE kid = $1 AND state = 'staged' AND sign_after <= $2";
    RETIRE = "UPDATE signing_keys SET state = 'retired', retired_at = $2, dead_after = $3
              WHERE kid = $1 AND state = 'active'";
    DELETE = "UPDATE signing_keys SET state = 'deleted', deleted_at = $2, sealed_private_key = NULL
              WHERE kid = $1 AND state = 'retired' AND dead_after <= $2";
    DISCARD = "UPDATE signing_keys SET state = 'deleted', deleted_at = $2, sealed_private_key = NULL,
                                       compromised = TRUE
               WHERE kid = $1 AND state = $3";
}

/// The longest that an access token lives.
const LONGEST_TOKEN: Duration = Duration::from_secs(600);
/// A replica that has not read the keys for this long signs nothing: by then its active key may be retired.
pub(super) const LATEST: Duration = Duration::from_secs(60);
/// A replica publishes a staged key this much after it was staged, at the latest.
pub(super) const PUBLISHED_WITHIN: Duration = Duration::from_secs(1);

/// Where a key stands in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// Published, not signing yet.
    Staged,
    /// The one that signs.
    Active,
    /// Published still, signing no more.
    Retired,
    /// Published no more, its private half erased.
    Deleted,
}

/// A key, as `keys list` shows it.
#[derive(Clone, PartialEq, Eq, Serialize, sqlx::FromRow)]
pub(crate) struct Key {
    /// Its id in the JWKS and in token headers.
    pub(crate) kid: String,
    /// Where it stands.
    #[sqlx(try_from = "String")]
    pub(crate) state: State,
    #[serde(skip)]
    pub(super) public_jwk: String,
    #[serde(skip)]
    pub(super) sealed_private_key: Option<Vec<u8>>,
    /// When it was made and published.
    pub(crate) created_at: Timestamp,
    /// Until then somebody may hold a key set without it.
    pub(crate) sign_after: Timestamp,
    /// When it began to sign.
    pub(crate) activated_at: Option<Timestamp>,
    /// When it ceased to sign.
    pub(crate) retired_at: Option<Timestamp>,
    /// When its last token is dead.
    pub(crate) dead_after: Option<Timestamp>,
    /// When its private half was erased.
    pub(crate) deleted_at: Option<Timestamp>,
    /// It was thrown away because somebody else may have it.
    pub(crate) compromised: bool,
}

impl State {
    /// As stored.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Staged => "staged",
            Self::Active => "active",
            Self::Retired => "retired",
            Self::Deleted => "deleted",
        }
    }
}

impl TryFrom<String> for State {
    type Error = String;

    fn try_from(stored: String) -> Result<Self, String> {
        let known = [Self::Staged, Self::Active, Self::Retired, Self::Deleted];
        let state = known.into_iter().find(|state| state.as_str() == stored);
        state.ok_or_else(|| format!("a signing key is {stored}"))
    }
}

/// Every key, oldest first.
pub(crate) async fn list(db: &Db) -> Result<Vec<Key>, Error> {
    fetch_all!(db.reader(), Key, LIST)
}

/// The published keys, oldest first.
pub(super) async fn live(db: &Db) -> Result<Vec<Key>, Error> {
    fetch_all!(db.reader(), Key, LIVE)
}

/// The one key in this state; of the retired, the oldest.
pub(super) fn in_state(keys: &[Key], state: State) -> Option<&Key> {
    keys.iter().find(|key| key.state == state)
}

/// Publishes a new key, unless one is staged. It may sign when nobody can hold a key set without it.
pub(super) async fn stage(
    tx: &mut Tx,
    draft: &Draft,
    max_age: Duration,
    context: &Context,
) -> Result<bool, Error> {
    let staged = execute!(
        tx.on(),
        STAGE,
        draft.kid.as_str(),
        draft.public_jwk.as_str(),
        draft.sealed_private_key.as_slice(),
        context.now,
        context.now.after(max_age + PUBLISHED_WITHIN),
    )?;
    note(tx, staged, Event::success(Name::KeyStaged), &draft.kid, context).await
}

/// Makes the staged key sign, if it may.
pub(super) async fn activate(tx: &mut Tx, kid: &str, context: &Context) -> Result<bool, Error> {
    let activated = execute!(tx.on(), ACTIVATE, kid, context.now)?;
    note(tx, activated, Event::success(Name::KeyActivated), kid, context).await
}

/// Makes the active key sign no more.
pub(super) async fn retire(tx: &mut Tx, kid: &str, context: &Context) -> Result<bool, Error> {
    let dead_after = context.now.after(LATEST + LONGEST_TOKEN);
    let retired = execute!(tx.on(), RETIRE, kid, context.now, dead_after)?;
    note(tx, retired, Event::success(Name::KeyRetired), kid, context).await
}

/// Erases the private half of a retired key whose last token is dead, and publishes it no more.
pub(super) async fn delete(tx: &mut Tx, kid: &str, context: &Context) -> Result<bool, Error> {
    let deleted = execute!(tx.on(), DELETE, kid, context.now)?;
    note(tx, deleted, Event::success(Name::KeyDeleted), kid, context).await
}

/// Erases the private half of a compromised key at once, if it still is in the state that was seen.
pub(super) async fn discard(tx: &mut Tx, seen: &Key, context: &Context) -> Result<bool, Error> {
    let kid = seen.kid.as_str();
    let discarded = execute!(tx.on(), DISCARD, kid, context.now, seen.state.as_str())?;
    note(tx, discarded, Event::failure(Name::KeyCompromised), kid, context).await
}

/// Records the event if a row was changed; says whether one was.
async fn note(tx: &mut Tx, changed: u64, event: Event, kid: &str, context: &Context) -> Result<bool, Error> {
    if changed == 1 {
        let event = event.detail(format!("kid {kid}"));
        event.record(tx, context).await?;
    }
    Ok(changed == 1)
}
