//! The factor of the time limits of a request and of its steps, such as those of a statement and of a Redis
//! command.
//!
//! A process has one factor, because it makes up for the speed of the machine.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

static FACTOR: AtomicU32 = AtomicU32::new(1);

/// Sets the factor of [`multiplied`]. Called once at the start of a program, before anything waits.
pub fn set_factor(factor: u32) {
    FACTOR.store(factor, Ordering::Relaxed);
}

/// Returns a time limit, multiplied by the factor of this process, which is 1 unless it was set.
pub fn multiplied(limit: Duration) -> Duration {
    limit.saturating_mul(FACTOR.load(Ordering::Relaxed))
}
