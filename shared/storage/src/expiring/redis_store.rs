//! The ephemeral store that replicas share, in Redis.

use crate::expiring::attempts::{Attempts, Step, step_all};
use crate::expiring::{Attempt, Count};
use crate::redis::{Redis, Unavailable};
use ::redis::{Cmd, Script};
use foundation::clock::Timestamp;
use foundation::secret;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// Replaces values if each still is the one that was read (an absent one is empty); empty values go.
const REPLACE: &str = r"
for i, key in ipairs(KEYS) do
  if (redis.call('GET', key) or '') ~= ARGV[3 * i - 2] then return 0 end
end
for i, key in ipairs(KEYS) do
  if ARGV[3 * i - 1] == '' then redis.call('DEL', key)
  else redis.call('SET', key, ARGV[3 * i - 1], 'PX', ARGV[3 * i]) end
end
return 1
";
/// Each failed try means that another process's succeeded.
const TRIES: usize = 100;
/// Beyond the last moment that counts, for clocks that differ from Redis'.
const SLACK: Duration = Duration::from_secs(60);

/// Cheap to clone.
#[derive(Clone, Debug)]
pub struct RedisStore {
    redis: Redis,
    replace: Arc<Script>,
    /// Whose turn it is in this process to try again.
    turn: Arc<Mutex<()>>,
}

/// One value to be replaced by another.
struct Change<'a> {
    key: &'a str,
    before: String,
    after: String,
    kept: Duration,
}

impl RedisStore {
    pub(super) fn new(redis: Redis) -> Self {
        Self {
            redis,
            replace: Arc::new(Script::new(REPLACE)),
            turn: Arc::default(),
        }
    }

    /// Reads, does the step here, and writes if nobody else has meanwhile. After a lost race the callers of this
    /// process try one after the other: many of them may share a name, as those behind one address do.
    pub(super) async fn step(
        &self,
        counts: &[Count],
        step: Step,
        now: Timestamp,
    ) -> Result<(Attempt, Vec<usize>), Unavailable> {
        let keys: Vec<String> = counts
            .iter()
            .map(|count| self.key("attempts", &count.key))
            .collect();
        let mut turn = None;
        for _ in 0..TRIES {
            let before: Vec<Option<String>> = self.redis.query(&Cmd::mget(&keys)).await?;
            let before: Vec<String> = before.into_iter().map(Option::unwrap_or_default).collect();
            // What was altered into nonsense is as good as forgotten.
            let read = |text: &String| serde_json::from_str::<Attempts>(text).unwrap_or_default();
            let mut all: Vec<Attempts> = before.iter().map(read).collect();
            let windows = counts.iter().map(|count| count.window);
            let outcome = step_all(all.iter_mut().zip(windows), step, now);
            let values = all.iter().map(write).zip(before).zip(counts);
            let changes: Vec<Change<'_>> = values
                .zip(&keys)
                .map(|(((after, before), count), key)| Change {
                    key,
                    before,
                    after,
                    kept: count.window.length * 2 + SLACK,
                })
                .collect();
            if changes.iter().all(|change| change.before == change.after) || self.replace(&changes).await? {
                return Ok(outcome);
            }
            if turn.is_none() {
                turn = Some(self.turn.lock().await);
            }
        }
        Ok((Attempt::Busy, Vec::new()))
    }

    pub(super) async fn claim(
        &self,
        key: &str,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<bool, Unavailable> {
        let change = Change {
            key: &self.key("claims", key),
            before: String::new(),
            after: "1".to_owned(),
            kept: expires_at.since(now) + SLACK,
        };
        self.replace(&[change]).await
    }

    pub(super) async fn is_claimed(&self, key: &str) -> Result<bool, Unavailable> {
        self.redis.query(&Cmd::exists(self.key("claims", key))).await
    }

    pub(super) async fn remember(
        &self,
        key: &str,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<(), Unavailable> {
        let kept = millis(expires_at.since(now));
        let key = self.key("memories", key);
        self.redis.query(&Cmd::pset_ex(key, "1", kept)).await
    }

    pub(super) async fn remembers(&self, key: &str) -> Result<bool, Unavailable> {
        self.redis.query(&Cmd::exists(self.key("memories", key))).await
    }

    /// Writes all of the changes or, where one came too late, none.
    async fn replace(&self, changes: &[Change<'_>]) -> Result<bool, Unavailable> {
        let mut script = self.replace.prepare_invoke();
        for change in changes {
            script.key(change.key);
            script
                .arg(&change.before)
                .arg(&change.after)
                .arg(millis(change.kept));
        }
        self.redis.script(&script).await
    }

    /// Names are hashed: they hold e-mail addresses. Those of a kind share a slot of a Redis cluster, since a
    /// script writes several.
    fn key(&self, kind: &str, name: &str) -> String {
        self.redis
            .name(&format!("{{{kind}}}:{}", secret::encode(&secret::hash(name))))
    }
}

/// What is stored of a count; nothing where there is nothing to remember.
fn write(attempts: &Attempts) -> String {
    match attempts.is_empty() {
        true => String::new(),
        false => serde_json::to_string(attempts).unwrap_or_default(),
    }
}

fn millis(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX).max(1)
}
