//! Limits of failed sign-ins: the lockout, which locks an account for one network after five failures in 15
//! minutes; the account throttle, which counts the failures of one account from all networks; and the network
//! throttle, which counts the failures from one network for all accounts. Wrong codes of two-step sign-in
//! have a limit of their own.
//!
//! An attacker with many addresses could use the account throttle to lock out the account's owner. The
//! account throttle therefore does not apply to networks from which the user signed in during the last 90
//! days.

use crate::users::StoredCredentials;
use audit::events::list::lockouts;
use foundation::clock::Timestamp;
use foundation::{network, secret};
use std::net::IpAddr;
use std::time::Duration;
use storage::db::{self, Db};
use storage::expiring::{AttemptDecision, Count, ExpiringStore, Rule, Window};
use storage::redis::Unavailable;

/// The window of the lockout: five failures within 15 minutes lock the account for the 15 minutes after the
/// fifth.
pub(crate) const LOCKOUT_WINDOW: Window = Window {
    limit: 5,
    length: Duration::from_secs(15 * 60),
    rule: Rule::Lockout,
};
/// The limit of wrong codes of two-step sign-in for one account, from all networks: who tries codes knows the
/// password.
const CODES_PER_ACCOUNT: Window = Window::throttle(10, Duration::from_secs(24 * 3600));
/// The number of failures in the lockout's window after which a captcha is required.
const CAPTCHA_AFTER: usize = 3;
/// The length of the account throttle's window.
const ACCOUNT_WINDOW_LENGTH: Duration = Duration::from_secs(3600);
/// The length of the network throttle's window.
const NETWORK_WINDOW_LENGTH: Duration = Duration::from_secs(15 * 60);
/// The time after a sign-in during which its network is exempt from the account throttle.
const KNOWN_NETWORK_LIFETIME: Duration = Duration::from_secs(90 * 24 * 3600);
/// The position of the account throttle in [`AttemptCounters::counts`].
const ACCOUNT_THROTTLE_INDEX: usize = 2;

/// The numbers of failures that the throttles allow.
#[derive(Clone, Copy, Debug)]
pub struct Throttles {
    /// Failures of one account from all networks, per hour.
    pub account: usize,
    /// Failures from one network for all accounts, per 15 minutes.
    pub network: usize,
}

/// The counters of a sign-in attempt.
#[derive(Clone, Debug)]
pub(crate) struct AttemptCounters {
    /// The counts of the lockout, the network throttle and the account throttle, in this order.
    /// [`reserve`](Self::reserve) removes the account throttle for a known network.
    counts: Vec<Count>,
    /// The key under which the store remembers that the user signed in from this network.
    known_network_key: String,
    /// The number of earlier failures under each count, read when the attempt was reserved.
    failures: Vec<usize>,
}

impl AttemptCounters {
    /// Returns the counters of an account and the network of an address. The keys contain hashes of
    /// `account_key`, because a client may send any text of any length in place of an e-mail. The hashes
    /// under which an account's failures count include `unlocked_at`, so that unlocking the account changes
    /// them and earlier failures no longer count.
    pub(crate) fn new(
        throttles: Throttles,
        account_key: &str,
        unlocked_at: Option<Timestamp>,
        address: Option<IpAddr>,
    ) -> Self {
        let network = address.map(network::of_address).unwrap_or_default();
        let unlocked_at = unlocked_at.map_or(0, Timestamp::micros);
        let hashed = |text: &str| secret::encode(&secret::hash(text));
        let known_network_key = format!("login {} at {network}", hashed(account_key));
        let account = hashed(&format!("{account_key} {unlocked_at}"));
        let of_network = Window::throttle(throttles.network, NETWORK_WINDOW_LENGTH);
        let of_account = Window::throttle(throttles.account, ACCOUNT_WINDOW_LENGTH);
        Self {
            counts: vec![
                LOCKOUT_WINDOW.count(format!("login {account} {network}")),
                of_network.count(format!("login from {network}")),
                of_account.count(format!("login of {account}")),
            ],
            known_network_key,
            failures: Vec::new(),
        }
    }

