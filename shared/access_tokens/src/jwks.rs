//! The issuer's key set. It is fetched over HTTP, cached, and fetched again when it is old, when the issuer
//! announces a new set, and when a token names an unknown `kid`.

mod key_set;

pub use key_set::KeySet;

use crate::verifier::PublicKeys;
use arc_swap::ArcSwap;
use http_client::{error_chain, max_age, read_body};
use jsonwebtoken::DecodingKey;
use opentelemetry::trace::FutureExt as _;
use reqwest::header::{ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH};
use reqwest::{Client, StatusCode, redirect};
use std::sync::Arc;
use std::time::{Duration, Instant};
use storage::notifications::{Notifications, Subscription};
use tokio::sync::{Mutex, watch};

/// The timeout of a fetch.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum size of a response, in bytes.
const MAX_BODY: usize = 256 * 1024;
/// The time for which a response without `max-age` is fresh.
const DEFAULT_FRESHNESS: Duration = Duration::from_secs(300);
/// The minimum time for which a response is fresh.
const MIN_FRESHNESS: Duration = Duration::from_secs(1);
/// The maximum time for which a response is fresh.
const MAX_FRESHNESS: Duration = Duration::from_secs(24 * 3600);
/// The time after the start in which tokens wait for the first set. A process accepts connections before it
/// has fetched the set.
const FIRST_MAX_WAIT: Duration = Duration::from_secs(10);
/// The pause between attempts while no set has been fetched yet.
const RETRY: Duration = Duration::from_secs(1);
/// The minimum pause between two fetches for an unknown `kid`, which any caller can send, and after a failed
/// fetch.
const COOLDOWN: Duration = Duration::from_secs(30);
/// The pause between fetches while an announced set is not published yet.
const ANNOUNCED_RETRY: Duration = Duration::from_millis(250);
/// The maximum wait for an announced set: a replica of the issuer may publish it late.
const ANNOUNCED_MAX_WAIT: Duration = Duration::from_secs(5);

/// The issuer's keys. Clones share one set.
#[derive(Clone, Debug)]
pub struct Jwks(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    url: String,
    /// The HTTP client, or the reason why it cannot be built. Each fetch then fails with that reason.
    client: Result<Client, reqwest::Error>,
    /// The last valid set, or the reason why there is none yet.
    cached: ArcSwap<Result<CachedSet, String>>,
    /// The `kid` of each cached key, in alphabetical order. Wakes those who wait for the first set.
    kids: watch::Sender<Vec<String>>,
    /// The end of the time in which tokens wait for the first set.
    first_wait_until: tokio::time::Instant,
    /// Locked during a fetch, so that an older response cannot replace a newer one.
    fetching: Mutex<()>,
    /// The time of the last fetch for an unknown `kid`. Locked during such a fetch.
    last_fetch_for_unknown_kid: Mutex<Option<Instant>>,
}

/// A fetched set with its entity tag.
#[derive(Clone, Debug)]
struct CachedSet {
    keys: Arc<KeySet>,
    etag: Option<HeaderValue>,
}

/// A set that the issuer announced and that is not fetched yet.
struct AnnouncedSet {
    etag: String,
    /// The time at which the frequent fetches for this set end.
    until: Instant,
}

impl Jwks {
    /// Creates an empty cache of the key set at this URL. [`keep_updated`](Self::keep_updated) fills it.
    pub fn new(url: impl Into<String>) -> Self {
        let client = Client::builder()
            .user_agent(concat!("latchkey-api/", env!("CARGO_PKG_VERSION")))
            .timeout(TIMEOUT)
            .redirect(redirect::Policy::none())
            // The issuer is on the internal network, so the proxy settings of the environment do not apply.
            .no_proxy()
            .build();
        Self(Arc::new(Inner {
            url: url.into(),
            client,
            cached: ArcSwap::from_pointee(Err("not fetched".to_owned())),
            kids: watch::Sender::default(),
            first_wait_until: tokio::time::Instant::now() + FIRST_MAX_WAIT,
            fetching: Mutex::default(),
            last_fetch_for_unknown_kid: Mutex::default(),
        }))
    }

