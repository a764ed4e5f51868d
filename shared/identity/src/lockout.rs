//! The lockout, five failures of one identity from one address in fifteen minutes, and the throttles beside it: of
//! one identity from anywhere, and of one address whoever is meant.
//!
//! Whoever fails a hundred times an hour for somebody's account from a hundred places must not keep that somebody
//! out: where they signed in before, the account's throttle does not count.

use foundation::clock::Timestamp;
use foundation::network;
use foundation::secret;
use std::net::IpAddr;
use std::time::Duration;
use storage::expiring::{Attempt, Count, ExpiringStore, Rule, Window};
use storage::redis::Unavailable;

/// Five failures in a sliding fifteen minutes lock for fifteen minutes from the fifth.
pub const WINDOW: Window = Window {
    limit: 5,
    length: Duration::from_secs(15 * 60),
    rule: Rule::Lockout,
};
/// So many failures that lead to a lockout make a captcha due, where there is one.
const CAPTCHA_AFTER: usize = 3;
/// How long failures of one identity from anywhere count.
const ACCOUNT_LENGTH: Duration = Duration::from_secs(3600);
/// How long failures from one address count.
const ADDRESS_LENGTH: Duration = Duration::from_secs(15 * 60);
/// How long a network is known to be a user's after a sign-in from it.
const KNOWN_FOR: Duration = Duration::from_secs(90 * 24 * 3600);

/// How many failures the throttles allow.
#[derive(Clone, Copy, Debug)]
pub struct Throttles {
    /// Of one identity from anywhere, an hour.
    pub account: usize,
    /// From one address, in fifteen minutes.
    pub address: usize,
}

/// What a sign-in is counted under.
#[derive(Clone, Debug)]
pub(crate) struct Counts {
    /// The lockout first, then the throttles, the account's last.
    counts: Vec<Count>,
    /// Names the user's being at that network.
    whereabouts: String,
    /// As of the claim.
    failures: Vec<usize>,
}

impl Counts {
    /// Those of an identity and an address. Anything may be said to be an identity, of any length. An account that
    /// was unlocked has names of its own since: what was counted under the former ones, on whatever store, is over.
    pub(crate) fn new(
        throttles: Throttles,
        name: &str,
        unlocked_at: Option<Timestamp>,
        address: Option<IpAddr>,
    ) -> Self {
        let network = address.map(network::of_address).unwrap_or_default();
        let since = unlocked_at.map_or(0, Timestamp::micros);
        let hashed = |text: &str| secret::encode(&secret::hash(text));
        let whereabouts = format!("login {} at {network}", hashed(name));
        let name = hashed(&format!("{name} {since}"));
        let throttle = |key: String, limit, length| Count {
            key,
            window: Window {
                limit,
                length,
                rule: Rule::Throttle,
            },
        };
        let from = throttle(format!("login from {network}"), throttles.address, ADDRESS_LENGTH);
        let lockout = Count {
            key: format!("login {name} {network}"),
            window: WINDOW,
        };
        let account = throttle(format!("login of {name}"), throttles.account, ACCOUNT_LENGTH);
        Self {
            counts: vec![lockout, from, account],
            whereabouts,
            failures: Vec::new(),
        }
    }

    /// Claims an attempt.
    pub(crate) async fn begin(
        &mut self,
        store: &ExpiringStore,
        now: Timestamp,
    ) -> Result<Attempt, Unavailable> {
        let (attempt, failures) = store.begin_attempt(&self.counts, now).await?;
        self.failures = failures;
        let may_be_by_account = matches!(attempt, Attempt::Busy | Attempt::Refused { count: 2, .. });
        if may_be_by_account && self.counts.len() > 2 && store.remembers(&self.whereabouts, now).await? {
            self.counts.truncate(2);
            let (attempt, failures) = store.begin_attempt(&self.counts, now).await?;
            self.failures = failures;
            return Ok(attempt);
        }
        Ok(attempt)
    }

    /// Whether so much has failed that a program may be trying: three of those that lead to a lockout, or half of
    /// what a throttle allows.
    pub(crate) fn are_suspicious(&self) -> bool {
        let limits = self.counts.iter().map(|count| match count.window.rule {
            Rule::Lockout => CAPTCHA_AFTER,
            Rule::Throttle => count.window.limit.div_ceil(2),
        });
        let mut failures = self.failures.iter().zip(limits);
        failures.any(|(failures, limit)| *failures >= limit)
    }

    /// The attempt failed; gives the failures of this identity from this address.
    pub(crate) async fn failed(&self, store: &ExpiringStore, now: Timestamp) -> Result<usize, Unavailable> {
        let failures = store.attempt_failed(&self.counts, now).await?;
        Ok(failures.first().copied().unwrap_or_default())
    }

    /// The attempt succeeded: the user is known there from now on.
    pub(crate) async fn succeeded(&self, store: &ExpiringStore, now: Timestamp) -> Result<(), Unavailable> {
        store.attempt_succeeded(&self.counts, now).await?;
        store.remember(&self.whereabouts, now.after(KNOWN_FOR), now).await
    }

    /// The attempt was not decided.
    pub(crate) async fn void(&self, store: &ExpiringStore, now: Timestamp) -> Result<(), Unavailable> {
        store.attempt_void(&self.counts, now).await
    }
}

/// How long the answer to the nth failure is held back.
pub fn delay(failures: usize) -> Duration {
    Duration::from_millis(match failures {
        0 | 1 => 0,
        2 => 100,
        3 => 200,
        4 => 400,
        _ => 800,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use foundation::email::Email;

    #[test]
    fn an_identity_and_an_address_are_counted_alike_however_written() {
        let throttles = Throttles {
            account: 1,
            address: 1,
        };
        let keys = |email: &str, address: &str| {
            let email = Email::parse(email).unwrap();
            let counts = Counts::new(throttles, email.key(), None, address.parse().ok()).counts;
            counts.into_iter().map(|count| count.key).collect::<Vec<_>>()
        };
        let ann = |address| keys("ann@example.org", address);
        assert_eq!(ann("10.0.0.1"), keys(" ANN@Example.ORG", "::ffff:10.0.0.1"));
        assert_eq!(ann("2001:db8:1:2::1"), ann("2001:db8:1:2:ffff::9"));
        assert_ne!(ann("2001:db8:1:2::1"), ann("2001:db8:1:3::1"));
    }
}
