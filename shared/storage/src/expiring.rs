//! What may be forgotten: failures in sliding windows, and which one-time things of minutes are used up.

mod attempts;
mod memory;
mod redis_store;

pub use memory::MemoryStore;
pub use redis_store::RedisStore;

use crate::redis::{Redis, Unavailable};
use attempts::Step;
use foundation::clock::Timestamp;
use std::time::Duration;

/// Where it is kept.
#[derive(Clone, Debug)]
pub enum ExpiringStore {
    /// In this process: for one replica.
    Memory(MemoryStore),
    /// In Redis: for any number of them.
    Redis(RedisStore),
}

/// May this attempt go ahead?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// Yes. It counts as a failure until it is told to have succeeded or to be void.
    Begun,
    /// No: as many attempts as may fail are under way, not all of them decided yet.
    Busy,
    /// No: one of the counts is full.
    Refused {
        /// Which, by its place in the list.
        count: usize,
        /// Until then.
        until: Timestamp,
    },
}

/// How many failures in how long a sliding window are too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// So many are.
    pub limit: usize,
    /// How long a failure counts.
    pub length: Duration,
    /// What they lead to.
    pub rule: Rule,
}

/// What too many failures lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// None is allowed for a whole window from the last failure on; a success clears the count.
    Lockout,
    /// One more is allowed whenever one has left the window; a success changes nothing.
    Throttle,
}

/// One count: what is counted by, and what is too much of it.
#[derive(Clone, Debug)]
pub struct Count {
    /// Its name; it is hashed where it is stored.
    pub key: String,
    /// Its window.
    pub window: Window,
}

impl ExpiringStore {
    /// In Redis, if there is one.
    pub fn new(redis: Option<Redis>) -> Self {
        match redis {
            Some(redis) => Self::Redis(RedisStore::new(redis)),
            None => Self::Memory(MemoryStore::default()),
        }
    }

    /// Claims one attempt under each of `counts`, or under none, in one step: whatever the number of callers at
    /// once, no more attempts than the limit of each are under way or failed. Gives the failures in each window too.
    pub async fn begin_attempt(
        &self,
        counts: &[Count],
        now: Timestamp,
    ) -> Result<(Attempt, Vec<usize>), Unavailable> {
        self.step(counts, Step::Begin, now).await
    }

    /// The attempt failed; gives the failures in each window, this one included.
    pub async fn attempt_failed(&self, counts: &[Count], now: Timestamp) -> Result<Vec<usize>, Unavailable> {
        Ok(self.step(counts, Step::Fail, now).await?.1)
    }

    /// The attempt succeeded: lockouts begin anew.
    pub async fn attempt_succeeded(&self, counts: &[Count], now: Timestamp) -> Result<(), Unavailable> {
        self.step(counts, Step::Succeed, now).await.map(|_| ())
    }

    /// The attempt was not decided (no hash was computed): it does not count.
    pub async fn attempt_void(&self, counts: &[Count], now: Timestamp) -> Result<(), Unavailable> {
        self.step(counts, Step::Void, now).await.map(|_| ())
    }

    /// Counts something that is throttled but neither succeeds nor fails, such as a mail that is asked for: one
    /// under each of `counts`, or none. Gives until when it is refused, if it is.
    pub async fn take(&self, counts: &[Count], now: Timestamp) -> Result<Option<Timestamp>, Unavailable> {
        match self.step(counts, Step::Take, now).await?.0 {
            Attempt::Begun => Ok(None),
            Attempt::Refused { until, .. } => Ok(Some(until)),
            // Others' attempts are under way: it is known in a moment which of them count.
            Attempt::Busy => Ok(Some(now)),
        }
    }

    async fn step(
        &self,
        counts: &[Count],
        step: Step,
        now: Timestamp,
    ) -> Result<(Attempt, Vec<usize>), Unavailable> {
        match self {
            Self::Memory(memory) => Ok(memory.step(counts, step, now)),
            Self::Redis(store) => store.step(counts, step, now).await,
        }
    }

    /// Claims `key` until `expires_at`: of several callers at once, one is told that it did.
    pub async fn claim(&self, key: &str, expires_at: Timestamp, now: Timestamp) -> Result<bool, Unavailable> {
        match self {
            Self::Memory(memory) => Ok(memory.claim(key, expires_at, now)),
            Self::Redis(store) => store.claim(key, expires_at, now).await,
        }
    }

    /// Whether `key` was claimed.
    pub async fn is_claimed(&self, key: &str, now: Timestamp) -> Result<bool, Unavailable> {
        match self {
            Self::Memory(memory) => Ok(memory.is_claimed(key, now)),
            Self::Redis(store) => store.is_claimed(key).await,
        }
    }

    /// Remembers `key` until `expires_at`, unless there is no room: what is remembered may be forgotten.
    pub async fn remember(
        &self,
        key: &str,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<(), Unavailable> {
        match self {
            Self::Memory(memory) => memory.remember(key, expires_at, now),
            Self::Redis(store) => store.remember(key, expires_at, now).await?,
        }
        Ok(())
    }

    /// Whether `key` is remembered.
    pub async fn remembers(&self, key: &str, now: Timestamp) -> Result<bool, Unavailable> {
        match self {
            Self::Memory(memory) => Ok(memory.remembers(key, now)),
            Self::Redis(store) => store.remembers(key).await,
        }
    }
}
