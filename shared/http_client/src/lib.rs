//! HTTP requests to other servers: clients with a time limit and no redirects, and response bodies with a
//! size limit. URLs that third parties choose pass the [`Guard`].

mod addresses;
mod guard;
mod guarded_client;
mod guarded_resolver;
mod traced;

pub use guard::{ForeignUrl, Guard};
pub use guarded_client::{Document, FetchError, GuardedClient};
pub use traced::send;

use reqwest::header::{CACHE_CONTROL, HeaderMap};
use reqwest::{Client, ClientBuilder, Response, redirect};
use std::error::Error;
use std::net::IpAddr;
use std::time::Duration;
use url::{Host, Url};

/// Builds a client for requests to `url`. A request, with the response body, fails after `timeout`; redirects
/// are not followed. The client uses the proxy that the environment variables name, unless `url` is a
/// loopback URL. Fails if TLS cannot be set up.
pub fn build(url: &Url, timeout: Duration) -> Result<Client, reqwest::Error> {
    builder(url, timeout).build()
}

/// Returns the builder of [`build`], for a client with further options.
pub fn builder(url: &Url, timeout: Duration) -> ClientBuilder {
    let builder = Client::builder()
        .timeout(timeout)
        .redirect(redirect::Policy::none());
    match is_loopback(url) {
        true => builder.no_proxy(),
        false => builder,
    }
}

/// Returns whether requests to `url` are safe from eavesdropping: https, or http to a loopback address.
pub fn is_confidential(url: &Url) -> bool {
    url.scheme() == "https" || url.scheme() == "http" && is_loopback(url)
}

/// Returns whether the host of `url` is `localhost` or a loopback address.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => IpAddr::from(address).is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::from(address).is_loopback(),
        None => false,
    }
}

/// Reads a response body. Fails if it is longer than `limit` bytes or the connection fails. The error is a
/// message for the log.
pub async fn read_body(mut response: Response, limit: usize) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(error_chain)? {
        body.extend_from_slice(&chunk);
        if body.len() > limit {
            return Err(format!("the response is longer than {limit} bytes"));
        }
    }
    Ok(body)
}

/// Returns the first `max-age` of a response (RFC 9111 §5.2.2.1); `None` if there is none that is a number of
/// seconds.
pub fn max_age(headers: &HeaderMap) -> Option<Duration> {
    cache_directives(headers)
        .find_map(|directive| directive.strip_prefix("max-age=")?.parse().ok())
        .map(Duration::from_secs)
}

/// Returns the directives of `Cache-Control` (RFC 9111 §5.2).
fn cache_directives(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(CACHE_CONTROL).iter();
    values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
}

/// Formats an error with its causes, because only a cause names details such as "connection refused".
#[allow(clippy::needless_pass_by_value, reason = "the signature that map_err needs")]
pub fn error_chain(error: impl Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