    /// Returns the client with which the set is fetched, or the reason why there is none.
    pub(crate) fn client(&self) -> Result<&Client, String> {
        self.0.client.as_ref().map_err(ToString::to_string)
    }

    /// Keeps the set up to date; never returns. Fetches every second until there is a first set, then before
    /// the response's `max-age` has passed, and at once when the issuer announces a new set. After a failed
    /// fetch the last valid set stays in use.
    pub async fn keep_updated(self, notifications: Notifications) {
        let mut notifications = notifications.subscribe();
        let mut announced = None;
        loop {
            let fetched = traces::step("fetch the keys of the issuer", self.fetch()).await;
            announced = announced.filter(|announced: &AnnouncedSet| {
                Instant::now() < announced.until && !self.has_cached(&announced.etag)
            });
            let pause = match fetched {
                _ if announced.is_some() => ANNOUNCED_RETRY,
                // The issuer signs with a new key one max-age after it published the key, so this fetch is in
                // time.
                Ok(max_age) => max_age * 3 / 4,
                Err(error) => {
                    tracing::warn!(error, "cannot fetch the issuer's keys");
                    if self.check().is_ok() { COOLDOWN } else { RETRY }
                }
            };
            if let Ok(etag) = tokio::time::timeout(pause, self.next_announced(&mut notifications)).await {
                let until = Instant::now() + ANNOUNCED_MAX_WAIT;
                announced = etag.map(|etag| AnnouncedSet { etag, until });
            }
        }
    }

    /// Waits until the issuer announces a set other than the cached one. Returns the entity tag of that set,
    /// or `None` if notifications may have been lost.
    async fn next_announced(&self, notifications: &mut Subscription) -> Option<String> {
        loop {
            match notifications.next_signing_keys().await {
                Some(etag) if self.has_cached(&etag) => {}
                announced => return announced,
            }
        }
    }

    /// Checks that a set has been fetched. The error says why not.
    pub fn check(&self) -> Result<(), String> {
        match self.0.cached.load().as_ref() {
            Ok(_) => Ok(()),
            Err(reason) => Err(format!("no signing keys yet: {reason}")),
        }
    }

    /// Waits for the first set if the process has just started. Otherwise a replica would refuse what the
    /// others accept.
    async fn wait_for_first_set(&self) {
        if self.check().is_err() {
            let mut kids = self.kids();
            let first = kids.wait_for(|kids| !kids.is_empty());
            // Without a set, the caller finds the reason.
            let _ = tokio::time::timeout_at(self.0.first_wait_until, first).await;
        }
    }

    /// Follows the `kid` of each cached key. There is none until the first set has been fetched.
    pub fn kids(&self) -> watch::Receiver<Vec<String>> {
        self.0.kids.subscribe()
    }

    fn cached_key(&self, kid: &str) -> Option<Arc<DecodingKey>> {
        self.0.cached.load().as_ref().as_ref().ok()?.keys.get(kid)
    }

    /// Returns whether the cached set has this entity tag.
    fn has_cached(&self, etag: &str) -> bool {
        let cached = self.0.cached.load();
        let cached = cached
            .as_ref()
            .as_ref()
            .ok()
            .and_then(|cached| cached.etag.as_ref());
        cached.is_some_and(|cached| cached.as_bytes() == etag.as_bytes())
    }

    /// Fetches the set because a `kid` is unknown, unless that was done less than [`COOLDOWN`] ago.
    /// Concurrent calls wait for one fetch. A failure is logged.
    async fn fetch_for_unknown_kid(&self) {
        let mut last_fetch = self.0.last_fetch_for_unknown_kid.lock().await;
        if last_fetch.is_some_and(|at| at.elapsed() < COOLDOWN) {
            return;
        }
        *last_fetch = Some(Instant::now());
        let jwks = self.clone();
        // A separate task, so that the fetch continues if this caller's request is canceled.
        let fetch = async move { jwks.fetch().await };
        let fetched = tokio::spawn(fetch.with_current_context()).await;
        if let Ok(Err(error)) = fetched {
            tracing::warn!(error, "cannot fetch the issuer's keys for an unknown kid");
        }
    }

