//! Rate limits: the requests of each caller in the current minute.

mod sharing;

use crate::eviction;
use arc_swap::ArcSwap;
use foundation::clock::Timestamp;
use foundation::network;
use foundation::sync::lock;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The window of every limit. Windows are the minutes of the clock, so that all processes count in the same
/// windows.
pub const WINDOW: Duration = Duration::from_secs(60);
/// The largest number of counts, which take some tens of megabytes.
const CAPACITY: usize = 100_000;
/// The number of limits after which a caller only causes load.
const FLOOD: u32 = 10;
/// The name of the limit by address.
const ADDRESS: &str = "address";

/// The numbers of requests that are allowed per minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quotas {
    /// Reads of one principal: a user, or a user of a client.
    pub reads: u32,
    /// Writes of one principal.
    pub writes: u32,
    /// Requests from one network: an IPv4 address or an IPv6 /64.
    pub address: u32,
    /// Requests of one client that has authenticated, from all addresses.
    pub client: u32,
}

/// A rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The name of the limit in the `RateLimit` headers.
    pub name: &'static str,
    /// The number of requests that are allowed per minute.
    pub quota: u32,
}

/// The result of counting a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The limit under which the request was counted.
    pub limit: Limit,
    /// Whether the request is within the limit.
    pub is_allowed: bool,
    /// Whether there were more than ten times as many requests as the limit allows.
    pub is_flood: bool,
    /// The number of further requests that are allowed in this window.
    pub remaining: u32,
    /// The time until the next window begins.
    pub resets_in: Duration,
}

/// Counts requests in this process, and in all processes if they share the counts through Redis. Clones share
/// the counts.
#[derive(Clone, Debug)]
pub struct RateLimiter {
    /// `None` if requests are not limited.
    quotas: Option<Arc<ArcSwap<Quotas>>>,
    counts: Arc<Mutex<HashMap<String, Count>>>,
}

/// The requests of one caller under one limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Count {
    window: i64,
    requests: u32,
    /// The requests that are not yet added to the shared total. Negative if requests were taken back after
    /// they were added.
    unshared: i64,
}

impl RateLimiter {
    /// Creates a rate limiter with these quotas; `None` limits nothing.
    pub fn new(quotas: Option<Quotas>) -> Self {
        Self {
            quotas: quotas.map(ArcSwap::from_pointee).map(Arc::new),
            counts: Arc::default(),
        }
    }

    /// Replaces the quotas of all clones, if requests are limited. The counts stay.
    pub fn replace_quotas(&self, quotas: Quotas) {
        if let Some(current) = &self.quotas {
            current.store(Arc::new(quotas));
        }
    }

    /// Returns the quotas; `None` if requests are not limited.
    fn quotas(&self) -> Option<Quotas> {
        self.quotas.as_ref().map(|quotas| **quotas.load())
    }

    /// Returns whether requests are limited.
    pub fn is_on(&self) -> bool {
        self.quotas.is_some()
    }

    /// Counts a request from the network of an address. Returns `None` if requests are not limited.
    pub fn by_address(&self, address: IpAddr, now: Timestamp) -> Option<Decision> {
        let limit = Limit {
            name: ADDRESS,
            quota: self.quotas()?.address,
        };
        Some(self.count_request(&network::of_address(address), limit, now))
    }

    /// Counts a request of an authenticated principal, as a read or a write. Returns `None` if requests are
    /// not limited.
    pub fn by_principal(&self, principal: &str, is_read: bool, now: Timestamp) -> Option<Decision> {
        let quotas = self.quotas()?;
        let (name, quota) = match is_read {
            true => ("reads", quotas.reads),
            false => ("writes", quotas.writes),
        };
        Some(self.count_request(principal, Limit { name, quota }, now))
    }

    /// Counts a request of a client that has authenticated, under its `client_id`. Returns `None` if requests
    /// are not limited.
    pub fn by_client(&self, client_id: &str, now: Timestamp) -> Option<Decision> {
        let limit = Limit {
            name: "client",
            quota: self.quotas()?.client,
        };
        Some(self.count_request(client_id, limit, now))
    }

    /// Takes back a request that [`by_address`](Self::by_address) counted at `now`, unless its count was
    /// evicted since.
    pub fn take_back_from_address(&self, address: IpAddr, now: Timestamp) {
        if self.quotas.is_none() {
            return;
        }
        let mut counts = lock(&self.counts);
        let count = counts.get_mut(&key_of(ADDRESS, &network::of_address(address)));
        if let Some(count) = count.filter(|count| count.window == window_at(now)) {
            count.requests = count.requests.saturating_sub(1);
            count.unshared = count.unshared.saturating_sub(1);
        }
    }

    /// Counts a request, whether or not it is within the limit.
    fn count_request(&self, caller: &str, limit: Limit, now: Timestamp) -> Decision {
        let window = window_at(now);
        let key = key_of(limit.name, caller);
        let mut counts = lock(&self.counts);
        if !counts.contains_key(&key) {
            make_room(&mut counts, window);
        }
        let zero = Count {
            window,
            requests: 0,
            unshared: 0,
        };
        let count = counts.entry(key).or_insert(zero);
        if count.window != window {
            *count = zero;
        }
        count.requests = count.requests.saturating_add(1);
        count.unshared = count.unshared.saturating_add(1);
        Decision {
            limit,
            is_allowed: count.requests <= limit.quota,
            is_flood: count.requests > limit.quota.saturating_mul(FLOOD),
            remaining: limit.quota.saturating_sub(count.requests),
            resets_in: start_of(window + 1).since(now),
        }
    }
}

