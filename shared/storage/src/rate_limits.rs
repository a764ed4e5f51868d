//! Rate limits: how many requests a caller has made in the present minute.

mod sharing;

use foundation::clock::Timestamp;
use foundation::network;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The window of every limit. Windows begin with the minutes of the clock, so that each process that counts
/// means the same one.
pub const WINDOW: Duration = Duration::from_secs(60);
/// Callers counted at once: some tens of megabytes.
const CAPACITY: usize = 100_000;

/// How many requests a minute are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quotas {
    /// Reads of one principal.
    pub reads: u32,
    /// Writes of one principal.
    pub writes: u32,
    /// Requests of one address.
    pub address: u32,
}

/// One limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What it is called on the wire.
    pub name: &'static str,
    /// Requests a minute.
    pub quota: u32,
}

/// What became of counting a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Of which limit.
    pub limit: Limit,
    /// Whether the request is within it.
    pub is_allowed: bool,
    /// How many more are.
    pub remaining: u32,
    /// When the next window begins.
    pub resets_in: Duration,
}

/// The counts of this process, and what the others pooled. Cheap to clone; the clones share them.
#[derive(Clone, Debug)]
pub struct RateLimiter {
    /// `None`: nothing is limited.
    quotas: Option<Quotas>,
    counts: Arc<Mutex<HashMap<String, Count>>>,
}

/// How often in which window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Count {
    window: i64,
    made: u32,
    /// How many of them the other processes do not know of.
    unpooled: u32,
}

impl RateLimiter {
    /// RateLimiter by these quotas, or none.
    pub fn new(quotas: Option<Quotas>) -> Self {
        Self {
            quotas,
            counts: Arc::default(),
        }
    }

    /// Counts a request from an address; `None` where nothing is limited.
    pub fn by_address(&self, address: IpAddr, now: Timestamp) -> Option<Decision> {
        let limit = Limit {
            name: "address",
            quota: self.quotas?.address,
        };
        Some(self.take(&network::of_address(address), limit, now))
    }

    /// Counts a request of someone authenticated; `None` where nothing is limited.
    pub fn by_principal(&self, principal: &str, is_read: bool, now: Timestamp) -> Option<Decision> {
        let quotas = self.quotas?;
        let (name, quota) = match is_read {
            true => ("reads", quotas.reads),
            false => ("writes", quotas.writes),
        };
        Some(self.take(principal, Limit { name, quota }, now))
    }

    /// Counts one more for `key` under `limit`. A refused one counts too, which changes nothing.
    fn take(&self, key: &str, limit: Limit, now: Timestamp) -> Decision {
        let window = window(now);
        let key = format!("{} {key}", limit.name);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if !counts.contains_key(&key) {
            make_room(&mut counts, window);
        }
        let none = Count {
            window,
            made: 0,
            unpooled: 0,
        };
        let count = counts.entry(key).or_insert(none);
        if count.window != window {
            *count = none;
        }
        count.made = count.made.saturating_add(1);
        count.unpooled = count.unpooled.saturating_add(1);
        Decision {
            limit,
            is_allowed: count.made <= limit.quota,
            remaining: limit.quota.saturating_sub(count.made),
            resets_in: start(window + 1).since(now),
        }
    }
}

/// Which window a moment is in.
fn window(now: Timestamp) -> i64 {
    now.seconds().div_euclid(WINDOW.as_secs().cast_signed())
}

/// When a window begins.
fn start(window: i64) -> Timestamp {
    let seconds = window.saturating_mul(WINDOW.as_secs().cast_signed());
    Timestamp::from_micros(seconds.saturating_mul(1_000_000))
}

/// Makes room in full counts: what is over goes first, then those who made the fewest requests. They lose
/// nothing by it, and who is at a limit stays there however many others come.
fn make_room(counts: &mut HashMap<String, Count>, window: i64) {
    if counts.len() < CAPACITY {
        return;
    }
    counts.retain(|_, count| count.window == window);
    let mut few: u32 = 1;
    while counts.len() > CAPACITY / 10 * 9 {
        counts.retain(|_, count| count.made > few);
        few = few.saturating_mul(2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUOTAS: Quotas = Quotas {
        reads: 3,
        writes: 2,
        address: 4,
    };

    fn at(seconds: u64) -> Timestamp {
        start(28_000_000).after(Duration::from_secs(seconds))
    }

    fn read(limits: &RateLimiter, who: &str, now: Timestamp) -> (bool, u32, u64) {
        let taken = limits.by_principal(who, true, now).unwrap();
        (taken.is_allowed, taken.remaining, taken.resets_in.as_secs())
    }

    #[test]
    fn a_window_grants_its_quota_and_the_next_begins_anew() {
        let limits = RateLimiter::new(Some(QUOTAS));
        assert_eq!(read(&limits, "1", at(0)), (true, 2, 60));
        assert_eq!(read(&limits, "1", at(20)), (true, 1, 40));
        assert_eq!(read(&limits, "1", at(59)), (true, 0, 1));
        assert_eq!(read(&limits, "1", at(59)), (false, 0, 1));
        assert_eq!(read(&limits, "2", at(59)), (true, 2, 1), "somebody else");
        assert_eq!(read(&limits, "1", at(60)), (true, 2, 60));
        assert_eq!(read(&limits, "1", at(0)), (true, 2, 60), "a clock that goes back");
    }

    #[test]
    fn reads_writes_and_addresses_are_counted_apart() {
        let limits = RateLimiter::new(Some(QUOTAS));
        for _ in 0..3 {
            assert!(limits.by_principal("1", true, at(0)).unwrap().is_allowed);
        }
        let write = limits.by_principal("1", false, at(0)).unwrap();
        assert_eq!((write.limit.name, write.remaining), ("writes", 1));
        let call = limits.by_address("192.0.2.1".parse().unwrap(), at(0)).unwrap();
        assert_eq!((call.limit.name, call.remaining), ("address", 3));
        assert_eq!(RateLimiter::new(None).by_principal("1", true, at(0)), None);
    }

    #[test]
    fn a_flood_of_others_frees_nobody_and_blocks_nobody() {
        let limits = RateLimiter::new(Some(QUOTAS));
        for _ in 0..4 {
            read(&limits, "greedy", at(0));
        }
        for n in 0..CAPACITY * 2 {
            assert!(read(&limits, &format!("flood{n}"), at(1)).0);
        }
        assert!(limits.counts.lock().unwrap().len() <= CAPACITY);
        assert!(!read(&limits, "greedy", at(2)).0);
        assert!(read(&limits, "honest", at(2)).0);
    }
}
