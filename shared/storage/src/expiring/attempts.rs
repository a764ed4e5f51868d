//! The failures of one name in a sliding window: the rule that every store keeps.

use crate::expiring::{Attempt, Rule, Window};
use foundation::clock::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// An attempt that was not decided by then never will be (a request is cut at 30 s): it failed.
const UNDECIDED: Duration = Duration::from_secs(30);

/// What is known of one name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Attempts {
    under_way: Vec<Timestamp>,
    failed: Vec<Timestamp>,
    locked_until: Option<Timestamp>,
}

/// What may happen to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// An attempt asks whether it may go ahead.
    Begin,
    /// An attempt failed.
    Fail,
    /// An attempt succeeded.
    Succeed,
    /// An attempt came to no decision.
    Void,
    /// What asks whether it may go ahead counts, whatever comes of it.
    Take,
}

/// What one count says to a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Allowed,
    Busy,
    NotBefore(Timestamp),
}

/// Does the step under each count, or under none if one refuses it: what becomes of the attempt, and how many
/// failures each has.
pub(super) fn step_all<'a>(
    all: impl IntoIterator<Item = (&'a mut Attempts, Window)>,
    step: Step,
    now: Timestamp,
) -> (Attempt, Vec<usize>) {
    let mut all: Vec<_> = all.into_iter().collect();
    let mut outcome = Attempt::Begun;
    let mut after = Vec::with_capacity(all.len());
    for (count, (attempts, window)) in all.iter().enumerate() {
        let mut attempts = (*attempts).clone();
        match attempts.step(step, *window, now) {
            Verdict::Allowed => {}
            Verdict::NotBefore(until) => {
                outcome = Attempt::Refused { count, until };
                break;
            }
            Verdict::Busy => outcome = Attempt::Busy,
        }
        after.push(attempts);
    }
    if outcome == Attempt::Begun {
        for ((attempts, _), after) in all.iter_mut().zip(after) {
            **attempts = after;
        }
    }
    (
        outcome,
        all.iter().map(|(attempts, _)| attempts.failed.len()).collect(),
    )
}

impl Attempts {
    /// Does the step: may it go ahead?
    fn step(&mut self, step: Step, window: Window, now: Timestamp) -> Verdict {
        self.slide(window, now);
        match step {
            Step::Begin | Step::Take => {
                let said = self.may_begin(window);
                match (said, step) {
                    (Verdict::Allowed, Step::Begin) => self.under_way.push(now),
                    (Verdict::Allowed, _) => self.fail(window, now),
                    _ => {}
                }
                return said;
            }
            Step::Fail => {
                self.under_way.pop();
                self.fail(window, now);
            }
            Step::Succeed if window.rule == Rule::Lockout => *self = Self::default(),
            Step::Succeed | Step::Void => {
                self.under_way.pop();
            }
        }
        Verdict::Allowed
    }

    /// Failures in the window, as of the last step.
    pub(super) fn failures(&self) -> usize {
        self.failed.len()
    }

    /// Whether nothing may be forgotten of it.
    pub(super) fn is_full(&self, window: Window) -> bool {
        self.locked_until.is_some() || self.failed.len() >= window.limit
    }

    /// Whether there is nothing to remember.
    pub(super) fn is_empty(&self) -> bool {
        self.under_way.is_empty() && self.failed.is_empty() && self.locked_until.is_none()
    }

    /// Forgets what has left the window, and counts attempts that were never decided as failures.
    pub(super) fn slide(&mut self, window: Window, now: Timestamp) {
        self.forget(window, now);
        let is_lost = |at: &&Timestamp| at.after(UNDECIDED) <= now;
        let (lost, under_way): (Vec<Timestamp>, Vec<Timestamp>) = self.under_way.iter().partition(is_lost);
        self.under_way = under_way;
        for at in lost {
            self.fail(window, at);
        }
        // What was lost may be long past itself.
        self.forget(window, now);
    }

    fn forget(&mut self, window: Window, now: Timestamp) {
        self.locked_until = self.locked_until.filter(|until| *until > now);
        self.failed.retain(|at| at.after(window.length) > now);
    }

    fn may_begin(&self, window: Window) -> Verdict {
        if let Some(until) = self.locked_until {
            return Verdict::NotBefore(until);
        }
        let oldest = self.failed.iter().min();
        if let Some(oldest) = oldest.filter(|_| self.failed.len() >= window.limit) {
            return Verdict::NotBefore(oldest.after(window.length));
        }
        match self.failed.len() + self.under_way.len() >= window.limit {
            true => Verdict::Busy,
            false => Verdict::Allowed,
        }
    }