/// Returns the key of the count of one caller under the limit with this name.
fn key_of(limit_name: &str, caller: &str) -> String {
    format!("{limit_name} {caller}")
}

/// Returns the number of the window that contains `time`.
fn window_at(time: Timestamp) -> i64 {
    time.seconds().div_euclid(WINDOW.as_secs().cast_signed())
}

/// Returns the start of a window.
fn start_of(window: i64) -> Timestamp {
    let seconds = window.saturating_mul(WINDOW.as_secs().cast_signed());
    Timestamp::from_micros(seconds.saturating_mul(1_000_000))
}

/// Makes room for one more count. Counts with the fewest requests are evicted first, so that a flood of other
/// callers does not reset a caller who is at a limit.
fn make_room(counts: &mut HashMap<String, Count>, window: i64) {
    let is_expired = |count: &mut Count| count.window != window;
    let weight = |count: &Count| usize::try_from(count.requests).ok();
    // Every count has a weight, so there is always room afterwards.
    eviction::make_room(counts, CAPACITY, is_expired, weight);
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUOTAS: Quotas = Quotas {
        reads: 3,
        writes: 2,
        address: 4,
        client: 5,
    };

    fn at(seconds: u64) -> Timestamp {
        start_of(28_000_000).after(Duration::from_secs(seconds))
    }

    fn read(limiter: &RateLimiter, principal: &str, now: Timestamp) -> (bool, u32, u64) {
        let decision = limiter.by_principal(principal, true, now).unwrap();
        (
            decision.is_allowed,
            decision.remaining,
            decision.resets_in.as_secs(),
        )
    }

    #[test]
    fn each_window_grants_the_whole_quota() {
        let limiter = RateLimiter::new(Some(QUOTAS));
        assert_eq!(read(&limiter, "1", at(0)), (true, 2, 60));
        assert_eq!(read(&limiter, "1", at(20)), (true, 1, 40));
        assert_eq!(read(&limiter, "1", at(59)), (true, 0, 1));
        assert_eq!(read(&limiter, "1", at(59)), (false, 0, 1));
        assert_eq!(read(&limiter, "2", at(59)), (true, 2, 1), "another principal");
        assert_eq!(read(&limiter, "1", at(60)), (true, 2, 60));
        assert_eq!(
            read(&limiter, "1", at(0)),
            (true, 2, 60),
            "the clock went backwards"
        );
    }

    #[test]
    fn reads_writes_and_addresses_are_counted_separately() {
        let limiter = RateLimiter::new(Some(QUOTAS));
        for _ in 0..3 {
            assert!(limiter.by_principal("1", true, at(0)).unwrap().is_allowed);
        }
        let write = limiter.by_principal("1", false, at(0)).unwrap();
        assert_eq!((write.limit.name, write.remaining), ("writes", 1));
        let request = limiter.by_address("192.0.2.1".parse().unwrap(), at(0)).unwrap();
        assert_eq!((request.limit.name, request.remaining), ("address", 3));
        assert_eq!(RateLimiter::new(None).by_principal("1", true, at(0)), None);
    }

    #[test]
    fn requests_of_authenticated_clients_are_taken_back_from_the_address() {
        let limiter = RateLimiter::new(Some(QUOTAS));
        let address = "192.0.2.1".parse().unwrap();
        let by_address = |now| limiter.by_address(address, now).unwrap().remaining;
        for remaining in (0..QUOTAS.client).rev() {
            assert_eq!(by_address(at(0)), QUOTAS.address - 1);
            limiter.take_back_from_address(address, at(0));
            let decision = limiter.by_client("a", at(0)).unwrap();
            assert_eq!((decision.limit.name, decision.remaining), ("client", remaining));
            assert!(decision.is_allowed);
        }
        assert!(!limiter.by_client("a", at(0)).unwrap().is_allowed);
        assert_eq!(by_address(at(0)), QUOTAS.address - 1);
        assert_eq!(by_address(at(60)), QUOTAS.address - 1);
        limiter.take_back_from_address(address, at(0));
        assert_eq!(
            by_address(at(60)),
            QUOTAS.address - 2,
            "the request of the client was counted in another window"
        );
    }

    #[test]
    fn a_flood_of_callers_resets_no_exceeded_limit_and_blocks_no_new_caller() {
        let limiter = RateLimiter::new(Some(QUOTAS));
        for _ in 0..4 {
            read(&limiter, "greedy", at(0));
        }
        for n in 0..CAPACITY * 2 {
            assert!(read(&limiter, &format!("flood{n}"), at(1)).0);
        }
        assert!(lock(&limiter.counts).len() <= CAPACITY);
        assert!(!read(&limiter, "greedy", at(2)).0);
        assert!(read(&limiter, "honest", at(2)).0);
    }
}
