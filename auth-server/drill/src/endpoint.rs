//! One endpoint of one replica, and the counts of its responses.

use crate::client::{SCOPE, ServiceClient};
use crate::latencies::Latencies;
use crate::token::Token;
use foundation::sync::lock;
use http_client::{error_chain, read_body};
use reqwest::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};
use url::Url;

/// The time limit of a request.
const TIMEOUT: Duration = Duration::from_secs(4);
/// The largest response body, in bytes.
const MAX_BODY: usize = 256 * 1024;

/// The request that a drill sends to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A token request of the drill's client, at an issuer.
    Token,
    /// A request for the key set, at an issuer.
    KeySet,
    /// A call with an access token, at an API. `/protected` checks the token and needs no statement, so that
    /// a drill beside real traffic does not load the database.
    Api,
}

/// An endpoint.
#[derive(Debug)]
pub(crate) struct Endpoint {
    kind: Kind,
    url: Url,
    client: Client,
    counts: Mutex<Counts>,
}

/// The responses of an endpoint.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// The number of responses 200 that could be read.
    pub(crate) ok: u64,
    /// The number of other results.
    pub(crate) failures: BTreeMap<Failure, u64>,
    /// The reason of the last failure.
    pub(crate) last_failure: Option<String>,
    /// The latencies of the responses 200.
    pub(crate) latencies: Latencies,
    /// The keys that the endpoint showed, with the time of the first response that did: keys that signed a
    /// token, keys in the key set, or keys whose tokens were accepted.
    pub(crate) kids: BTreeMap<String, Instant>,
}

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Failure {
    /// 401. Every token that the drill sends is valid, so at an API this is a false 401.
    Unauthorized,
    /// 429.
    RateLimited,
    /// 503.
    Unavailable,
    /// Any other status but 200.
    OtherStatus,
    /// No response within the time limit.
    Timeout,
    /// The connection failed.
    Connection,
    /// The body of the response cannot be parsed.
    Malformed,
}

/// The kind of a failure, with the reason.
type Flaw = (Failure, String);

/// The members of a JWK set that the drill reads (RFC 7517 §5).
#[derive(Deserialize)]
struct JwkSet {
    keys: Vec<Jwk>,
}

#[derive(Deserialize)]
struct Jwk {
    kid: String,
}

impl Endpoint {
    /// Returns the endpoint of this kind at the replica with this URL. Fails with a message if TLS cannot be
    /// set up.
    pub(crate) fn new(kind: Kind, replica: &Url) -> Result<Self, String> {
        let mut url = replica.clone();
        url.set_path(match kind {
            Kind::Token => "/token",
            Kind::KeySet => "/.well-known/jwks.json",
            Kind::Api => "/protected",
        });
        let client = http_client::build(&url, TIMEOUT).map_err(error_chain)?;
        Ok(Self {
            kind,
            url,
            client,
            counts: Mutex::default(),
        })
    }

    /// Returns the method and the URL.
    pub(crate) fn name(&self) -> String {
        let method = if self.kind == Kind::Token { "POST" } else { "GET" };
        format!("{method} {}", self.url)
    }

    /// Returns the kind of request.
    pub(crate) const fn kind(&self) -> Kind {
        self.kind
    }

    /// Locks the counts.
    pub(crate) fn counts(&self) -> MutexGuard<'_, Counts> {
        lock(&self.counts)
    }

    /// Requests a token (RFC 6749 §4.4.2). Returns `None`, and counts a failure, unless there is one.
    pub(crate) async fn request_token(&self, client: &ServiceClient) -> Option<Token> {
        let body = form_urlencoded::Serializer::new(String::new())
            .extend_pairs([("grant_type", "client_credentials"), ("scope", SCOPE)])
            .finish();
        let request = self
            .client
            .post(self.url.clone())
            .basic_auth(&client.id, Some(client.secret.expose()))
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(body);
        let sent_at = Instant::now();
        let result = exchange(request).await.and_then(|body| {
            let token = Token::parse(&body, sent_at).map_err(|reason| malformed(&reason))?;
            Ok((vec![token.kid.clone()], token))
        });
        self.count(result, sent_at)
    }

    /// Requests the key set.
    pub(crate) async fn request_key_set(&self) {
        let sent_at = Instant::now();
        let result = exchange(self.client.get(self.url.clone()))
            .await
            .and_then(|body| {
                let set: JwkSet = serde_json::from_slice(&body).map_err(|reason| malformed(&reason))?;
                Ok((set.keys.into_iter().map(|key| key.kid).collect(), ()))
            });
        self.count(result, sent_at);
    }

    /// Calls the API with an access token.
    pub(crate) async fn call(&self, token: &Token) {
        let request = self.client.get(self.url.clone()).bearer_auth(&token.value);
        let sent_at = Instant::now();
        let result = exchange(request).await.map(|_| (vec![token.kid.clone()], ()));
        self.count(result, sent_at);
    }

    /// Counts a result: the keys that a response showed and its content, or a flaw. Returns the content.
    fn count<T>(&self, result: Result<(Vec<String>, T), Flaw>, sent_at: Instant) -> Option<T> {
        let mut counts = self.counts();
        match result {
            Ok((kids, content)) => {
                counts.ok += 1;
                counts.latencies.add(sent_at.elapsed());
                for kid in kids {
                    counts.kids.entry(kid).or_insert_with(Instant::now);
                }
                Some(content)
            }
            Err((failure, reason)) => {
                *counts.failures.entry(failure).or_default() += 1;
                counts.last_failure = Some(reason);
                None
            }
        }
    }
}

impl Counts {
    /// Returns the number of requests that ended.
    pub(crate) fn requests(&self) -> u64 {
        self.ok + self.failures.values().sum::<u64>()
    }
}

/// Sends a request. Returns the body of the response if its status is 200.
async fn exchange(request: RequestBuilder) -> Result<Vec<u8>, Flaw> {
    let response = request.send().await.map_err(|error| {
        let failure = match error.is_timeout() {
            true => Failure::Timeout,
            false => Failure::Connection,
        };
        (failure, error_chain(error))
    })?;
    let failure = match response.status() {
        StatusCode::OK => {
            let body = read_body(response, MAX_BODY).await;
            return body.map_err(|reason| (Failure::Connection, reason));
        }
        StatusCode::UNAUTHORIZED => Failure::Unauthorized,
        StatusCode::TOO_MANY_REQUESTS => Failure::RateLimited,
        StatusCode::SERVICE_UNAVAILABLE => Failure::Unavailable,
        _ => Failure::OtherStatus,
    };
    Err((failure, reason_of(&response)))
}

/// Returns the status of a response, with its challenge if it has one (RFC 6750 §3).
fn reason_of(response: &Response) -> String {
    let challenge = response.headers().get(WWW_AUTHENTICATE);
    match challenge.and_then(|value| value.to_str().ok()) {
        Some(challenge) => format!("{}, {challenge}", response.status()),
        None => response.status().to_string(),
    }
}

fn malformed(reason: &dyn std::fmt::Display) -> Flaw {
    (Failure::Malformed, reason.to_string())
}
