//! Calls to other servers: bounded in time and size, and never led elsewhere.

use reqwest::{Client, Response, redirect};
use std::net::IpAddr;
use std::time::Duration;
use url::{Host, Url};

/// A client for one URL: no redirects, whole calls within `timeout`. Proxies of the environment are for what is
/// far, so none is used for this very machine.
pub fn build(url: &Url, timeout: Duration) -> Result<Client, reqwest::Error> {
    let builder = Client::builder()
        .timeout(timeout)
        .redirect(redirect::Policy::none());
    match is_loopback(url) {
        true => builder.no_proxy().build(),
        false => builder.build(),
    }
}

/// Whether nobody on the way can read what is sent there: https, or this very machine.
pub fn is_confidential(url: &Url) -> bool {
    url.scheme() == "https" || url.scheme() == "http" && is_loopback(url)
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => IpAddr::from(address).is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::from(address).is_loopback(),
        None => false,
    }
}

/// The body of an answer, if it has `limit` bytes at most.
pub async fn read_body(mut response: Response, limit: usize) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(error_chain)? {
        body.extend_from_slice(&chunk);
        if body.len() > limit {
            return Err(format!("answered more than {limit} bytes"));
        }
    }
    Ok(body)
}

/// An error with its causes: the outermost alone does not say "connection refused".
#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
pub fn error_chain(error: reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}
