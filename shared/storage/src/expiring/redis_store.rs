//! The expiring store that replicas share in Redis.

use crate::expiring::attempts::{Attempts, Operation, apply_to_all};
use crate::expiring::{AttemptDecision, Count};
use crate::redis::{Redis, Unavailable};
use ::redis::{Cmd, Script};
use foundation::clock::Timestamp;
use foundation::secret;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// A compare-and-swap of several keys. Each key has three arguments: the expected value, the new value and
/// its time to live in milliseconds. An empty value stands for an absent key. Returns 1, or 0 if a value was
/// not the expected one.
const COMPARE_AND_SWAP: &str = r"
for i, key in ipairs(KEYS) do
  if (redis.call('GET', key) or '') ~= ARGV[3 * i - 2] then return 0 end
end
for i, key in ipairs(KEYS) do
  if ARGV[3 * i - 1] == '' then redis.call('DEL', key)
  else redis.call('SET', key, ARGV[3 * i - 1], 'PX', ARGV[3 * i]) end
end
return 1
";
/// The number of tries of a compare-and-swap. Each failed try means that another caller made progress.
const MAX_TRIES: usize = 100;
/// The time for which Redis keeps attempts after their expiry, in case its clock differs from that of this
/// process.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(60);

/// An expiring store in Redis. Clones share its connection.
#[derive(Clone, Debug)]
pub struct RedisStore {
    redis: Redis,
    compare_and_swap: Arc<Script>,
    /// Held by a caller that lost a race, so that the retries of this process run one after the other.
    retry_lock: Arc<Mutex<()>>,
}

/// A change of one key. Empty values stand for an absent key.
struct Change<'a> {
    key: &'a str,
    expected: String,
    new: String,
    time_to_live: Duration,
}

impl RedisStore {
    pub(super) fn new(redis: Redis) -> Self {
        Self {
            redis,
            compare_and_swap: Arc::new(Script::new(COMPARE_AND_SWAP)),
            retry_lock: Arc::default(),
        }
    }

    /// Reads the counts, applies the operation in this process and writes the result unless a count changed
    /// meanwhile. After a lost race, the callers of this process retry one after the other, because many of
    /// them can share a count, such as that of their address. After [`MAX_TRIES`] lost races, changes nothing
    /// and returns [`AttemptDecision::Busy`].
    pub(super) async fn apply(
        &self,
        counts: &[Count],
        operation: Operation,
        now: Timestamp,
    ) -> Result<(AttemptDecision, Vec<usize>), Unavailable> {
        let keys = counts.iter();
        let keys: Vec<String> = keys.map(|count| self.key("attempts", &count.key)).collect();
        let mut retry_guard = None;
        for _ in 0..MAX_TRIES {
            let stored: Vec<Option<String>> = self.redis.query(&Cmd::mget(&keys)).await?;
            let stored: Vec<String> = stored.into_iter().map(Option::unwrap_or_default).collect();
            let mut attempts: Vec<Attempts> = stored.iter().map(|text| deserialize(text)).collect();
            let windows = counts.iter().map(|count| count.window);
            let outcome = apply_to_all(attempts.iter_mut().zip(windows), operation, now);
            let values = stored.into_iter().zip(attempts.iter().map(serialize));
            let changes: Vec<Change<'_>> = values
                .zip(counts)
                .zip(&keys)
                .map(|(((expected, new), count), key)| Change {
                    key,
                    expected,
                    new,
                    time_to_live: count.window.length * 2 + CLOCK_TOLERANCE,
                })
                .collect();
            if changes.iter().all(|change| change.expected == change.new)
                || self.compare_and_swap(&changes).await?
            {
                return Ok(outcome);
            }
            if retry_guard.is_none() {
                retry_guard = Some(self.retry_lock.lock().await);
            }
        }
        Ok((AttemptDecision::Busy, Vec::new()))
    }

    pub(super) async fn remember(
        &self,
        key: &str,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<(), Unavailable> {
        let time_to_live = millis(expires_at.since(now));
        let key = self.key("memories", key);
        self.redis.query(&Cmd::pset_ex(key, "1", time_to_live)).await
    }

    pub(super) async fn remembers(&self, key: &str) -> Result<bool, Unavailable> {
        self.redis.query(&Cmd::exists(self.key("memories", key))).await
    }

    /// Makes all of the changes, or none if a key does not have its expected value. Returns whether it made
    /// them.
    async fn compare_and_swap(&self, changes: &[Change<'_>]) -> Result<bool, Unavailable> {
        let mut script = self.compare_and_swap.prepare_invoke();
        for change in changes {
            script.key(change.key);
            script
                .arg(&change.expected)
                .arg(&change.new)
                .arg(millis(change.time_to_live));
        }
        self.redis.script(&script).await
    }

    /// Returns the Redis key of an entry. The name is hashed because it can contain an e-mail address. The
    /// hash tag `{kind}` puts all keys of a kind into one slot of a Redis cluster, because one script writes
    /// several of them.
    fn key(&self, kind: &str, name: &str) -> String {
        let hash = secret::encode(&secret::hash(name));
        self.redis.key(&format!("{{{kind}}}:{hash}"))
    }
}

/// Parses stored attempts. An absent or corrupted value counts as no attempts.
fn deserialize(text: &str) -> Attempts {
    serde_json::from_str(text).unwrap_or_default()
}

/// Returns the text to store, or an empty one if there is nothing to store.
fn serialize(attempts: &Attempts) -> String {
    match attempts.is_empty() {
        true => String::new(),
        false => serde_json::to_string(attempts).unwrap_or_default(),
    }
}

/// Converts to milliseconds, at least one: Redis accepts no time to live of zero.
fn millis(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX).max(1)
}
