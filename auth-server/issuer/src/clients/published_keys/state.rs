//! The rules of the freshness of a fetched JWK set, and of the pauses between fetches.

use foundation::clock::Timestamp;
use http_client::FetchError;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// The time for which a set without `max-age`, or with a shorter one, is fresh.
const MIN_FRESHNESS: Duration = Duration::from_secs(300);
/// The maximum time for which a set is fresh.
const MAX_FRESHNESS: Duration = Duration::from_secs(24 * 3600);
/// The time for which a set stays in use after its freshness if it cannot be fetched again.
const MAX_STALENESS: Duration = Duration::from_secs(3600);
/// The pause after a fetch for an assertion that no key of a fresh set verifies, which anybody can send, and
/// after a failed fetch while a set is in use.
const COOLDOWN: Duration = Duration::from_secs(30);
/// The pause after a failed fetch while no set is in use.
const RETRY: Duration = Duration::from_secs(1);

#[derive(Clone, Debug, Default)]
pub(super) struct State {
    set: Option<FetchedSet>,
    /// The number of fetches that ended.
    pub(super) fetches: u64,
    /// No fetch begins before this time.
    paused_until: Option<Timestamp>,
    /// The reason why the last fetch failed, for the developer of the client.
    pub(super) failure: Option<String>,
}

#[derive(Clone, Debug)]
struct FetchedSet {
    jwks: Arc<Value>,
    fresh_until: Timestamp,
}

impl State {
    pub(super) fn fresh_set(&self, now: Timestamp) -> Option<&Value> {
        let set = self.set.as_ref().filter(|set| now < set.fresh_until);
        set.map(|set| set.jwks.as_ref())
    }

    pub(super) fn usable_set(&self, now: Timestamp) -> Option<&Value> {
        let set = self.set.as_ref();
        let set = set.filter(|set| now < set.fresh_until.after(MAX_STALENESS));
        set.map(|set| set.jwks.as_ref())
    }

    pub(super) fn is_paused(&self, now: Timestamp) -> bool {
        self.paused_until.is_some_and(|until| now < until)
    }

    /// Returns the state after a fetch that began at `now`.
    pub(super) fn after(self, fetched: Result<FetchedKeys, FetchError>, now: Timestamp) -> Self {
        let pause = match &fetched {
            Ok(_) if self.fresh_set(now).is_none() => None,
            Err(_) if self.usable_set(now).is_none() => Some(RETRY),
            _ => Some(COOLDOWN),
        };
        let (set, failure) = match fetched {
            Ok(keys) => (Some(keys.set_at(now)), None),
            Err(error) => (self.set, Some(error.reason)),
        };
        Self {
            set,
            fetches: self.fetches + 1,
            paused_until: pause.map(|pause| now.after(pause)),
            failure,
        }
    }
}

/// A JWK set with the `max-age` of its response.
pub(super) struct FetchedKeys {
    pub(super) jwks: Value,
    pub(super) max_age: Option<Duration>,
}

impl FetchedKeys {
    fn set_at(self, now: Timestamp) -> FetchedSet {
        let freshness = self.max_age.unwrap_or(MIN_FRESHNESS);
        FetchedSet {
            jwks: Arc::new(self.jwks),
            fresh_until: now.after(freshness.clamp(MIN_FRESHNESS, MAX_FRESHNESS)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_micros(1_000_000_000_000);
    const SECOND: Duration = Duration::from_secs(1);

    fn fetched(max_age: Option<u64>) -> Result<FetchedKeys, FetchError> {
        let max_age = max_age.map(Duration::from_secs);
        Ok(FetchedKeys {
            jwks: Value::Null,
            max_age,
        })
    }

    fn failed() -> Result<FetchedKeys, FetchError> {
        let (reason, detail) = ("reason".to_owned(), "detail".to_owned());
        Err(FetchError { reason, detail })
    }

    #[test]
    fn a_set_is_fresh_for_five_minutes_to_a_day_and_usable_for_an_hour_more() {
        for (max_age, fresh) in [
            (None, 300),
            (Some(0), 300),
            (Some(600), 600),
            (Some(u64::MAX), 86_400),
        ] {
            let state = State::default().after(fetched(max_age), START);
            let last = START
                .after(Duration::from_secs(fresh))
                .before(Duration::from_micros(1));
            assert!(state.fresh_set(last).is_some(), "{max_age:?}");
            assert!(state.fresh_set(last.after(SECOND)).is_none(), "{max_age:?}");
            assert!(
                state.usable_set(last.after(MAX_STALENESS)).is_some(),
                "{max_age:?}"
            );
            assert!(
                state.usable_set(last.after(MAX_STALENESS + SECOND)).is_none(),
                "{max_age:?}"
            );
        }
    }

    #[test]
    fn fetches_pause_after_failures_and_after_fetches_of_a_fresh_set() {
        let pause = |state: &State| state.paused_until.map(|until| until.since(START));
        let none = State::default();
        assert_eq!(pause(&none.clone().after(failed(), START)), Some(RETRY));
        let first = none.after(fetched(None), START);
        assert_eq!(pause(&first), None);
        assert_eq!(pause(&first.clone().after(fetched(None), START)), Some(COOLDOWN));
        let failure = first.clone().after(failed(), START);
        assert_eq!(pause(&failure), Some(COOLDOWN));
        assert!(failure.fresh_set(START).is_some());
        let stale = START.after(MIN_FRESHNESS);
        assert_eq!(first.clone().after(fetched(None), stale).paused_until, None);
        assert_eq!(
            first.after(failed(), stale).paused_until,
            Some(stale.after(COOLDOWN))
        );
    }
}
