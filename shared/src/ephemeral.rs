//! What may be forgotten: lockout windows, and which one-time things of minutes are used up.

mod memory;

pub use memory::Memory;

use crate::clock::Timestamp;
use std::time::Duration;

/// Where it is kept. In this process for now; a shared store joins here.
#[derive(Clone, Debug)]
pub enum Ephemeral {
    /// In this process: for one replica.
    Memory(Memory),
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
    /// An empty store in this process.
    pub fn memory() -> Self {
        Self::Memory(Memory::default())
    }

    /// Claims one attempt of the `window` under `key`, in one step: whatever the number of callers at
    /// once, no more than `window.limit` attempts are under way or failed.
    pub async fn begin_attempt(&self, key: &str, window: Window, now: Timestamp) -> Attempt {
        match self {
            Self::Memory(memory) => memory.begin_attempt(key, window, now),
        }
    }

    /// The attempt failed; gives the failures in the window, this one included.
    pub async fn attempt_failed(&self, key: &str, window: Window, now: Timestamp) -> usize {
        match self {
            Self::Memory(memory) => memory.attempt_failed(key, window, now),
        }
    }

    /// The attempt succeeded: the count starts anew.
    pub async fn attempt_succeeded(&self, key: &str) {
        match self {
            Self::Memory(memory) => memory.attempt_succeeded(key),
        }
    }

    /// The attempt was not decided (no hash was computed): it does not count.
    pub async fn attempt_void(&self, key: &str) {
        match self {
            Self::Memory(memory) => memory.attempt_void(key),
        }
    }

    /// Claims `key` until `expires_at`: of several callers at once, one is told that it did.
    pub async fn claim(&self, key: &str, expires_at: Timestamp, now: Timestamp) -> bool {
        match self {
            Self::Memory(memory) => memory.claim(key, expires_at, now),
        }
    }

    /// Whether `key` was claimed.
    pub async fn is_claimed(&self, key: &str, now: Timestamp) -> bool {
        match self {
            Self::Memory(memory) => memory.is_claimed(key, now),
        }
    }
}
