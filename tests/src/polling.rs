//! Waiting for an asynchronous effect.

use crate::statistics::{median, p99, print_figure};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The maximum time for an effect on a machine that gives the tests a small part of its processor.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(120);
/// The maximum time for a revocation to reach every API on a busy machine.
const REVOCATION_TIMEOUT: Duration = Duration::from_secs(20);

/// Pauses the thread between two looks at an effect, in a function that is not async.
#[allow(
    clippy::disallowed_methods,
    reason = "a loop without a pause takes the processor from the process that it waits for"
)]
pub(crate) fn pause() {
    std::thread::sleep(Duration::from_millis(2));
}

/// The times after which revoked tokens were rejected by every API.
static REVOCATIONS: Mutex<Vec<Duration>> = Mutex::new(Vec::new());

/// Records the time from the end of a revoking call until every API rejected the token.
pub(crate) fn record_revocation(time: Duration) {
    REVOCATIONS.lock().unwrap().push(time);
}

/// Prints the recorded times. They are asserted only by the tests that run alone, because other tests delay
/// them.
pub(crate) fn print_revocations() {
    let times = REVOCATIONS.lock().unwrap();
    if let Some(worst) = times.iter().max() {
        let (count, p50, p99) = (times.len(), median(&times), p99(&times));
        print_figure(&format!(
            "{count} revocations took effect at every API after {p50:?} (p50), {p99:?} (p99), {worst:?} (worst)."
        ));
    }
}

/// Polls until `condition` returns true twice in a row, because consecutive requests go to different
/// replicas, which learn of a change at different times. Fails the test with the message `failure` after two
/// minutes.
#[track_caller]
pub fn eventually<F: Future<Output = bool>>(
    failure: &str,
    condition: impl Fn() -> F,
) -> impl Future<Output = ()> {
    poll(failure, TIMEOUT, condition)
}

/// Polls as [`eventually`] does until every API rejects a token, for at most 20 seconds.
#[track_caller]
pub(crate) fn until_revoked<F: Future<Output = bool>>(
    is_rejected: impl Fn() -> F,
) -> impl Future<Output = ()> {
    poll(
        "a revoked access token is accepted",
        REVOCATION_TIMEOUT,
        is_rejected,
    )
}

fn poll<F: Future<Output = bool>>(
    failure: &str,
    timeout: Duration,
    condition: impl Fn() -> F,
) -> impl Future<Output = ()> {
    let (failure, began) = (failure.to_owned(), Instant::now());
    async move {
        while !(condition().await && condition().await) {
            assert!(began.elapsed() < timeout, "{failure}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
