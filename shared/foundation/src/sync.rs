//! Locking of a standard mutex even if it is poisoned.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex` even if another thread panicked while it held the lock. Use it only for data that each
/// critical section leaves consistent at every point where it can panic.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
