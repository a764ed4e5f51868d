//! The fetches of documents: one at a time of each URL, and none soon after a failure.

use foundation::clock::{self, Timestamp};
use quick_cache::sync::Cache;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tracing::Instrument as _;

/// The largest number of URLs in memory.
const MAX_URLS: usize = 1_000;

/// The fetches of this process: for each URL, the last one if it failed.
pub(super) struct Fetches(Cache<String, Arc<Mutex<Option<Failure>>>>);

/// The right to fetch a URL, which one caller has at a time.
pub(super) struct Turn(OwnedMutexGuard<Option<Failure>>);

#[derive(Debug)]
struct Failure {
    at: Timestamp,
    reason: String,
}

impl Fetches {
    pub(super) fn new() -> Self {
        Self(Cache::new(MAX_URLS))
    }

    /// Waits until no other caller fetches this URL.
    pub(super) async fn turn(&self, url: &str) -> Turn {
        Turn(self.last(url).lock_owned().await)
    }

    /// Returns the right to fetch this URL, or `None` if another caller has it.
    pub(super) fn turn_if_free(&self, url: &str) -> Option<Turn> {
        self.last(url).try_lock_owned().ok().map(Turn)
    }

    fn last(&self, url: &str) -> Arc<Mutex<Option<Failure>>> {
        let last = self.0.get_or_insert_with(url, || Ok(Arc::default()));
        last.unwrap_or_else(|error: Infallible| match error {})
    }
}

impl Turn {
    /// Returns the reason for which the last fetch failed, if that was less than `pause` ago.
    pub(super) fn recent_failure(&self, pause: Duration, now: Timestamp) -> Option<String> {
        let recent = self.0.as_ref().filter(|failure| now < failure.at.after(pause));
        recent.map(|failure| failure.reason.clone())
    }

    /// Runs `fetch`, which fetches the URL. Fails with the reason.
    pub(super) async fn run(
        mut self,
        fetch: impl Future<Output = Result<(), String>> + Send + 'static,
    ) -> Result<(), String> {
        let run = async move {
            let fetched = fetch.await;
            let failure = fetched.as_ref().err();
            *self.0 = failure.map(|reason| Failure {
                // Its end, so that callers who waited for it share it.
                at: clock::now(),
                reason: reason.clone(),
            });
            fetched
        };
        // A separate task, so that the fetch continues, and counts, if the request of this caller is
        // canceled.
        let fetched = tokio::spawn(run.in_current_span()).await;
        fetched.unwrap_or_else(|error| {
            tracing::error!(%error, "the fetch of a client ID metadata document was aborted");
            Err("it was not fetched: try again".to_owned())
        })
    }
}
