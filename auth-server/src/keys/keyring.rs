//! The keys of a running issuer, in memory: parsed to sign with, and the key set as it is published.

use super::table::{self, Key, LATEST, PUBLISHED_WITHIN, State, in_state};
use super::{Error, SigningKey};
use arc_swap::ArcSwap;
use shared::clock::Timestamp;
use shared::db::Db;
use shared::seal::SealingKey;
use shared::secret;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// A set read longer ago than this may have been superseded.
const CURRENT: Duration = Duration::from_secs(5);

/// The keys as they were last read. Cheap to clone; the clones share one set.
#[derive(Clone, Debug)]
pub(crate) struct Keyring(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    held: ArcSwap<Held>,
    /// Held during a read: an older one must not replace a newer one.
    reading: Mutex<()>,
}

#[derive(Debug)]
struct Held {
    set: Arc<KeySet>,
    /// When the read that found it began, by the monotonic clock.
    read_at: Instant,
}

/// One state of the table.
#[derive(Default)]
pub(crate) struct KeySet {
    keys: Vec<Key>,
    /// The active and the staged key, parsed: at a rotation the other signs at once.
    parsed: Vec<Arc<SigningKey>>,
    jwks: String,
    etag: String,
}

impl Keyring {
    /// Holds nothing yet.
    pub(super) fn empty() -> Self {
        Self(Arc::new(Inner {
            held: ArcSwap::from_pointee(Held {
                set: Arc::default(),
                read_at: Instant::now(),
            }),
            reading: Mutex::default(),
        }))
    }

    /// The key that signs at present.
    pub(crate) fn signer(&self, now: Timestamp) -> Result<Arc<SigningKey>, Error> {
        let held = self.0.held.load();
        if held.read_at.elapsed() > LATEST {
            return Err(Error::NoneActive {
                wait: PUBLISHED_WITHIN,
            });
        }
        let signer = in_state(&held.set.keys, State::Active).and_then(|key| held.set.parsed(&key.kid));
        signer.ok_or_else(|| {
            let staged = in_state(&held.set.keys, State::Staged);
            let wait = staged.map(|staged| staged.sign_after.since(now));
            Error::NoneActive {
                wait: wait.unwrap_or_default().max(PUBLISHED_WITHIN),
            }
        })
    }

    /// What is published.
    pub(crate) fn set(&self) -> Arc<KeySet> {
        Arc::clone(&self.0.held.load().set)
    }

    /// Whether what is published is what the table says: a replica that is cut off from it cannot know.
    pub(crate) fn is_current(&self) -> bool {
        self.0.held.load().read_at.elapsed() < CURRENT
    }

    /// Reads the table anew; says whether something changed.
    pub(super) async fn reload(&self, db: &Db, master_key: &SealingKey) -> Result<bool, Error> {
        let _turn = self.0.reading.lock().await;
        let read_at = Instant::now();
        let keys = table::live(db).await?;
        let held = self.set();
        let changed = keys != held.keys;
        let set = match changed {
            true => Arc::new(held.succeeded_by(keys, master_key)?),
            false => held,
        };
        self.0.held.store(Arc::new(Held { set, read_at }));
        Ok(changed)
    }
}

impl KeySet {
    /// The JWK set (RFC 7517 §5) as JSON: every key but the deleted.
    pub(crate) fn jwks(&self) -> &str {
        &self.jwks
    }

    /// The set's entity tag.
    pub(crate) fn etag(&self) -> &str {
        &self.etag
    }

    /// The keys behind it, oldest first.
    pub(super) fn keys(&self) -> &[Key] {
        &self.keys
    }

    fn parsed(&self, kid: &str) -> Option<Arc<SigningKey>> {
        self.parsed.iter().find(|key| key.kid() == kid).cloned()
    }

    /// Parses those that may sign, unless this set has them already.
    fn succeeded_by(&self, keys: Vec<Key>, master_key: &SealingKey) -> Result<Self, Error> {
        let may_sign = keys
            .iter()
            .filter(|key| matches!(key.state, State::Active | State::Staged));
        let parsed: Result<_, Error> = may_sign
            .map(|key| match self.parsed(&key.kid) {
                Some(parsed) => Ok(parsed),
                None => SigningKey::parse(&key.kid, &key.open(master_key)?).map(Arc::new),
            })
            .collect();
        let (jwks, etag) = published(&keys);
        Ok(Self {
            parsed: parsed?,
            keys,
            jwks,
            etag,
        })
    }
}

impl Key {
    /// The private half, in DER.
    pub(super) fn open(&self, master_key: &SealingKey) -> Result<Vec<u8>, Error> {
        let sealed = self.sealed_private_key.as_deref().unwrap_or_default();
        Ok(master_key.open(&self.kid, sealed)?)
    }
}

/// The JWK set of these keys and its entity tag.
pub(super) fn published(keys: &[Key]) -> (String, String) {
    let published: Vec<&str> = keys.iter().map(|key| key.public_jwk.as_str()).collect();
    let jwks = format!(r#"{{"keys":[{}]}}"#, published.join(","));
    let etag = format!("\"{}\"", secret::encode(&secret::hash(&jwks)));
    (jwks, etag)
}

impl std::fmt::Debug for KeySet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeySet")
            .field("etag", &self.etag)
            .finish_non_exhaustive()
    }
}
