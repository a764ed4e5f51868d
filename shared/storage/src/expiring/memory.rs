//! The ephemeral store of a single process: maps of bounded size behind one lock each.

use crate::expiring::attempts::{Attempts, Step, step_all};
use crate::expiring::{Attempt, Count, Window};
use foundation::clock::Timestamp;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Entries of each map at most: some tens of megabytes.
const CAPACITY: usize = 100_000;

/// Cheap to clone; the clones share one store.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore(Arc<Maps>);

#[derive(Debug, Default)]
struct Maps {
    attempts: Mutex<HashMap<String, (Window, Attempts)>>,
    /// What is claimed, until when.
    claims: Mutex<HashMap<String, Timestamp>>,
    /// What is remembered, until when.
    memories: Mutex<HashMap<String, Timestamp>>,
}

impl MemoryStore {
    pub(super) fn step(&self, counts: &[Count], step: Step, now: Timestamp) -> (Attempt, Vec<usize>) {
        let mut map = lock(&self.0.attempts);
        let mut all = Vec::with_capacity(counts.len());
        for Count { key, window } in counts {
            if !map.contains_key(key) && !has_room(&mut map, now) {
                return (Attempt::Busy, Vec::new());
            }
            let found = map.get(key).map(|(_, attempts)| attempts.clone());
            all.push((found.unwrap_or_default(), *window));
        }
        let stepped = all.iter_mut().map(|(attempts, window)| (attempts, *window));
        let outcome = step_all(stepped, step, now);
        for (Count { key, .. }, (attempts, window)) in counts.iter().zip(all) {
            match attempts.is_empty() {
                true => map.remove(key),
                false => map.insert(key.clone(), (window, attempts)),
            };
        }
        outcome
    }

    pub(super) fn claim(&self, key: &str, expires_at: Timestamp, now: Timestamp) -> bool {
        let mut map = lock(&self.0.claims);
        if map.get(key).is_some_and(|end| *end > now) {
            return false;
        }
        if map.len() >= CAPACITY {
            map.retain(|_, end| *end > now);
        }
        // Full of claims that still count: to forget one would let it be claimed twice.
        map.len() < CAPACITY
            && map
                .insert(key.to_owned(), expires_at)
                .is_none_or(|end| end <= now)
    }

    pub(super) fn is_claimed(&self, key: &str, now: Timestamp) -> bool {
        lock(&self.0.claims).get(key).is_some_and(|end| *end > now)
    }

    pub(super) fn remember(&self, key: &str, expires_at: Timestamp, now: Timestamp) {
        let mut map = lock(&self.0.memories);
        if map.len() >= CAPACITY {
            map.retain(|_, end| *end > now);
        }
        if map.len() < CAPACITY {
            map.insert(key.to_owned(), expires_at);
        }
    }

    pub(super) fn remembers(&self, key: &str, now: Timestamp) -> bool {
        lock(&self.0.memories).get(key).is_some_and(|end| *end > now)
    }
}

/// Makes room in a full map: what is over goes first, then what has the fewest failures. What is full never
/// goes, so that no flood of other names lifts a lock; where that is all there is, there is no room.
fn has_room(map: &mut HashMap<String, (Window, Attempts)>, now: Timestamp) -> bool {
    if map.len() < CAPACITY {
        return true;
    }
    map.retain(|_, (window, entry)| {
        entry.slide(*window, now);
        !entry.is_empty()
    });
    let mut failures = 0;
    while map.len() > CAPACITY / 10 * 9 {
        let before = map.len();
        map.retain(|_, (window, entry)| entry.failures() > failures || entry.is_full(*window));
        if map.len() == before && map.values().all(|(window, entry)| entry.is_full(*window)) {
            break;
        }
        failures = failures * 2 + 1;
    }
    map.len() < CAPACITY
}

/// A panic while the lock was held leaves nothing half-written here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn a_flood_of_other_names_lifts_no_lock() {
        let memory = MemoryStore::default();
        let count = |key: &str| Count {
            key: key.to_owned(),
            window: WINDOW,
        };
        let begin = |key: &str, seconds| memory.step(&[count(key)], Step::Begin, at(seconds)).0;
        for _ in 0..5 {
            begin("k", 0);
            memory.step(&[count("k")], Step::Fail, at(0));
        }
        for n in 0..=CAPACITY {
            begin(&n.to_string(), 1);
        }
        assert!(lock(&memory.0.attempts).len() <= CAPACITY);
        assert_eq!(
            begin("k", 2),
            Attempt::Refused {
                count: 0,
                until: at(900)
            }
        );
    }

    #[test]
    fn a_name_is_claimed_once_until_it_expires() {
        let memory = MemoryStore::default();
        assert!(memory.claim("a", at(10), at(0)));
        assert!(!memory.claim("a", at(20), at(9)));
        assert!(memory.is_claimed("a", at(9)) && !memory.is_claimed("a", at(10)));
        assert!(memory.claim("a", at(20), at(10)));
    }
}
