//! Parsed keys by number. Their owners keep them alive: a key that is dropped is no longer found.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, Weak};

/// The parsed keys of one kind in this process.
pub(crate) struct Registry<K> {
    keys: RwLock<BTreeMap<[u8; 8], Weak<K>>>,
    next: AtomicU64,
}

impl<K> Registry<K> {
    /// Returns an empty registry.
    pub(crate) const fn new() -> Self {
        Self {
            keys: RwLock::new(BTreeMap::new()),
            next: AtomicU64::new(0),
        }
    }

    /// Adds a key, removes dropped ones, and returns the number of the new one.
    pub(crate) fn add(&self, key: &Arc<K>) -> [u8; 8] {
        let number = self.next.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        keys.retain(|_, key| key.strong_count() > 0);
        keys.insert(number, Arc::downgrade(key));
        number
    }

    /// Returns the key with this number, unless it was dropped.
    pub(crate) fn find(&self, number: &[u8]) -> Option<Arc<K>> {
        let number: &[u8; 8] = number.try_into().ok()?;
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        keys.get(number)?.upgrade()
    }
}
