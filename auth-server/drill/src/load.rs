//! The load of a drill: token requests and requests for the key set at every issuer, and calls with every
//! live token at every API.

use crate::client::ServiceClient;
use crate::endpoint::{Endpoint, Failure, Kind};
use crate::token::Pool;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// The interval between two token requests, to the issuers in turn.
const TOKEN_INTERVAL: Duration = Duration::from_millis(500);
/// The interval between two requests for the key set of an issuer.
const KEY_SET_INTERVAL: Duration = Duration::from_secs(1);
/// The most calls at once to one API. A replica that is slower gets fewer calls than it should, and the drill
/// fails.
const MAX_CALLS_IN_FLIGHT: usize = 128;
/// The time that every replica has to answer correctly before the first rotation: an issuer may know a new
/// client late.
const REHEARSAL_TIMEOUT: Duration = Duration::from_secs(5);
/// The time that every replica has to show a new key after a rotation. The API fetches an announced set for 5
/// s.
pub(crate) const SEEN_TIMEOUT: Duration = Duration::from_secs(10);
/// The pause between two looks at a condition.
pub(crate) const POLL: Duration = Duration::from_millis(100);

/// The endpoints, the client and the tokens of a drill.
#[derive(Debug)]
pub(crate) struct Load {
    /// The token endpoints of the issuers.
    pub(crate) tokens_of: Vec<Arc<Endpoint>>,
    /// The key sets of the issuers.
    pub(crate) key_sets_of: Vec<Arc<Endpoint>>,
    /// The APIs.
    pub(crate) apis: Vec<Arc<Endpoint>>,
    /// The number of calls per second to all APIs together.
    pub(crate) requests_per_second: u32,
    /// The tokens.
    pub(crate) pool: Pool,
    /// The client that gets the tokens.
    pub(crate) client: ServiceClient,
    /// Whether the load has ended.
    pub(crate) is_over: AtomicBool,
}

impl Load {
    /// Returns all endpoints.
    pub(crate) fn endpoints(&self) -> impl Iterator<Item = &Arc<Endpoint>> {
        self.tokens_of.iter().chain(&self.key_sets_of).chain(&self.apis)
    }

    /// Returns whether an API refused a valid token.
    pub(crate) fn has_refused_token(&self) -> bool {
        let mut apis = self.apis.iter();
        apis.any(|api| api.counts().failures.contains_key(&Failure::Unauthorized))
    }

    /// Requests a token and the key set from every issuer, and calls every API with the newest token. Fails
    /// with a message that names an endpoint which does not answer with 200 within [`REHEARSAL_TIMEOUT`].
    /// Afterwards all counts are zero.
    pub(crate) async fn rehearse(&self) -> Result<(), String> {
        let began = Instant::now();
        for endpoint in self.endpoints() {
            loop {
                self.call_once(endpoint, None).await;
                let counts = std::mem::take(&mut *endpoint.counts());
                if counts.ok > 0 {
                    break;
                }
                if began.elapsed() > REHEARSAL_TIMEOUT {
                    return Err(format!(
                        "nothing was rotated, because {} did not answer as expected: {}",
                        endpoint.name(),
                        counts.last_failure.unwrap_or_default()
                    ));
                }
                tokio::time::sleep(POLL).await;
            }
        }
        Ok(())
    }

    /// Sends requests until [`Load::end`], and returns when the last response has arrived.
    pub(crate) async fn run(self: Arc<Self>) {
        let mut tasks = JoinSet::new();
        tasks.spawn(Arc::clone(&self).keep_requesting_tokens());
        for key_set in &self.key_sets_of {
            tasks.spawn(Arc::clone(&self).keep_requesting_key_set(Arc::clone(key_set)));
        }
        for api in &self.apis {
            tasks.spawn(Arc::clone(&self).keep_calling(Arc::clone(api)));
        }
        tasks.join_all().await;
    }

    /// Ends the load.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Sends requests to every endpoint, beside the load, until it has shown this key or [`SEEN_TIMEOUT`] has
    /// passed.
    pub(crate) async fn probe(self: &Arc<Self>, kid: &str) {
        let mut probes = JoinSet::new();
        for endpoint in self.endpoints() {
            let (load, endpoint, kid) = (Arc::clone(self), Arc::clone(endpoint), kid.to_owned());
            probes.spawn(async move {
                let began = Instant::now();
                while !endpoint.counts().kids.contains_key(&kid) && began.elapsed() < SEEN_TIMEOUT {
                    load.call_once(&endpoint, Some(&kid)).await;
                    tokio::time::sleep(POLL).await;
                }
            });
        }
        probes.join_all().await;
    }

    /// Sends one request to an endpoint: to an API with the newest token, or with the newest one that this
    /// key signed.
    async fn call_once(&self, endpoint: &Endpoint, kid: Option<&str>) {
        match endpoint.kind() {
            Kind::Token => self.request_token(endpoint).await,
            Kind::KeySet => endpoint.request_key_set().await,
            Kind::Api => {
                let token = match kid {
                    Some(kid) => self.pool.newest_of(kid),
                    None => self.pool.choose(0),
                };
                if let Some(token) = token {
                    endpoint.call(&token).await;
                }
            }
        }
    }

    async fn request_token(&self, issuer: &Endpoint) {
        if let Some(token) = issuer.request_token(&self.client).await {
            self.pool.add(token);
        }
    }

    async fn keep_requesting_tokens(self: Arc<Self>) {
        let mut ticks = tokio::time::interval(TOKEN_INTERVAL);
        for issuer in self.tokens_of.iter().cycle() {
            ticks.tick().await;
            if self.is_over() {
                break;
            }
            self.request_token(issuer).await;
        }
    }

    async fn keep_requesting_key_set(self: Arc<Self>, key_set: Arc<Endpoint>) {
        let mut ticks = tokio::time::interval(KEY_SET_INTERVAL);
        while !self.is_over() {
            key_set.request_key_set().await;
            ticks.tick().await;
        }
    }

    /// Calls an API at its share of the rate. Late calls are made up for.
    async fn keep_calling(self: Arc<Self>, api: Arc<Endpoint>) {
        let apis = u32::try_from(self.apis.len()).unwrap_or(u32::MAX);
        let mut ticks = tokio::time::interval(Duration::from_secs(1) * apis / self.requests_per_second);
        let mut calls = JoinSet::new();
        for number in 0.. {
            ticks.tick().await;
            if self.is_over() {
                break;
            }
            while calls.try_join_next().is_some() {}
            if calls.len() >= MAX_CALLS_IN_FLIGHT {
                calls.join_next().await;
            }
            if let Some(token) = self.pool.choose(number) {
                let api = Arc::clone(&api);
                calls.spawn(async move { api.call(&token).await });
            }
        }
        calls.join_all().await;
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}
