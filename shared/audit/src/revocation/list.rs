//! The list of revocations in Redis, beside the rows in the database, which stay the truth: a key for each revoked subject, which a
//! resource server in any language can look up, and a stream, which it can follow.

use super::{Kind, Revocation};
use ::redis::Script;
use std::sync::Arc;
use std::time::Duration;
use storage::redis::{Redis, Unavailable};

/// Adds revocations, each to its key and to the stream unless its key exists. The keys of the script are the data set's id, the
/// stream, the mark of completeness and the prefix of the subjects' keys. The arguments are the expected id or an empty text, whether
/// to mark the list as complete, and for each revocation its subject, its moment, and its lifetime in milliseconds or an empty text.
/// Returns false, without effect, if the data set has another id.
const ADD: &str = "
    if ARGV[1] ~= '' and redis.call('GET', KEYS[1]) ~= ARGV[1] then
        return 0
    end
    local now = redis.call('TIME')
    local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
    for i = 3, #ARGV, 3 do
        local key, added = KEYS[4] .. ARGV[i], false
        if ARGV[i + 2] == '' then
            added = redis.call('SET', key, ARGV[i + 1], 'NX')
        else
            added = redis.call('SET', key, ARGV[i + 1], 'NX', 'PX', ARGV[i + 2])
        end
        if added then
            redis.call('XADD', KEYS[2], '*', 'subject', ARGV[i])
        end
    end
    redis.call('XTRIM', KEYS[2], 'MINID', '~', now_ms - 600000)
    if ARGV[2] == '1' then
        redis.call('SET', KEYS[3], ARGV[1], 'PX', 900)
    end
    return 1";

/// The largest number of revocations that one call of the script adds, so that it returns soon.
const BATCH: usize = 1000;
/// The time after which the last access token that a revocation covers has expired: 600 s, and a margin for tokens that are
/// issued meanwhile. It is counted from the moment at which the revocation is added, by the clock of Redis, so that no other clock
/// matters.
const LIFETIME: Duration = Duration::from_secs(660);

/// The list. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct RevocationList {
    redis: Redis,
    add: Arc<Script>,
}

impl RevocationList {
    pub(super) fn new(redis: Redis) -> Self {
        Self {
            redis,
            add: Arc::new(Script::new(ADD)),
        }
    }

    /// Returns the id of the data set. It changes when Redis is emptied or replaced.
    pub(super) async fn data_set(&self) -> Result<String, Unavailable> {
        self.redis.epoch().await
    }

    /// Adds revocations whose rows are committed.
    pub(super) async fn add(&self, revocations: &[Revocation]) -> Result<(), Unavailable> {
        for batch in revocations.chunks(BATCH) {
            self.run(batch, "", false).await?;
        }
        Ok(())
    }

    /// Adds revocations, and then marks the list as complete for a moment: with them it has all that were committed when the caller
    /// read them. Returns false if the data set is not the one with this id any more, so that the list lacks earlier ones.
    pub(super) async fn complete(
        &self,
        data_set: &str,
        revocations: &[Revocation],
    ) -> Result<bool, Unavailable> {
        let mut batches = revocations.chunks(BATCH).peekable();
        loop {
            let batch = batches.next().unwrap_or_default();
            let is_last = batches.peek().is_none();
            if !self.run(batch, data_set, is_last).await? || is_last {
                return Ok(is_last);
            }
        }
    }

    async fn run(
        &self,
        batch: &[Revocation],
        data_set: &str,
        is_complete: bool,
    ) -> Result<bool, Unavailable> {
        let mut call = self.add.prepare_invoke();
        call.key(self.redis.key("epoch"))
            .key(self.stream())
            .key(self.mark());
        call.key(self.redis.key("revoked:"));
        call.arg(data_set).arg(u8::from(is_complete));
        for revocation in batch {
            call.arg(format!("{}:{}", revocation.kind.as_str(), revocation.subject));
            call.arg(revocation.revoked_at.seconds());
            call.arg(match revocation.kind {
                // A holder of a copied key can sign new tokens at any time.
                Kind::Key => String::new(),
                Kind::Jti | Kind::User | Kind::Client | Kind::Family => LIFETIME.as_millis().to_string(),
            });
        }
        self.redis.script(&call).await
    }

    fn stream(&self) -> String {
        self.redis.key("revocations")
    }

    fn mark(&self) -> String {
        self.redis.key("revocations:complete")
    }
}
