//! State that expires: failed attempts in sliding windows, and remembered keys. A loss of the store resets
//! all counts; it affects no other data.

mod attempts;
mod memory;
mod redis_store;

pub use memory::MemoryStore;
pub use redis_store::RedisStore;

use crate::redis::{Redis, Unavailable};
use attempts::Operation;
use foundation::clock::Timestamp;
use std::time::Duration;

/// The store of expiring state, in memory or in Redis.
#[derive(Clone, Debug)]
pub enum ExpiringStore {
    /// In the memory of this process, for a single replica.
    Memory(MemoryStore),
    /// In Redis, shared by all replicas.
    Redis(RedisStore),
}

/// The decision whether an attempt may proceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptDecision {
    /// The attempt may proceed. It counts as a failure unless it is reported as succeeded or canceled within
    /// 30 seconds.
    Begun,
    /// Refused for now: if all attempts under way failed, a count would reach its limit. The caller may retry
    /// soon.
    Busy,
    /// Refused: a count has reached its limit.
    Refused {
        /// The index of the count that reached its limit, in the list that the caller passed.
        count: usize,
        /// The end of the refusal.
        until: Timestamp,
    },
}

/// A sliding window with the number of failures that it allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The number of failures that reaches the limit.
    pub limit: usize,
    /// The time for which a failure counts.
    pub length: Duration,
    /// The consequence of reaching the limit.
    pub rule: Rule,
}

/// The consequence of reaching the limit of a [`Window`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Refuses every attempt for a whole window after the failure that reaches the limit. A success clears
    /// the count.
    Lockout,
    /// Refuses attempts until the oldest failure has left the window. A success changes nothing.
    Throttle,
}

/// A counter of failures.
#[derive(Clone, Debug)]
pub struct Count {
    /// The subject of the count, such as an account or an address. Redis stores only its hash.
    pub key: String,
    /// The window of the count, with its limit.
    pub window: Window,
}

impl Window {
    /// Returns a window with [`Rule::Throttle`].
    pub const fn throttle(limit: usize, length: Duration) -> Self {
        Self {
            limit,
            length,
            rule: Rule::Throttle,
        }
    }

    /// Returns the count with this key in this window.
    pub fn count(self, key: String) -> Count {
        Count { key, window: self }
    }
}

impl ExpiringStore {
    /// Creates a store in Redis, or in memory if there is no Redis.
    pub fn new(redis: Option<Redis>) -> Self {
        match redis {
            Some(redis) => Self::Redis(RedisStore::new(redis)),
            None => Self::Memory(MemoryStore::default()),
        }
    }

    /// Atomically reserves an attempt under every count, or under none if one of them refuses it. Concurrent
    /// callers never exceed a limit, because attempts under way count. Returns the decision and the number of
    /// failures of each count, or [`AttemptDecision::Busy`] and an empty list if the store is full or the
    /// counts changed too often meanwhile.
    pub async fn begin_attempt(
        &self,
        counts: &[Count],
        now: Timestamp,
    ) -> Result<(AttemptDecision, Vec<usize>), Unavailable> {
        self.apply(counts, Operation::Begin, now).await
    }

    /// Records that an attempt begun under `counts` failed. Returns the number of failures of each count,
    /// including this one; or an empty list if the failure was not counted, because the store is full or the
    /// counts changed too often meanwhile.
    pub async fn attempt_failed(&self, counts: &[Count], now: Timestamp) -> Result<Vec<usize>, Unavailable> {
        Ok(self.apply(counts, Operation::Fail, now).await?.1)
    }

    /// Records that an attempt begun under `counts` succeeded, which clears the counts with
    /// [`Rule::Lockout`].
    pub async fn attempt_succeeded(&self, counts: &[Count], now: Timestamp) -> Result<(), Unavailable> {
        self.apply(counts, Operation::Succeed, now).await.map(|_| ())
    }

    /// Cancels an attempt that ended without an outcome, for example because no password was verified. A
    /// canceled attempt does not count.
    pub async fn attempt_canceled(&self, counts: &[Count], now: Timestamp) -> Result<(), Unavailable> {
        self.apply(counts, Operation::Cancel, now).await.map(|_| ())
    }

    /// Atomically counts an action without an outcome, such as a requested mail, under every count, or under
    /// none if one of them refuses it. Returns `None` if the action was counted, otherwise the time until
    /// another one is allowed.
    pub async fn take(&self, counts: &[Count], now: Timestamp) -> Result<Option<Duration>, Unavailable> {
        match self.apply(counts, Operation::Take, now).await?.0 {
            AttemptDecision::Begun => Ok(None),
            AttemptDecision::Refused { until, .. } => Ok(Some(until.since(now))),
            // The caller may retry at once: the attempts under way end soon.
            AttemptDecision::Busy => Ok(Some(Duration::ZERO)),
        }
    }

    async fn apply(
        &self,
        counts: &[Count],
        operation: Operation,
        now: Timestamp,
    ) -> Result<(AttemptDecision, Vec<usize>), Unavailable> {
        match self {
            Self::Memory(memory) => Ok(memory.apply(counts, operation, now)),
            Self::Redis(store) => store.apply(counts, operation, now).await,
        }
    }

    /// Remembers `key` until `expires_at`, if there is room for it.
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

    /// Returns whether `key` is remembered.
    pub async fn remembers(&self, key: &str, now: Timestamp) -> Result<bool, Unavailable> {
        match self {
            Self::Memory(memory) => Ok(memory.remembers(key, now)),
            Self::Redis(store) => store.remembers(key).await,
        }
    }
}
