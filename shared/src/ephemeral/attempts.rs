//! The failures of one name in a sliding window: the rule that every store keeps.

use super::{Attempt, Window};
use crate::clock::Timestamp;
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
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// An attempt asks whether it may go ahead.
    Begin,
    /// An attempt failed.
    Fail,
    /// An attempt succeeded.
    Succeed,
    /// An attempt came to no decision.
    Void,
}

impl Attempts {
    /// Does the step: may the attempt go ahead?
    pub(super) fn step(&mut self, step: Step, window: Window, now: Timestamp) -> Attempt {
        self.slide(window, now);
        match step {
            Step::Begin => return self.begin(window, now),
            Step::Fail => {
                self.under_way.pop();
                self.fail(window, now);
            }
            Step::Succeed => *self = Self::default(),
            Step::Void => {
                self.under_way.pop();
            }
        }
        Attempt::Begun
    }

    /// Failures in the window, as of the last step.
    pub(super) fn failures(&self) -> usize {
        self.failed.len()
    }

    /// Whether nothing may be forgotten of it.
    pub(super) fn is_locked(&self) -> bool {
        self.locked_until.is_some()
    }

    /// Whether there is nothing to remember.
    pub(super) fn is_empty(&self) -> bool {
        self.under_way.is_empty() && self.failed.is_empty() && self.locked_until.is_none()
    }

    /// Forgets what has left the window, and counts attempts that were never decided as failures.
    pub(super) fn slide(&mut self, window: Window, now: Timestamp) {
        self.locked_until = self.locked_until.filter(|until| *until > now);
        self.failed.retain(|at| at.after(window.length) > now);
        let is_lost = |at: &&Timestamp| at.after(UNDECIDED) <= now;
        let (lost, under_way): (Vec<Timestamp>, Vec<Timestamp>) = self.under_way.iter().partition(is_lost);
        self.under_way = under_way;
        for at in lost {
            self.fail(window, at);
        }
    }

    fn begin(&mut self, window: Window, now: Timestamp) -> Attempt {
        if let Some(until) = self.locked_until {
            return Attempt::Locked(until);
        }
        if self.failed.len() + self.under_way.len() >= window.limit {
            return Attempt::Busy;
        }
        self.under_way.push(now);
        Attempt::Begun
    }

    fn fail(&mut self, window: Window, at: Timestamp) {
        self.failed.push(at);
        if self.failed.len() >= window.limit && self.locked_until.is_none() {
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
    };

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_micros(1_700_000_000_000_000).after(Duration::from_secs(seconds))
    }

    fn begin(attempts: &mut Attempts, seconds: u64) -> Attempt {
        attempts.step(Step::Begin, WINDOW, at(seconds))
    }

    fn fail(attempts: &mut Attempts, seconds: u64) -> usize {
        assert_eq!(begin(attempts, seconds), Attempt::Begun, "at {seconds} s");
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
            assert_eq!(begin(&mut attempts, seconds), Attempt::Locked(at(1300)));
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
    fn attempts_under_way_count_and_a_success_clears() {
        let mut attempts = Attempts::default();
        for _ in 0..5 {
            assert_eq!(begin(&mut attempts, 0), Attempt::Begun);
        }
        assert_eq!(begin(&mut attempts, 0), Attempt::Busy);
        attempts.step(Step::Void, WINDOW, at(0));
        assert_eq!(begin(&mut attempts, 1), Attempt::Begun);
        attempts.step(Step::Succeed, WINDOW, at(1));
        assert!(attempts.is_empty());
    }

    #[test]
    fn an_attempt_that_is_never_decided_has_failed() {
        let mut attempts = Attempts::default();
        for _ in 0..5 {
            begin(&mut attempts, 0);
        }
        assert_eq!(begin(&mut attempts, 31), Attempt::Locked(at(900)));
    }
}