    /// Reserves an attempt under every counter. If the account throttle refuses the attempt, or may be the
    /// cause of [`AttemptDecision::Busy`], and the network is a known one, tries again without the account
    /// throttle.
    pub(crate) async fn reserve(
        &mut self,
        store: &ExpiringStore,
        now: Timestamp,
    ) -> Result<AttemptDecision, Unavailable> {
        let mut attempt;
        (attempt, self.failures) = store.begin_attempt(&self.counts, now).await?;
        let may_be_account_throttle = matches!(
            attempt,
            AttemptDecision::Busy
                | AttemptDecision::Refused {
                    count: ACCOUNT_THROTTLE_INDEX,
                    ..
                }
        );
        if may_be_account_throttle
            && self.counts.len() > ACCOUNT_THROTTLE_INDEX
            && store.remembers(&self.known_network_key, now).await?
        {
            self.counts.truncate(ACCOUNT_THROTTLE_INDEX);
            (attempt, self.failures) = store.begin_attempt(&self.counts, now).await?;
        }
        Ok(attempt)
    }

    /// Returns a text that identifies the account and the network, also if there is no such account.
    pub(crate) fn account(&self) -> &str {
        self.counts.first().map_or("", |lockout| &lockout.key)
    }

    /// Returns whether enough attempts failed before this one to require a captcha: three in the lockout's
    /// window, or half the limit of a throttle.
    pub(crate) fn needs_captcha(&self) -> bool {
        let limits = self.counts.iter().map(|count| match count.window.rule {
            Rule::Lockout => CAPTCHA_AFTER,
            Rule::Throttle => count.window.limit.div_ceil(2),
        });
        let mut failures = self.failures.iter().zip(limits);
        failures.any(|(failures, limit)| *failures >= limit)
    }

    /// Records that the attempt failed. Returns the number of failures in the lockout's window, including
    /// this one, or 0 if the store could not count it.
    pub(crate) async fn record_failure(
        &self,
        store: &ExpiringStore,
        now: Timestamp,
    ) -> Result<usize, Unavailable> {
        let failures = store.attempt_failed(&self.counts, now).await?;
        Ok(failures.first().copied().unwrap_or_default())
    }

    /// Records that the attempt succeeded, which clears the lockout's count and makes the network a known one
    /// for 90 days.
    pub(crate) async fn record_success(
        &self,
        store: &ExpiringStore,
        now: Timestamp,
    ) -> Result<(), Unavailable> {
        store.attempt_succeeded(&self.counts, now).await?;
        let expires_at = now.after(KNOWN_NETWORK_LIFETIME);
        store.remember(&self.known_network_key, expires_at, now).await
    }

    /// Releases the attempt, which neither succeeded nor failed and does not count.
    pub(crate) async fn release(&self, store: &ExpiringStore, now: Timestamp) -> Result<(), Unavailable> {
        store.attempt_canceled(&self.counts, now).await
    }
}

/// Returns the count of the wrong codes of an account. Unlocking the account begins a new count.
pub(crate) fn count_of_codes(user: &StoredCredentials) -> Count {
    let unlocked_at = user.unlocked_at.map_or(0, Timestamp::micros);
    CODES_PER_ACCOUNT.count(format!("codes of {} {unlocked_at}", user.id))
}

/// Returns the time at which the lockout or wrong codes blocked sign-in to an account last, if this may still
/// last and no administrator has unblocked it.
pub async fn blocked_at(db: &Db, user_id: i64, now: Timestamp) -> Result<Option<Timestamp>, db::Error> {
    let since = |window: Window| now.before(window.length);
    lockouts::newest(db, user_id, since(CODES_PER_ACCOUNT), since(LOCKOUT_WINDOW)).await
}

/// Returns the delay of the response to a failed attempt. `failures` is the number of failures in the
/// lockout's window, including this one.
pub(crate) fn failure_delay(failures: usize) -> Duration {
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
    fn spellings_of_an_email_and_addresses_of_a_network_share_counters() {
        let throttles = Throttles {
            account: 1,
            network: 1,
        };
        let keys = |email: &str, address: &str| {
            let email = Email::parse(email).unwrap();
            let counts = AttemptCounters::new(throttles, email.key(), None, address.parse().ok()).counts;
            counts.into_iter().map(|count| count.key).collect::<Vec<_>>()
        };
        let ann = |address| keys("ann@example.org", address);
        assert_eq!(ann("10.0.0.1"), keys(" ANN@Example.ORG", "::ffff:10.0.0.1"));
        assert_eq!(ann("2001:db8:1:2::1"), ann("2001:db8:1:2:ffff::9"));
        assert_ne!(ann("2001:db8:1:2::1"), ann("2001:db8:1:3::1"));
    }
}
