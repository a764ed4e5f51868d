//! The expiring store of a single process: maps of bounded size, each behind a lock.

use crate::eviction::make_room;
use crate::expiring::attempts::{Attempts, Operation, apply_to_all};
use crate::expiring::{AttemptDecision, Count, Window};
use foundation::clock::Timestamp;
use foundation::sync::lock;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// The largest number of entries of each map, which take some tens of megabytes.
const CAPACITY: usize = 100_000;

/// An expiring store in memory. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore(Arc<Maps>);

#[derive(Debug, Default)]
struct Maps {
    attempts: Mutex<HashMap<String, (Window, Attempts)>>,
    /// The remembered keys with their expiry.
    remembered: Mutex<HashMap<String, Timestamp>>,
}

impl MemoryStore {
    pub(super) fn apply(
        &self,
        counts: &[Count],
        operation: Operation,
        now: Timestamp,
    ) -> (AttemptDecision, Vec<usize>) {
        let mut map = lock(&self.0.attempts);
        let mut entries = Vec::with_capacity(counts.len());
        for Count { key, window } in counts {
            if !map.contains_key(key) && !make_room_for_attempts(&mut map, now) {
                return (AttemptDecision::Busy, Vec::new());
            }
            let stored = map.get(key).map(|(_, attempts)| attempts.clone());
            entries.push((stored.unwrap_or_default(), *window));
        }
        let targets = entries.iter_mut().map(|(attempts, window)| (attempts, *window));
        let outcome = apply_to_all(targets, operation, now);
        for (Count { key, .. }, (attempts, window)) in counts.iter().zip(entries) {
            match attempts.is_empty() {
                true => map.remove(key),
                false => map.insert(key.clone(), (window, attempts)),
            };
        }
        outcome
    }

    pub(super) fn remember(&self, key: &str, expires_at: Timestamp, now: Timestamp) {
        let mut remembered = lock(&self.0.remembered);
        if make_room(&mut remembered, CAPACITY, |expiry| *expiry <= now, |_| None) {
            remembered.insert(key.to_owned(), expires_at);
        }
    }

    pub(super) fn remembers(&self, key: &str, now: Timestamp) -> bool {
        let remembered = lock(&self.0.remembered);
        remembered.get(key).is_some_and(|expiry| *expiry > now)
    }
}

/// Makes room for one more entry. Counts with the fewest failures are evicted first; counts that refuse
/// attempts never are, so that a flood of other keys cannot lift a lockout.
fn make_room_for_attempts(map: &mut HashMap<String, (Window, Attempts)>, now: Timestamp) -> bool {
    let is_expired = |(window, attempts): &mut (Window, Attempts)| {
        attempts.advance(*window, now);
        attempts.is_empty()
    };
    let weight = |(window, attempts): &(Window, Attempts)| {
        (!attempts.is_blocking(*window)).then(|| attempts.failure_count())
    };
    make_room(map, CAPACITY, is_expired, weight)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expiring::Rule;
    use std::time::Duration;

    const WINDOW: Window = Window {
        limit: 5,
        length: Duration::from_secs(900),
        rule: Rule::Lockout,
    };
    const START: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

    fn at(seconds: u64) -> Timestamp {
        START.after(Duration::from_secs(seconds))
    }

    #[test]
    fn a_flood_of_other_keys_lifts_no_lockout() {
        let memory = MemoryStore::default();
        let count = |key: &str| Count {
            key: key.to_owned(),
            window: WINDOW,
        };
        let begin = |key: &str, seconds| memory.apply(&[count(key)], Operation::Begin, at(seconds)).0;
        for _ in 0..5 {
            begin("k", 0);
            memory.apply(&[count("k")], Operation::Fail, at(0));
        }
        for n in 0..=CAPACITY {
            begin(&n.to_string(), 1);
        }
        assert!(lock(&memory.0.attempts).len() <= CAPACITY);
        assert_eq!(
            begin("k", 2),
            AttemptDecision::Refused {
                count: 0,
                until: at(900)
            }
        );
    }
}