    /// Fetches the set once, caches it, and returns its freshness lifetime. If the fetch fails, a cached set
    /// stays.
    pub async fn fetch(&self) -> Result<Duration, String> {
        let _lock = self.0.fetching.lock().await;
        let cached = self.0.cached.load_full();
        match self.download(cached.as_ref().as_ref().ok()).await {
            Ok((keys, max_age)) => {
                let kids = keys.keys.kids();
                self.0.cached.store(Arc::new(Ok(keys)));
                self.0.kids.send_if_modified(|known| {
                    let has_changed = *known != kids;
                    *known = kids;
                    has_changed
                });
                Ok(max_age)
            }
            Err(reason) => {
                if cached.is_err() {
                    self.0.cached.store(Arc::new(Err(reason.clone())));
                }
                Err(reason)
            }
        }
    }

    /// Requests the set, with the entity tag of the cached one in `If-None-Match`. Returns the new set, or
    /// the cached one after 304, with its freshness lifetime.
    async fn download(&self, cached: Option<&CachedSet>) -> Result<(CachedSet, Duration), String> {
        let url = &self.0.url;
        let mut request = self.client()?.get(url);
        if let Some(etag) = cached.and_then(|cached| cached.etag.as_ref()) {
            request = request.header(IF_NONE_MATCH, etag);
        }
        let response = http_client::send(request).await.map_err(error_chain)?;
        let freshness = freshness(response.headers());
        let cached = match (response.status(), cached) {
            (StatusCode::NOT_MODIFIED, Some(cached)) => cached.clone(),
            (StatusCode::OK, _) => {
                let etag = response.headers().get(ETAG).cloned();
                let body = read_body(response, MAX_BODY).await;
                let keys = body.and_then(|body| KeySet::parse(&body));
                let keys = Arc::new(keys.map_err(|reason| format!("{url}: {reason}"))?);
                CachedSet { keys, etag }
            }
            (status, _) => return Err(format!("{url}: the response has the status {status}")),
        };
        Ok((cached, freshness))
    }
}

impl PublicKeys for Jwks {
    /// Returns the key with this `kid`. If the cached set has none, fetches the set again, at most once per
    /// `COOLDOWN`, and returns `None` if there is still none. Fails with the reason if no set has been
    /// fetched yet, except that it waits for the first one in the first seconds of the process.
    async fn key(&self, kid: &str) -> Result<Option<Arc<DecodingKey>>, String> {
        self.wait_for_first_set().await;
        self.check()?;
        if let Some(key) = self.cached_key(kid) {
            return Ok(Some(key));
        }
        self.fetch_for_unknown_kid().await;
        Ok(self.cached_key(kid))
    }

    fn publishes(&self, kid: &str, key: &Arc<DecodingKey>) -> bool {
        self.cached_key(kid)
            .is_some_and(|cached| Arc::ptr_eq(&cached, key))
    }
}

/// Returns the time for which a response with these headers is fresh: its `max-age`, or [`DEFAULT_FRESHNESS`]
/// without one, but at least [`MIN_FRESHNESS`] and at most [`MAX_FRESHNESS`].
fn freshness(headers: &HeaderMap) -> Duration {
    max_age(headers)
        .unwrap_or(DEFAULT_FRESHNESS)
        .clamp(MIN_FRESHNESS, MAX_FRESHNESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freshness_is_read_from_the_header_within_its_bounds() {
        let freshness = |value: &str| {
            let headers = HeaderMap::from_iter([(reqwest::header::CACHE_CONTROL, value.parse().unwrap())]);
            freshness(&headers).as_secs()
        };
        assert_eq!(freshness("public, max-age=60"), 60);
        assert_eq!(freshness("max-age=0"), 1);
        assert_eq!(freshness("max-age=soon"), 300);
        assert_eq!(freshness("max-age=18446744073709551615"), 86_400);
        assert_eq!(freshness("no-cache"), 300);
    }
}
