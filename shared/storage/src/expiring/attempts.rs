//! The rules by which attempts count in sliding windows. The store in memory and the one in Redis share them.

use crate::expiring::{AttemptDecision, Rule, Window};
use foundation::clock::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The longest duration of an attempt: the time limit of a request. After it, an attempt without an outcome
/// counts as failed.
const MAX_DURATION: Duration = Duration::from_secs(30);

/// The attempts of one count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Attempts {
    /// The start times of attempts without an outcome.
    under_way: Vec<Timestamp>,
    /// The times of the failures in the window.
    failed: Vec<Timestamp>,
    locked_until: Option<Timestamp>,
}

/// An operation on the attempts of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// Begin an attempt, if the count admits it.
    Begin,
    /// Record that an attempt failed.
    Fail,
    /// Record that an attempt succeeded.
    Succeed,
    /// Cancel an attempt that had no outcome.
    Cancel,
    /// Count an action without an outcome, if the count admits it.
    Take,
}

/// The decision of one count about an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    Admitted,
    /// The attempts under way could reach the limit.
    Busy,
    RefusedUntil(Timestamp),
}

/// Applies the operation to every count, or to none if one of them refuses it. Returns the decision and the
/// number of failures of each count.
pub(super) fn apply_to_all<'a>(
    counts: impl IntoIterator<Item = (&'a mut Attempts, Window)>,
    operation: Operation,
    now: Timestamp,
) -> (AttemptDecision, Vec<usize>) {
    let mut counts: Vec<_> = counts.into_iter().collect();
    let mut decision = AttemptDecision::Begun;
    let mut updated = Vec::with_capacity(counts.len());
    for (count, (attempts, window)) in counts.iter().enumerate() {
        let mut attempts = (*attempts).clone();
        match attempts.apply(operation, *window, now) {
            Admission::Admitted => {}
            Admission::RefusedUntil(until) => {
                decision = AttemptDecision::Refused { count, until };
                break;
            }
            Admission::Busy => decision = AttemptDecision::Busy,
        }
        updated.push(attempts);
    }
    if decision == AttemptDecision::Begun {
        for ((attempts, _), updated) in counts.iter_mut().zip(updated) {
            **attempts = updated;
        }
    }
    let failures = counts.iter().map(|(attempts, _)| attempts.failure_count());
    (decision, failures.collect())
}

impl Attempts {
    /// Applies the operation, if it is admitted. Only [`Operation::Begin`] and [`Operation::Take`] can be
    /// refused.
    fn apply(&mut self, operation: Operation, window: Window, now: Timestamp) -> Admission {
        self.advance(window, now);
        match operation {
            Operation::Begin | Operation::Take => {
                let admission = self.admission(window);
                match (admission, operation) {
                    (Admission::Admitted, Operation::Begin) => self.under_way.push(now),
                    (Admission::Admitted, _) => self.record_failure(window, now),
                    _ => {}
                }
                return admission;
            }
            Operation::Fail => {
                self.under_way.pop();
                self.record_failure(window, now);
            }
            Operation::Succeed if window.rule == Rule::Lockout => *self = Self::default(),
            Operation::Succeed | Operation::Cancel => {
                self.under_way.pop();
            }
        }
        Admission::Admitted
    }

    /// Returns the number of failures in the window, as of the last operation.
    pub(super) fn failure_count(&self) -> usize {
        self.failed.len()
    }

    /// Returns whether the count refuses attempts.
    pub(super) fn is_blocking(&self, window: Window) -> bool {
        self.locked_until.is_some() || self.failed.len() >= window.limit
    }

    /// Returns whether there is nothing to store.
    pub(super) fn is_empty(&self) -> bool {
        self.under_way.is_empty() && self.failed.is_empty() && self.locked_until.is_none()
    }

    /// Moves the window to `now`: removes expired failures and locks, and counts abandoned attempts as
    /// failed.
    pub(super) fn advance(&mut self, window: Window, now: Timestamp) {
        self.remove_expired(window, now);
        let is_abandoned = |at: &&Timestamp| at.after(MAX_DURATION) <= now;
        let (abandoned, under_way): (Vec<Timestamp>, Vec<Timestamp>) =
            self.under_way.iter().partition(is_abandoned);
        self.under_way = under_way;
        for at in abandoned {
            self.record_failure(window, at);
        }
        // An abandoned attempt may already be outside the window.
        self.remove_expired(window, now);
    }

    fn remove_expired(&mut self, window: Window, now: Timestamp) {
        self.locked_until = self.locked_until.filter(|until| *until > now);
        self.failed.retain(|at| at.after(window.length) > now);
    }

    fn admission(&self, window: Window) -> Admission {
        if let Some(until) = self.locked_until {
            return Admission::RefusedUntil(until);
        }
        let oldest = self.failed.iter().min();
        if let Some(oldest) = oldest.filter(|_| self.failed.len() >= window.limit) {
            return Admission::RefusedUntil(oldest.after(window.length));
        }
        match self.failed.len() + self.under_way.len() >= window.limit {
            true => Admission::Busy,
            false => Admission::Admitted,
        }
    }

