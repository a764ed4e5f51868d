//! The issuer's key set: fetched over HTTP, kept, and fetched anew by its age, at the feed's word, or for an
//! unknown `kid`.

mod key_set;

use arc_swap::ArcSwap;
use key_set::{KeySet, PublicKey};
use reqwest::header::{CACHE_CONTROL, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH};
use reqwest::{Client, StatusCode, redirect};
use shared::feed::{Feed, Listener};
use shared::outbound::{in_full, read};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// A fetch that takes longer has failed.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The largest answer, in bytes.
const MAX_BODY: usize = 256 * 1024;
/// How long an answer that does not say counts as new.
const DEFAULT_MAX_AGE: Duration = Duration::from_secs(300);
/// An answer counts as new for this long at least.
const MIN_MAX_AGE: Duration = Duration::from_secs(1);
/// And for this long at most.
const MAX_MAX_AGE: Duration = Duration::from_secs(24 * 3600);
/// How often to try for the first set.
const RETRY: Duration = Duration::from_secs(1);
/// Fetches for an unknown `kid`, and after a failure, are this far apart: anyone can send any `kid`.
const COOLDOWN: Duration = Duration::from_secs(30);
/// How often to ask again for a set that the feed spoke of and the issuer does not publish yet.
const CHASE_PAUSE: Duration = Duration::from_millis(250);
/// How long to ask for it: a replica of the issuer may be that late.
const CHASE: Duration = Duration::from_secs(5);

/// The issuer's keys. Cheap to clone; the clones share one set.
#[derive(Clone, Debug)]
pub(crate) struct Jwks(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    url: String,
    client: Result<Client, reqwest::Error>,
    /// The last good set, or why there was none yet.
    keys: ArcSwap<Result<Held, String>>,
    /// Held during a fetch: an older answer must not replace a newer one.
    fetching: Mutex<()>,
    /// When a fetch for an unknown `kid` last began; the lock is held while one is under way.
    asked_at: Mutex<Option<Instant>>,
}

/// A set as it was answered.
#[derive(Clone, Debug)]
struct Held {
    keys: Arc<KeySet>,
    etag: Option<HeaderValue>,
}

/// A set that the feed spoke of.
struct Chase {
    etag: String,
    until: Instant,
}

impl Jwks {
    /// The key set at this URL, not fetched yet.
    pub(crate) fn new(url: impl Into<String>) -> Self {
        let client = Client::builder()
            .timeout(TIMEOUT)
            .redirect(redirect::Policy::none())
            // The issuer is near, and proxies of the environment are for what is far.
            .no_proxy()
            .build();
        Self(Arc::new(Inner {
            url: url.into(),
            client,
            keys: ArcSwap::from_pointee(Err("not fetched".to_owned())),
            fetching: Mutex::default(),
            asked_at: Mutex::default(),
        }))
    }

    /// Fetches for ever: every second until there is a first set, then before the issuer's max-age has
    /// passed, and at once when the feed says that there is another set. What fails leaves the last good
    /// set in place.
    pub(crate) async fn follow(self, feed: Feed) {
        let mut words = feed.listen();
        let mut chase = None;
        loop {
            let fetched = self.fetch().await;
            chase = chase.filter(|chase: &Chase| Instant::now() < chase.until && !self.holds(&chase.etag));
            let pause = match fetched {
                _ if chase.is_some() => CHASE_PAUSE,
                // A key begins to sign one max-age after it was published: by then it is known here.
                Ok(max_age) => max_age * 3 / 4,
                Err(error) => {
                    tracing::warn!(error, "cannot fetch the issuer's keys");
                    if self.check().is_ok() { COOLDOWN } else { RETRY }
                }
            };
            if let Ok(word) = tokio::time::timeout(pause, self.next_other(&mut words)).await {
                let until = Instant::now() + CHASE;
                chase = word.map(|etag| Chase { etag, until });
            }
        }
    }

    /// Waits until the feed speaks of another set than the one that is held, by its entity tag; `None` where
    /// words were missed.
    async fn next_other(&self, words: &mut Listener) -> Option<String> {
        loop {
            match words.next_keys().await {
                Some(etag) if self.holds(&etag) => {}
                word => return word,
            }
        }
    }

    /// Whether there is a set to check signatures with; the error says why not.
    pub(crate) fn check(&self) -> Result<(), String> {
        match self.0.keys.load().as_ref() {
            Ok(_) => Ok(()),
            Err(reason) => Err(format!("no signing keys yet: {reason}")),
        }
    }