    fn fail(&mut self, window: Window, at: Timestamp) {
        self.failed.push(at);
        let is_full = self.failed.len() >= window.limit;
        if window.rule == Rule::Lockout && is_full && self.locked_until.is_none() {
            self.locked_until = Some(at.after(window.length));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Window = Window {
        limit: 5,
        length: Duration::from_secs(900),
        rule: Rule::Lockout,
    };
    const THROTTLE: Window = Window {
        limit: 3,
        rule: Rule::Throttle,
        ..WINDOW
    };

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_micros(1_700_000_000_000_000).after(Duration::from_secs(seconds))
    }

    fn begin(attempts: &mut Attempts, seconds: u64) -> Verdict {
        attempts.step(Step::Begin, WINDOW, at(seconds))
    }

    fn fail(attempts: &mut Attempts, seconds: u64) -> usize {
        assert_eq!(begin(attempts, seconds), Verdict::Allowed, "at {seconds} s");
        attempts.step(Step::Fail, WINDOW, at(seconds));
        attempts.failures()
    }

    #[test]
    fn the_fifth_failure_locks_for_a_window_and_blocked_attempts_do_not_extend_it() {
        let mut attempts = Attempts::default();
        for n in 0..5 {
            assert_eq!(fail(&mut attempts, n * 100), usize::try_from(n).unwrap() + 1);
        }
        for seconds in [401, 901, 1299] {
            assert_eq!(begin(&mut attempts, seconds), Verdict::NotBefore(at(1300)));
        }
        assert_eq!(fail(&mut attempts, 1300), 1, "the window is empty again");
    }

    #[test]
    fn the_window_slides() {
        let mut attempts = Attempts::default();
        for _ in 0..4 {
            fail(&mut attempts, 0);
        }
        assert_eq!(fail(&mut attempts, 901), 1);
    }

    #[test]
    fn attempts_that_were_lost_long_ago_are_past() {
        for window in [WINDOW, THROTTLE] {
            let mut attempts = Attempts::default();
            for _ in 0..window.limit {
                assert_eq!(attempts.step(Step::Begin, window, at(0)), Verdict::Allowed);
            }
            assert_eq!(
                attempts.step(Step::Begin, window, at(31)),
                Verdict::NotBefore(at(900))
            );
            let mut attempts = Attempts::default();
            for _ in 0..window.limit {
                assert_eq!(attempts.step(Step::Begin, window, at(0)), Verdict::Allowed);
            }
            assert_eq!(attempts.step(Step::Begin, window, at(1_000)), Verdict::Allowed);
        }
    }

    #[test]
    fn attempts_under_way_count_and_a_success_clears() {
        let mut attempts = Attempts::default();
        for _ in 0..5 {
            assert_eq!(begin(&mut attempts, 0), Verdict::Allowed);
        }
        assert_eq!(begin(&mut attempts, 0), Verdict::Busy);
        attempts.step(Step::Void, WINDOW, at(0));
        assert_eq!(begin(&mut attempts, 1), Verdict::Allowed);
        attempts.step(Step::Succeed, WINDOW, at(1));
        assert!(attempts.is_empty());
    }

    #[test]
    fn an_attempt_that_is_never_decided_has_failed() {
        let mut attempts = Attempts::default();
        for _ in 0..5 {
            begin(&mut attempts, 0);
        }
        assert_eq!(begin(&mut attempts, 31), Verdict::NotBefore(at(900)));
    }

    #[test]
    fn a_throttle_lets_one_pass_for_each_that_leaves_the_window_and_no_success_clears_it() {
        let mut attempts = Attempts::default();
        let mut step = |step, seconds| attempts.step(step, THROTTLE, at(seconds));
        for seconds in [0, 10, 20] {
            assert_eq!(step(Step::Take, seconds), Verdict::Allowed);
        }
        assert_eq!(step(Step::Take, 899), Verdict::NotBefore(at(900)));
        assert_eq!(step(Step::Begin, 900), Verdict::Allowed);
        assert_eq!(step(Step::Take, 900), Verdict::Busy);
        step(Step::Succeed, 900);
        assert_eq!(step(Step::Take, 901), Verdict::Allowed);
        assert_eq!(step(Step::Take, 902), Verdict::NotBefore(at(910)));
    }

    #[test]
    fn what_one_count_refuses_no_other_counts() {
        let (mut first, mut second) = (Attempts::default(), Attempts::default());
        for _ in 0..3 {
            second.step(Step::Take, THROTTLE, at(0));
        }
        let both = [(&mut first, WINDOW), (&mut second, THROTTLE)];
        let refused = Attempt::Refused {
            count: 1,
            until: at(900),
        };
        assert_eq!(step_all(both, Step::Begin, at(1)).0, refused);
        assert!(first.is_empty());
    }
}
