//! The ephemeral store that replicas share, in Redis.

use super::attempts::{Attempts, Step};
use super::{Attempt, Window};
use crate::clock::Timestamp;
use crate::redis::{Redis, Unavailable};
use crate::secret;
use ::redis::{Cmd, Script};
use std::sync::Arc;
use std::time::Duration;

/// Replaces a value if it is still the one that was read (an absent one is empty); an empty value goes.
const REPLACE: &str = r"
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('DEL', KEYS[1])
else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1
";
/// Each failed try means that another's succeeded, and of one name few have anything to write.
const TRIES: usize = 100;
/// Beyond the last moment that counts, for clocks that differ from Redis'.
const SLACK: Duration = Duration::from_secs(60);

/// Cheap to clone.
#[derive(Clone, Debug)]
pub struct Shared {
    redis: Redis,
    replace: Arc<Script>,
}

impl Shared {
    pub(super) fn new(redis: Redis) -> Self {
        Self {
            redis,
            replace: Arc::new(Script::new(REPLACE)),
        }
    }

    /// Reads, does the step here, and writes if nobody else has meanwhile.
    pub(super) async fn step(
        &self,
        key: &str,
        step: Step,
        window: Window,
        now: Timestamp,
    ) -> Result<(Attempt, usize), Unavailable> {
        let key = self.key("attempts", key);
        for _ in 0..TRIES {
            let before: Option<String> = self.redis.query(&Cmd::get(&key)).await?;
            let before = before.unwrap_or_default();
            // What was altered into nonsense is as good as forgotten.
            let mut attempts: Attempts = serde_json::from_str(&before).unwrap_or_default();
            let outcome = attempts.step(step, window, now);
            let after = match attempts.is_empty() {
                true => String::new(),
                false => serde_json::to_string(&attempts).unwrap_or_default(),
            };
            if after == before
                || self
                    .replace(&key, &before, &after, window.length * 2 + SLACK)
                    .await?
            {
                return Ok((outcome, attempts.failures()));
            }
        }
        Ok((Attempt::Busy, 0))
    }

    pub(super) async fn claim(
        &self,
        key: &str,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<bool, Unavailable> {
        self.replace(&self.key("claims", key), "", "1", expires_at.since(now) + SLACK)
            .await
    }

    pub(super) async fn is_claimed(&self, key: &str) -> Result<bool, Unavailable> {
        self.redis.query(&Cmd::exists(self.key("claims", key))).await
    }

    async fn replace(
        &self,
        key: &str,
        before: &str,
        after: &str,
        kept: Duration,
    ) -> Result<bool, Unavailable> {
        let millis = u64::try_from(kept.as_millis()).unwrap_or(u64::MAX);
        let mut script = self.replace.key(key);
        self.redis.script(script.arg(before).arg(after).arg(millis)).await
    }

    /// Names are hashed: they hold e-mail addresses.
    fn key(&self, kind: &str, name: &str) -> String {
        self.redis
            .name(&format!("{kind}:{}", secret::encode(&secret::hash(name))))
    }
}
