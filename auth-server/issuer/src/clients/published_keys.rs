//! The keys that clients publish at their `jwks_uri` (RFC 7591 §2). They are fetched when an assertion needs
//! them, and cached.

mod state;

use super::jwks::{self, MAX_JWKS_BYTES};
use foundation::clock::Timestamp;
use foundation::json;
use foundation::sync::lock;
use http_client::{Document, FetchError, GuardedClient};
use quick_cache::sync::Cache;
use serde_json::Value;
use state::{FetchedKeys, State};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tracing::Instrument as _;

/// The largest number of sets in memory. Each takes a few KiB, at most some hundred.
const MAX_SETS: usize = 1_000;

/// The keys that clients publish.
#[derive(Debug)]
pub struct PublishedKeys {
    client: GuardedClient,
    sources: Cache<String, Arc<Source>>,
}

/// One `jwks_uri`.
#[derive(Debug, Default)]
struct Source {
    state: Mutex<State>,
    /// Locked during a fetch.
    fetching: tokio::sync::Mutex<()>,
}

impl PublishedKeys {
    /// Creates an empty cache that fetches with this client.
    pub fn new(client: GuardedClient) -> Self {
        Self {
            client,
            sources: Cache::new(MAX_SETS),
        }
    }

    /// Returns whether `is_signed_by` accepts the JWK set at `uri`, the `jwks_uri` of a client. If it does
    /// not accept the cached set, or if that set is no longer fresh, the set is fetched again, unless fetches
    /// are paused. Fails with the reason if no usable set is known; the message addresses the developer of
    /// the client.
    pub(super) async fn verify(
        &self,
        client_id: &str,
        uri: &str,
        now: Timestamp,
        is_signed_by: impl Fn(&Value) -> bool,
    ) -> Result<bool, String> {
        let source = self.source(uri);
        let seen = source.state();
        if seen.fresh_set(now).is_some_and(&is_signed_by) {
            return Ok(true);
        }
        let current = match seen.is_paused(now) {
            true => seen,
            false => self.fetch(client_id, uri, source, seen.fetches, now).await,
        };
        match current.usable_set(now) {
            Some(jwks) => Ok(is_signed_by(jwks)),
            None => Err(current
                .failure
                .unwrap_or_else(|| "they were not fetched".to_owned())),
        }
    }

    fn source(&self, uri: &str) -> Arc<Source> {
        let source = self.sources.get_or_insert_with(uri, || Ok(Arc::default()));
        source.unwrap_or_else(|error: Infallible| match error {})
    }

    /// Fetches the set unless a fetch has ended since `fetches` were counted. Returns the state afterwards.
    async fn fetch(
        &self,
        client_id: &str,
        uri: &str,
        source: Arc<Source>,
        fetches: u64,
        now: Timestamp,
    ) -> State {
        let (client, fetched) = (self.client.clone(), Arc::clone(&source));
        let (client_id, uri) = (client_id.to_owned(), uri.to_owned());
        let fetch = async move {
            let _fetching = fetched.fetching.lock().await;
            let former = fetched.state();
            // Concurrent requests share one fetch, and its failure.
            if former.fetches == fetches {
                let result = download(&client, &uri).await;
                if let Err(FetchError { detail: error, .. }) = &result {
                    tracing::warn!(client_id, error, "cannot fetch the keys of a client");
                }
                *lock(&fetched.state) = former.after(result, now);
            }
        };
        // A separate task, so that the fetch continues, and counts, if this caller's request is canceled.
        if let Err(error) = tokio::spawn(fetch.in_current_span()).await {
            tracing::error!(%error, "the fetch of the keys of a client was aborted");
        }
        source.state()
    }
}

impl Source {
    fn state(&self) -> State {
        lock(&self.state).clone()
    }
}

/// Fetches a JWK set and checks it as a registered one.
async fn download(client: &GuardedClient, uri: &str) -> Result<FetchedKeys, FetchError> {
    let refused = |reason: String, detail: String| FetchError { reason, detail };
    // The guard of this process may be stricter than that of the registration.
    let url = client
        .guard()
        .parse(uri)
        .map_err(|flaw| refused(flaw.clone(), flaw))?;
    let Document { body, max_age } = client.get_json(&url, MAX_JWKS_BYTES).await?;
    let jwks = json::parse(&body)
        .map_err(|error| refused("the response is not valid JSON".to_owned(), error.to_string()))?;
    jwks::check(&jwks).map_err(|flaw| refused(flaw.clone(), flaw))?;
    Ok(FetchedKeys { jwks, max_age })
}
