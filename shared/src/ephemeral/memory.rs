//! The ephemeral store of a single process: two maps of bounded memory behind one lock each.

use super::{Attempt, Window};
use crate::clock::Timestamp;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Memory of each map, in bytes as far as they are counted. Beyond it what would expire first goes first.
const CAPACITY: usize = 32 * 1024 * 1024;
/// What an entry costs beside its texts: nodes, timestamps, the allocator's share.
const OVERHEAD: usize = 256;
/// An attempt that was not decided by then never will be (a request is cut at 30 s): it failed.
const UNDECIDED: Duration = Duration::from_secs(30);

/// Cheap to clone; the clones share one store.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Maps>);

#[derive(Debug, Default)]
struct Maps {
    attempts: Mutex<Bounded<Attempts>>,
    values: Mutex<Bounded<Value>>,
}

/// A map that counts its bytes.
#[derive(Debug)]
struct Bounded<V> {
    entries: HashMap<String, V>,
    bytes: usize,
}

/// What a bounded map must know of its entries.
trait Entry {
    /// When it is worth nothing any more.
    fn expires_at(&self) -> Timestamp;
    /// Bytes of its texts.
    fn bytes(&self) -> usize;
}

#[derive(Debug)]
struct Value {
    text: String,
    expires_at: Timestamp,
}

#[derive(Debug)]
struct Attempts {
    under_way: Vec<Timestamp>,
    failed: Vec<Timestamp>,
    locked_until: Option<Timestamp>,
    expires_at: Timestamp,
}

impl Memory {
    pub(super) fn begin_attempt(&self, key: &str, window: Window, now: Timestamp) -> Attempt {
        let mut map = lock(&self.0.attempts);
        let mut entry = map.remove(key).unwrap_or_default();
        entry.slide(window, now);
        let outcome = match entry.locked_until {
            Some(until) => Attempt::Locked(until),
            None if entry.failed.len() + entry.under_way.len() >= window.limit => Attempt::Busy,
            None => {
                entry.under_way.push(now);
                entry.expires_at = entry.expires_at.max(now.after(window.length));
                Attempt::Begun
            }
        };
        map.insert(key, entry, now);
        outcome
    }

    pub(super) fn attempt_failed(&self, key: &str, window: Window, now: Timestamp) -> usize {
        let mut map = lock(&self.0.attempts);
        let mut entry = map.remove(key).unwrap_or_default();
        entry.under_way.pop();
        entry.fail(window, now);
        let failures = entry.failed.len();
        map.insert(key, entry, now);
        failures
    }

    pub(super) fn attempt_succeeded(&self, key: &str) {
        lock(&self.0.attempts).remove(key);
    }

    pub(super) fn attempt_void(&self, key: &str) {
        if let Some(entry) = lock(&self.0.attempts).entries.get_mut(key) {
            entry.under_way.pop();
        }
    }

    pub(super) fn put(&self, key: &str, text: String, expires_at: Timestamp, now: Timestamp) {
        lock(&self.0.values).insert(key, Value { text, expires_at }, now);
    }

    pub(super) fn get(&self, key: &str, now: Timestamp) -> Option<String> {
        let map = lock(&self.0.values);
        map.entries
            .get(key)
            .filter(|value| value.expires_at > now)
            .map(|value| value.text.clone())
    }

    pub(super) fn take(&self, key: &str, now: Timestamp) -> Option<String> {
        let taken = lock(&self.0.values).remove(key)?;
        (taken.expires_at > now).then_some(taken.text)
    }
}

impl<V> Default for Bounded<V> {
    fn default() -> Self {
        Self {
            entries: HashMap::new(),
            bytes: 0,
        }
    }
}

impl<V: Entry> Bounded<V> {
    /// Keeps an entry, and makes room for it if need be.
    fn insert(&mut self, key: &str, entry: V, now: Timestamp) {
        self.remove(key);
        let bytes = cost(key, &entry);
        if self.bytes + bytes > CAPACITY {
            self.make_room(now);
        }
        self.bytes += bytes;
        self.entries.insert(key.to_owned(), entry);
    }

    fn remove(&mut self, key: &str) -> Option<V> {
        let entry = self.entries.remove(key)?;
        self.bytes -= cost(key, &entry);
        Some(entry)
    }

    /// Drops what has expired; if that is less than a tenth, what would expire first.
    fn make_room(&mut self, now: Timestamp) {
        self.entries.retain(|_, entry| entry.expires_at() > now);
        self.count();
        if self.bytes > CAPACITY / 10 * 9 {
            let mut ends: Vec<Timestamp> = self.entries.values().map(Entry::expires_at).collect();
            let (_, cut, _) = ends.select_nth_unstable(self.entries.len() / 10);
            let cut = *cut;
            self.entries.retain(|_, entry| entry.expires_at() > cut);
            self.count();
        }
    }

    fn count(&mut self) {
        self.bytes = self.entries.iter().map(|(key, entry)| cost(key, entry)).sum();
    }
}

fn cost<V: Entry>(key: &str, entry: &V) -> usize {
    OVERHEAD + key.len() + entry.bytes()
}

impl Entry for Value {
    fn expires_at(&self) -> Timestamp {
        self.expires_at
    }

    fn bytes(&self) -> usize {
        self.text.len()
    }
}

impl Entry for Attempts {
    fn expires_at(&self) -> Timestamp {
        self.expires_at
    }

    fn bytes(&self) -> usize {
        0
    }
}

impl Default for Attempts {
    fn default() -> Self {
        Self {
            under_way: Vec::new(),
            failed: Vec::new(),
            locked_until: None,
            expires_at: Timestamp::from_micros(0),
        }
    }
}

impl Attempts {
    /// Forgets what has left the window, and counts attempts that were never decided as failures.
    fn slide(&mut self, window: Window, now: Timestamp) {
        self.locked_until = self.locked_until.filter(|until| *until > now);
        self.failed.retain(|at| at.after(window.length) > now);
        let (lost, under_way) = self.under_way.iter().partition(|at| at.after(UNDECIDED) <= now);
        self.under_way = under_way;
        let lost: Vec<Timestamp> = lost;
        for at in lost {
            self.fail(window, at);
        }
    }

    fn fail(&mut self, window: Window, at: Timestamp) {
        self.failed.push(at);
        let end = at.after(window.length);
        self.expires_at = self.expires_at.max(end);
        if self.failed.len() >= window.limit && self.locked_until.is_none() {
            self.locked_until = Some(end);
        }
    }
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
        assert_eq!(
            memory.begin_attempt("k", WINDOW, at(seconds)),
            Attempt::Begun,
            "at {seconds} s"
        );
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
    fn what_would_expire_first_makes_room() {
        let memory = Memory::default();
        let text = "x".repeat(1024 * 1024);
        for n in 0..64 {
            memory.put(&n.to_string(), text.clone(), at(1000 + n), at(0));
        }
        assert!(lock(&memory.0.values).bytes <= CAPACITY);
        assert_eq!(memory.get("0", at(0)), None);
        assert!(memory.get("63", at(0)).is_some());
    }

    #[test]
    fn a_value_is_taken_once_and_expires() {
        let memory = Memory::default();
        memory.put("a", "1".to_owned(), at(10), at(0));
        assert_eq!(memory.get("a", at(9)).as_deref(), Some("1"));
        assert_eq!(memory.get("a", at(10)), None);
        assert_eq!(memory.take("a", at(9)).as_deref(), Some("1"));
        assert_eq!(memory.take("a", at(9)), None);
    }
}
