//! The signing keys of a running issuer, held in memory: the parsed private keys and the published key set.

use super::master_keys::MasterKeys;
use super::table::{self, Key, MAX_STALENESS, PUBLICATION_DELAY, State, in_state};
use super::{Error, SigningKey};
use access_tokens::PublicKeys;
use arc_swap::ArcSwap;
use foundation::clock::Timestamp;
use foundation::secret;
use jsonwebtoken::DecodingKey;
use std::sync::Arc;
use std::time::{Duration, Instant};
use storage::db::{self, Db};
use tokio::sync::Mutex;

/// The age up to which a key set counts as fresh. An older set may lack a change, so responses with it must
/// not be cached.
const FRESH_FOR: Duration = Duration::from_secs(5);

/// The keys as last read from the table. Cheap to clone; all clones share one set.
#[derive(Clone, Debug)]
pub struct Keyring(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    loaded: ArcSwap<LoadedKeys>,
    /// Serializes reads, so that an older result never replaces a newer one.
    reload: Mutex<()>,
}

#[derive(Debug)]
struct LoadedKeys {
    set: Arc<KeySet>,
    /// The start of the read, by the monotonic clock.
    read_at: Instant,
}

/// The private keys and the published JWK set at one point in time.
#[derive(Default)]
pub struct KeySet {
    keys: Vec<Key>,
    /// The active and the staged key, parsed, so that a rotation needs no parsing.
    parsed: Vec<Arc<SigningKey>>,
    /// The public halves of the published keys; `None` if there are none.
    public: Option<access_tokens::KeySet>,
    jwks: String,
    etag: String,
}

impl Keyring {
    /// Returns a keyring without keys.
    pub(super) fn empty() -> Self {
        Self(Arc::new(Inner {
            loaded: ArcSwap::from_pointee(LoadedKeys {
                set: Arc::default(),
                read_at: Instant::now(),
            }),
            reload: Mutex::default(),
        }))
    }

    /// Returns the active key. Fails with [`Error::CannotSign`] if no key is active, or if the last read is
    /// older than `MAX_STALENESS`, because the active key may have been retired since.
    pub fn signer(&self, now: Timestamp) -> Result<Arc<SigningKey>, Error> {
        let loaded = self.0.loaded.load();
        if loaded.read_at.elapsed() > MAX_STALENESS {
            return Err(Error::CannotSign {
                wait: PUBLICATION_DELAY,
            });
        }
        let set = &loaded.set;
        let signer = in_state(&set.keys, State::Active).and_then(|key| set.parsed(&key.kid));
        signer.ok_or_else(|| {
            let staged = in_state(&set.keys, State::Staged);
            let wait = staged.map(|staged| staged.sign_after.since(now));
            Error::CannotSign {
                wait: wait.unwrap_or_default().max(PUBLICATION_DELAY),
            }
        })
    }

    /// Returns the key set as last read.
    pub fn key_set(&self) -> Arc<KeySet> {
        Arc::clone(&self.0.loaded.load().set)
    }

    /// Returns whether the keys were read within `FRESH_FOR`. If not, the set may be outdated: the replica
    /// may have lost its database.
    pub fn is_fresh(&self) -> bool {
        self.0.loaded.load().read_at.elapsed() < FRESH_FOR
    }

    /// Reads the table. Returns whether the keys changed. Fails, and keeps the previous set, if the database
    /// does not answer, or if a new key cannot be unsealed or parsed.
    pub(super) async fn reload(&self, db: &Db, master_keys: &MasterKeys) -> Result<bool, Error> {
        let _guard = self.0.reload.lock().await;
        let read_at = Instant::now();
        let keys = table::list_published(db.reader()).await?;
        let current = self.key_set();
        let changed = keys != current.keys;
        let set = match changed {
            true => Arc::new(current.successor(keys, master_keys)?),
            false => current,
        };
        self.0.loaded.store(Arc::new(LoadedKeys { set, read_at }));
        Ok(changed)
    }
}

impl PublicKeys for Keyring {
    async fn key(&self, kid: &str) -> Result<Option<Arc<DecodingKey>>, String> {
        let set = self.key_set();
        let public = set.public.as_ref().ok_or("no signing keys yet")?;
        match public.get(kid) {
            None if !self.is_fresh() => Err("the signing keys were not read recently".to_owned()),
            key => Ok(key),
        }
    }

    fn publishes(&self, kid: &str, key: &Arc<DecodingKey>) -> bool {
        let set = self.key_set();
        let published = set.public.as_ref().and_then(|public| public.get(kid));
        published.is_some_and(|published| Arc::ptr_eq(&published, key))
    }
}

impl KeySet {
    /// Returns the JWK set (RFC 7517 §5) in JSON.
    pub fn jwks(&self) -> &str {
        &self.jwks
    }

    /// Returns the entity tag of the JWK set.
    pub fn etag(&self) -> &str {
        &self.etag
    }

    /// Returns the published keys, oldest first.
    pub(super) fn keys(&self) -> &[Key] {
        &self.keys
    }

    fn parsed(&self, kid: &str) -> Option<Arc<SigningKey>> {
        self.parsed.iter().find(|key| key.kid() == kid).cloned()
    }

    /// Builds the key set for `keys`. Reuses the active and the staged key if `self` holds them parsed, and
    /// parses them otherwise.
    fn successor(&self, keys: Vec<Key>, master_keys: &MasterKeys) -> Result<Self, Error> {
        let published = keys.iter();
        let may_sign = published.filter(|key| matches!(key.state, State::Active | State::Staged));
        let parsed: Result<_, Error> = may_sign
            .map(|key| match self.parsed(&key.kid) {
                Some(parsed) => Ok(parsed),
                None => SigningKey::parse(&key.kid, &key.unseal(master_keys)?).map(Arc::new),
            })
            .collect();
        let (jwks, etag) = jwk_set(&keys);
        Ok(Self {
            parsed: parsed?,
            public: access_tokens::KeySet::parse(jwks.as_bytes()).ok(),
            keys,
            jwks,
            etag,
        })
    }
}

/// Returns the key that verifies what a key signed which was retired after `since` and is no longer
/// published: an ID token may outlive its key as a hint. Returns `None` for any other key, and for a
/// compromised one.
pub(crate) async fn find_retired(
    db: &Db,
    kid: &str,
    since: Timestamp,
) -> Result<Option<Arc<DecodingKey>>, db::Error> {
    let jwk = table::find_retired_jwk(db, kid, since).await?;
    let set = jwk.map(|jwk| access_tokens::KeySet::parse(jwks_of(&[jwk.as_str()]).as_bytes()));
    Ok(set.and_then(Result::ok).and_then(|set| set.get(kid)))
}

/// Returns the JWK set of these keys in JSON, and its entity tag.
pub(super) fn jwk_set(keys: &[Key]) -> (String, String) {
    let members: Vec<&str> = keys.iter().map(|key| key.public_jwk.as_str()).collect();
    let jwks = jwks_of(&members);
    let etag = format!("\"{}\"", secret::encode(&secret::hash(&jwks)));
    (jwks, etag)
}

fn jwks_of(members: &[&str]) -> String {
    format!(r#"{{"keys":[{}]}}"#, members.join(","))
}

impl std::fmt::Debug for KeySet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeySet")
            .field("etag", &self.etag)
            .finish_non_exhaustive()
    }
}