    /// The key of this `kid`. For an unknown one the set is fetched anew, though not often. Fails if there
    /// is no set yet.
    pub(crate) async fn key(&self, kid: &str) -> Result<Option<PublicKey>, String> {
        self.check()?;
        if let Some(key) = self.held(kid) {
            return Ok(Some(key));
        }
        self.fetch_for_unknown().await;
        Ok(self.held(kid))
    }

    fn held(&self, kid: &str) -> Option<PublicKey> {
        self.0.keys.load().as_ref().as_ref().ok()?.keys.get(kid)
    }

    /// Whether the held set has this entity tag.
    fn holds(&self, etag: &str) -> bool {
        let held = self.0.keys.load();
        let held = held.as_ref().as_ref().ok().and_then(|held| held.etag.as_ref());
        held.is_some_and(|held| held.as_bytes() == etag.as_bytes())
    }

    /// One fetch at a time; those that waited find its outcome.
    async fn fetch_for_unknown(&self) {
        let mut asked_at = self.0.asked_at.lock().await;
        if asked_at.is_some_and(|at| at.elapsed() < COOLDOWN) {
            return;
        }
        *asked_at = Some(Instant::now());
        let jwks = self.clone();
        // A task of its own: a caller that goes away must not have used up the others' turn.
        let fetched = tokio::spawn(async move { jwks.fetch().await }).await;
        if let Ok(Err(error)) = fetched {
            tracing::warn!(error, "cannot fetch the issuer's keys for an unknown kid");
        }
    }

    /// Fetches once; gives how long the set counts as new.
    async fn fetch(&self) -> Result<Duration, String> {
        let _turn = self.0.fetching.lock().await;
        let held = self.0.keys.load_full();
        match self.download(held.as_ref().as_ref().ok()).await {
            Ok((keys, max_age)) => {
                self.0.keys.store(Arc::new(Ok(keys)));
                Ok(max_age)
            }
            Err(reason) => {
                if held.is_err() {
                    self.0.keys.store(Arc::new(Err(reason.clone())));
                }
                Err(reason)
            }
        }
    }

    /// Asks for another set than the one that is held.
    async fn download(&self, held: Option<&Held>) -> Result<(Held, Duration), String> {
        let url = &self.0.url;
        let client = self.0.client.as_ref().map_err(ToString::to_string)?;
        let mut request = client.get(url);
        if let Some(etag) = held.and_then(|held| held.etag.as_ref()) {
            request = request.header(IF_NONE_MATCH, etag);
        }
        let response = request.send().await.map_err(in_full)?;
        let max_age = max_age(response.headers());
        let held = match (response.status(), held) {
            (StatusCode::NOT_MODIFIED, Some(held)) => held.clone(),
            (StatusCode::OK, _) => {
                let etag = response.headers().get(ETAG).cloned();
                let keys = KeySet::read(
                    &read(response, MAX_BODY)
                        .await
                        .map_err(|reason| format!("{url} {reason}"))?,
                );
                let keys = Arc::new(keys.map_err(|reason| format!("{url} answered {reason}"))?);
                Held { keys, etag }
            }
            (status, _) => return Err(format!("{url} answered {status}")),
        };
        Ok((held, max_age))
    }
}

/// The `max-age` of an answer (RFC 9111 §5.2.2.1).
fn max_age(headers: &HeaderMap) -> Duration {
    headers
        .get_all(CACHE_CONTROL)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .find_map(|directive| directive.trim().strip_prefix("max-age=")?.parse().ok())
        .map_or(DEFAULT_MAX_AGE, Duration::from_secs)
        .clamp(MIN_MAX_AGE, MAX_MAX_AGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_new_for_as_long_as_it_says_and_a_second_at_least() {
        let max_age = |value: &str| {
            let headers = HeaderMap::from_iter([(CACHE_CONTROL, value.parse().unwrap())]);
            max_age(&headers).as_secs()
        };
        assert_eq!(max_age("public, max-age=60"), 60);
        assert_eq!(max_age("max-age=0"), 1);
        assert_eq!(max_age("max-age=soon"), 300);
        assert_eq!(max_age("max-age=18446744073709551615"), 86_400);
        assert_eq!(max_age("no-cache"), 300);
    }
}
