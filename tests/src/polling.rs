//! Waiting for an asynchronous effect.

use std::time::{Duration, Instant};

/// The maximum time for a condition to become true on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Polls until `condition` returns true twice in a row, because consecutive requests go to different replicas, which learn of a change at
/// different times. Fails the test with the message `failure` after 20 seconds.
#[track_caller]
pub fn eventually<F: Future<Output = bool>>(
    failure: &str,
    condition: impl Fn() -> F,
) -> impl Future<Output = ()> {
    let (failure, began) = (failure.to_owned(), Instant::now());
    async move {
        while !(condition().await && condition().await) {
            assert!(began.elapsed() < TIMEOUT, "{failure}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
