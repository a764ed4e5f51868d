//! What may be forgotten: lockout windows, and which one-time things of minutes are used up.

mod attempts;
mod memory;
mod shared;

pub use memory::Memory;
pub use shared::Shared;

use crate::clock::Timestamp;
use crate::redis::{Redis, Unavailable};
use attempts::Step;
use std::time::Duration;

/// Where it is kept.
#[derive(Clone, Debug)]
pub enum Ephemeral {
    /// In this process: for one replica.
    Memory(Memory),
    /// In Redis: for any number of them.
    Shared(Shared),
}

/// May this attempt go ahead?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// Yes. It counts as a failure until it is told to have succeeded or to be void.
    Begun,
    /// No: as many attempts as may fail are under way, none of them decided yet.
    Busy,
    /// No, until then.
    Locked(Timestamp),
}

/// How many failures in how long a sliding window lock for as long again.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Failures that lock.
    pub limit: usize,
    /// The window, and the lock from the last failure on.
    pub length: Duration,
}

impl Ephemeral {
    /// In Redis, if there is one.
    pub fn new(redis: Option<Redis>) -> Self {
        match redis {
            Some(redis) => Self::Shared(Shared::new(redis)),
            None => Self::Memory(Memory::default()),
        }
    }

    /// Claims one attempt of the `window` under `key`, in one step: whatever the number of callers at
    /// once, no more than `window.limit` attempts are under way or failed.
    pub async fn begin_attempt(
        &self,
        key: &str,
        window: Window,
        now: Timestamp,
    ) -> Result<Attempt, Unavailable> {
        Ok(self.step(key, Step::Begin, window, now).await?.0)
    }

    /// The attempt failed; gives the failures in the window, this one included.
    pub async fn attempt_failed(
        &self,
        key: &str,
        window: Window,
        now: Timestamp,
    ) -> Result<usize, Unavailable> {
        Ok(self.step(key, Step::Fail, window, now).await?.1)
    }

    /// The attempt succeeded: the count starts anew.
    pub async fn attempt_succeeded(
        &self,
        key: &str,
        window: Window,
        now: Timestamp,
    ) -> Result<(), Unavailable> {
        self.step(key, Step::Succeed, window, now).await.map(|_| ())
    }

    /// The attempt was not decided (no hash was computed): it does not count.
    pub async fn attempt_void(&self, key: &str, window: Window, now: Timestamp) -> Result<(), Unavailable> {
        self.step(key, Step::Void, window, now).await.map(|_| ())
    }

    async fn step(
        &self,
        key: &str,
        step: Step,
        window: Window,
        now: Timestamp,
    ) -> Result<(Attempt, usize), Unavailable> {
        match self {
            Self::Memory(memory) => Ok(memory.step(key, step, window, now)),
            Self::Shared(shared) => shared.step(key, step, window, now).await,
        }
    }

    /// Claims `key` until `expires_at`: of several callers at once, one is told that it did.
    pub async fn claim(&self, key: &str, expires_at: Timestamp, now: Timestamp) -> Result<bool, Unavailable> {
        match self {
            Self::Memory(memory) => Ok(memory.claim(key, expires_at, now)),
            Self::Shared(shared) => shared.claim(key, expires_at, now).await,
        }
    }

    /// Whether `key` was claimed.
    pub async fn is_claimed(&self, key: &str, now: Timestamp) -> Result<bool, Unavailable> {
        match self {
            Self::Memory(memory) => Ok(memory.is_claimed(key, now)),
            Self::Shared(shared) => shared.is_claimed(key).await,
        }
    }
}
