//! The ephemeral store of a single process: two maps of bounded size behind one lock each.

use super::{Attempt, Window};
use crate::clock::Timestamp;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Entries of each map at most: some tens of megabytes.
const CAPACITY: usize = 100_000;
/// An attempt that was not decided by then never will be (a request is cut at 30 s): it failed.
const UNDECIDED: Duration = Duration::from_secs(30);

/// Cheap to clone; the clones share one store.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Maps>);

#[derive(Debug, Default)]
struct Maps {
    attempts: Mutex<HashMap<String, Attempts>>,
    /// What is claimed, until when.
    claims: Mutex<HashMap<String, Timestamp>>,
}

#[derive(Debug, Default)]
struct Attempts {
    under_way: Vec<Timestamp>,
    failed: Vec<Timestamp>,
    locked_until: Option<Timestamp>,
}

impl Memory {
    pub(super) fn begin_attempt(&self, key: &str, window: Window, now: Timestamp) -> Attempt {
        let mut map = lock(&self.0.attempts);
        if !map.contains_key(key) && !has_room(&mut map, window, now) {
            return Attempt::Busy;
        }
        let entry = map.entry(key.to_owned()).or_default();
        entry.slide(window, now);
        if let Some(until) = entry.locked_until {
            return Attempt::Locked(until);
        }
        if entry.failed.len() + entry.under_way.len() >= window.limit {
            return Attempt::Busy;
        }
        entry.under_way.push(now);
        Attempt::Begun
    }

    pub(super) fn attempt_failed(&self, key: &str, window: Window, now: Timestamp) -> usize {
        let mut map = lock(&self.0.attempts);
        let entry = map.entry(key.to_owned()).or_default();
        entry.under_way.pop();
        entry.fail(window, now);
        entry.failed.len()
    }

    pub(super) fn attempt_succeeded(&self, key: &str) {
        lock(&self.0.attempts).remove(key);
    }

    pub(super) fn attempt_void(&self, key: &str) {
        let mut map = lock(&self.0.attempts);
        if let Some(entry) = map.get_mut(key) {
            entry.under_way.pop();
            if entry.is_empty() {
                map.remove(key);
            }
        }
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
}

impl Attempts {
    /// Forgets what has left the window, and counts attempts that were never decided as failures.
    fn slide(&mut self, window: Window, now: Timestamp) {
        self.locked_until = self.locked_until.filter(|until| *until > now);
        self.failed.retain(|at| at.after(window.length) > now);
        let is_lost = |at: &&Timestamp| at.after(UNDECIDED) <= now;
        let (lost, under_way): (Vec<Timestamp>, Vec<Timestamp>) = self.under_way.iter().partition(is_lost);
        self.under_way = under_way;
        for at in lost {
            self.fail(window, at);
        }
    }

    fn fail(&mut self, window: Window, at: Timestamp) {
        self.failed.push(at);
        if self.failed.len() >= window.limit && self.locked_until.is_none() {
            self.locked_until = Some(at.after(window.length));
        }
    }

    fn is_empty(&self) -> bool {
        self.under_way.is_empty() && self.failed.is_empty() && self.locked_until.is_none()
    }
}

/// Makes room in a full map: what is over goes first, then what has the fewest failures. A lock never
/// goes, so that no flood of other names lifts it; where locks are all there is, there is no room.
fn has_room(map: &mut HashMap<String, Attempts>, window: Window, now: Timestamp) -> bool {
    if map.len() < CAPACITY {
        return true;
    }
    map.retain(|_, entry| {
        entry.slide(window, now);
        !entry.is_empty()
    });
    for failures in 0..window.limit {
        if map.len() <= CAPACITY / 10 * 9 {
            break;
        }
        map.retain(|_, entry| entry.failed.len() > failures || entry.locked_until.is_some());
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

    const WINDOW: Window = Window {
        limit: 5,
        length: Duration::from_secs(900),
    };
    const START: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

    fn at(seconds: u64) -> Timestamp {
        START.after(Duration::from_secs(seconds))
    }

    fn fail(memory: &Memory, seconds: u64) -> usize {
        let begun = memory.begin_attempt("k", WINDOW, at(seconds));
        assert_eq!(begun, Attempt::Begun, "at {seconds} s");
        memory.attempt_failed("k", WINDOW, at(seconds))
    }

    #[test]
    fn the_fifth_failure_locks_for_a_window_and_blocked_attempts_do_not_extend_it() {
        let memory = Memory::default();
        for n in 0..5 {
            assert_eq!(fail(&memory, n * 100), usize::try_from(n).unwrap() + 1);
        }
        for seconds in [401, 901, 1299] {
            assert_eq!(
                memory.begin_attempt("k", WINDOW, at(seconds)),
                Attempt::Locked(at(1300))
            );
        }
        assert_eq!(fail(&memory, 1300), 1, "the window is empty again");
    }

    #[test]
    fn the_window_slides() {
        let memory = Memory::default();
        for _ in 0..4 {
            fail(&memory, 0);
        }
        assert_eq!(fail(&memory, 901), 1);
    }

    #[test]
    fn attempts_under_way_count_and_a_success_clears() {
        let memory = Memory::default();
        for _ in 0..5 {
            assert_eq!(memory.begin_attempt("k", WINDOW, at(0)), Attempt::Begun);
        }
        assert_eq!(memory.begin_attempt("k", WINDOW, at(0)), Attempt::Busy);
        memory.attempt_void("k");
        assert_eq!(memory.begin_attempt("k", WINDOW, at(1)), Attempt::Begun);
        memory.attempt_succeeded("k");
        assert_eq!(fail(&memory, 2), 1);
    }

    #[test]
    fn an_attempt_that_is_never_decided_has_failed() {
        let memory = Memory::default();
        for _ in 0..5 {
            memory.begin_attempt("k", WINDOW, at(0));
        }
        assert_eq!(
            memory.begin_attempt("k", WINDOW, at(31)),
            Attempt::Locked(at(900))
        );
    }

    #[test]
    fn a_flood_of_other_names_lifts_no_lock() {
        let memory = Memory::default();
        for _ in 0..5 {
            fail(&memory, 0);
        }
        for n in 0..=CAPACITY {
            memory.begin_attempt(&n.to_string(), WINDOW, at(1));
        }
        assert!(lock(&memory.0.attempts).len() <= CAPACITY);
        assert_eq!(memory.begin_attempt("k", WINDOW, at(2)), Attempt::Locked(at(900)));
    }

    #[test]
    fn a_name_is_claimed_once_until_it_expires() {
        let memory = Memory::default();
        assert!(memory.claim("a", at(10), at(0)));
        assert!(!memory.claim("a", at(20), at(9)));
        assert!(memory.is_claimed("a", at(9)) && !memory.is_claimed("a", at(10)));
        assert!(memory.claim("a", at(20), at(10)));
    }
}
