//! The speed of a client.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The bytes that every client has ahead, so that one that has just begun is not the slowest.
const AHEAD: u64 = 256 * 1024;

/// The speed at which a client sends its request or accepts the response. Only the thread of its connection
/// changes it.
#[derive(Debug)]
pub struct Pace {
    created: Instant,
    /// The time from the creation until the measurement began, in milliseconds.
    began: AtomicU64,
    /// The bytes since then.
    moved: AtomicU64,
}

impl Default for Pace {
    fn default() -> Self {
        Self::since(Instant::now())
    }
}

impl Pace {
    /// Begins a measurement at this time.
    pub(super) const fn since(began: Instant) -> Self {
        Self {
            created: began,
            began: AtomicU64::new(0),
            moved: AtomicU64::new(0),
        }
    }

    /// Begins a new measurement.
    pub fn restart(&self) {
        self.began.store(self.age(Instant::now()), Ordering::Relaxed);
        self.moved.store(0, Ordering::Relaxed);
    }

    /// Counts bytes that the client has sent or accepted.
    pub fn count(&self, bytes: usize) {
        self.moved.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Returns the speed in bytes per second.
    pub(super) fn bytes_per_second(&self, now: Instant) -> u64 {
        let milliseconds = self.age(now).saturating_sub(self.began.load(Ordering::Relaxed));
        let moved = AHEAD + self.moved.load(Ordering::Relaxed);
        moved.saturating_mul(1000) / milliseconds.max(1)
    }

    fn age(&self, now: Instant) -> u64 {
        let age = now.saturating_duration_since(self.created);
        u64::try_from(age.as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_client_becomes_slower_while_it_moves_nothing() {
        let now = Instant::now();
        let pace = Pace::since(now);
        let after = |seconds| pace.bytes_per_second(now + Duration::from_secs(seconds));
        assert!(after(1) > after(2));
        let before = after(2);
        pace.count(1024 * 1024);
        assert_eq!(after(2), before * 5);
        pace.restart();
        assert!(after(1) <= AHEAD + AHEAD / 1000 * 2);
    }
}