    fn record_failure(&mut self, window: Window, at: Timestamp) {
        self.failed.push(at);
        let is_at_limit = self.failed.len() >= window.limit;
        if window.rule == Rule::Lockout && is_at_limit && self.locked_until.is_none() {
            self.locked_until = Some(at.after(window.length));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCKOUT: Window = Window {
        limit: 5,
        length: Duration::from_secs(900),
        rule: Rule::Lockout,
    };
    const THROTTLE: Window = Window {
        limit: 3,
        rule: Rule::Throttle,
        ..LOCKOUT
    };

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_micros(1_700_000_000_000_000).after(Duration::from_secs(seconds))
    }

    fn begin(attempts: &mut Attempts, seconds: u64) -> Admission {
        attempts.apply(Operation::Begin, LOCKOUT, at(seconds))
    }

    fn fail(attempts: &mut Attempts, seconds: u64) -> usize {
        assert_eq!(begin(attempts, seconds), Admission::Admitted, "at {seconds} s");
        attempts.apply(Operation::Fail, LOCKOUT, at(seconds));
        attempts.failure_count()
    }

    #[test]
    fn the_fifth_failure_locks_for_a_window_and_refused_attempts_do_not_extend_it() {
        let mut attempts = Attempts::default();
        for n in 0..5 {
            assert_eq!(fail(&mut attempts, n * 100), usize::try_from(n).unwrap() + 1);
        }
        for seconds in [401, 901, 1299] {
            assert_eq!(begin(&mut attempts, seconds), Admission::RefusedUntil(at(1300)));
        }
        assert_eq!(fail(&mut attempts, 1300), 1, "the window is empty again");
    }

    #[test]
    fn old_failures_leave_the_window() {
        let mut attempts = Attempts::default();
        for _ in 0..4 {
            fail(&mut attempts, 0);
        }
        assert_eq!(fail(&mut attempts, 901), 1);
    }

    #[test]
    fn abandoned_attempts_leave_the_window() {
        for window in [LOCKOUT, THROTTLE] {
            let mut attempts = Attempts::default();
            for _ in 0..window.limit {
                assert_eq!(
                    attempts.apply(Operation::Begin, window, at(0)),
                    Admission::Admitted
                );
            }
            assert_eq!(
                attempts.apply(Operation::Begin, window, at(31)),
                Admission::RefusedUntil(at(900))
            );
            let mut attempts = Attempts::default();
            for _ in 0..window.limit {
                assert_eq!(
                    attempts.apply(Operation::Begin, window, at(0)),
                    Admission::Admitted
                );
            }
            assert_eq!(
                attempts.apply(Operation::Begin, window, at(1_000)),
                Admission::Admitted
            );
        }
    }

    #[test]
    fn attempts_under_way_count_and_a_success_clears_a_lockout() {
        let mut attempts = Attempts::default();
        for _ in 0..5 {
            assert_eq!(begin(&mut attempts, 0), Admission::Admitted);
        }
        assert_eq!(begin(&mut attempts, 0), Admission::Busy);
        attempts.apply(Operation::Cancel, LOCKOUT, at(0));
        assert_eq!(begin(&mut attempts, 1), Admission::Admitted);
        attempts.apply(Operation::Succeed, LOCKOUT, at(1));
        assert!(attempts.is_empty());
    }

    #[test]
    fn an_attempt_without_an_outcome_counts_as_failed() {
        let mut attempts = Attempts::default();
        for _ in 0..5 {
            begin(&mut attempts, 0);
        }
        assert_eq!(begin(&mut attempts, 31), Admission::RefusedUntil(at(900)));
    }

    #[test]
    fn a_throttle_admits_one_attempt_per_expired_failure_and_ignores_successes() {
        let mut attempts = Attempts::default();
        let mut apply = |operation, seconds| attempts.apply(operation, THROTTLE, at(seconds));
        for seconds in [0, 10, 20] {
            assert_eq!(apply(Operation::Take, seconds), Admission::Admitted);
        }
        assert_eq!(apply(Operation::Take, 899), Admission::RefusedUntil(at(900)));
        assert_eq!(apply(Operation::Begin, 900), Admission::Admitted);
        assert_eq!(apply(Operation::Take, 900), Admission::Busy);
        apply(Operation::Succeed, 900);
        assert_eq!(apply(Operation::Take, 901), Admission::Admitted);
        assert_eq!(apply(Operation::Take, 902), Admission::RefusedUntil(at(910)));
    }

    #[test]
    fn an_attempt_that_one_count_refuses_is_not_counted() {
        let (mut first, mut second) = (Attempts::default(), Attempts::default());
        for _ in 0..3 {
            second.apply(Operation::Take, THROTTLE, at(0));
        }
        let both = [(&mut first, LOCKOUT), (&mut second, THROTTLE)];
        let refused = AttemptDecision::Refused {
            count: 1,
            until: at(900),
        };
        assert_eq!(apply_to_all(both, Operation::Begin, at(1)).0, refused);
        assert!(first.is_empty());
    }
}
