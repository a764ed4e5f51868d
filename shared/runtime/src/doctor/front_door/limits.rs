//! The checks of the proxy's limits: long heads, and connections that rest.

use super::{Arguments, FrontDoor};
use reqwest::header::{CONTENT_TYPE, LOCATION};
use reqwest::{Method, RequestBuilder, StatusCode};
use std::time::Duration;
use web::headers::single;

/// The length of the query that makes the head of a request long. The request line is shorter than 8 KiB.
const LONG_QUERY: usize = 7 * 1024;
/// The length of a state that the issuer seals into the longest `Location` that needs no app.
const SEALED_STATE: usize = 1_430;
/// The length of this `Location`, at least.
const SEALED_LOCATION: usize = 2_000;
/// The length of a `Location` that leads to an app, at least. The issuer allows 2,800 bytes without an error.
const APP_LOCATION: usize = 2_700;

impl FrontDoor<'_> {
    /// Sends a request whose head is longer than the default of some proxies.
    pub(super) async fn examine_long_request(&mut self, path: &str) {
        let long = format!("{path}?padding={}", "x".repeat(LONG_QUERY));
        match self.get(&long).await {
            Ok(reply) if reply.status == StatusCode::OK => {
                self.report.ok("long-request", "a URL of 7 KiB arrives");
            }
            Ok(reply) => self.report.fail(
                "long-request",
                format!("a URL of 7 KiB gets the status {}", reply.status.as_u16()),
                "let the proxy accept heads of 16 KiB (nginx: `large_client_header_buffers 4 16k`)",
            ),
            Err(error) => self.fail_unexpected("long-request", path, Err(error)),
        }
    }

    /// Lets the issuer redirect with a long `Location`: to an app, if the operator has named one, or else to
    /// the page for signing out, which gets a posted request in its address.
    pub(super) async fn examine_long_redirect(&mut self, arguments: &Arguments) {
        let app = arguments.client.as_ref().zip(arguments.redirect_uri.as_ref());
        let (request, least) = match app {
            Some((client, redirect_uri)) => (self.refused_request(client, redirect_uri), APP_LOCATION),
            None => (self.posted_request(), SEALED_LOCATION),
        };
        let reply = match self.send(request).await {
            Ok(reply) => reply,
            Err(error) => return self.fail_unexpected("long-redirect", "/signout", Err(error)),
        };
        let length = single(&reply.headers, LOCATION.as_str()).map_or(0, str::len);
        match reply.status.as_u16() {
            303 if length >= least => {
                self.report
                    .ok("long-redirect", format!("a Location of {length} bytes arrives"));
            }
            400 | 404 if app.is_some() => self.report.fail(
                "long-redirect",
                "the issuer refuses the request",
                "name a registered app and one of its redirect URIs, see `clients show`",
            ),
            status => self.report.fail(
                "long-redirect",
                format!(
                    "a redirect with a Location of {least} bytes arrives with the status {status}, or shorter"
                ),
                "let the proxy accept heads of 4 KiB from the programs (nginx: `proxy_buffer_size 8k`)",
            ),
        }
    }

    /// Returns an authorization request that the issuer refuses, with a long state.
    fn refused_request(&self, client: &str, redirect_uri: &str) -> RequestBuilder {
        let others = redirect_uri.len() + self.base.len();
        let state = "x".repeat(APP_LOCATION.saturating_sub(others));
        let query = [
            ("response_type", "none"),
            ("client_id", client),
            ("redirect_uri", redirect_uri),
            ("state", state.as_str()),
        ];
        let mut url = self.url.clone();
        url.set_path("/authorize");
        url.query_pairs_mut().extend_pairs(query);
        self.client.get(url)
    }

    /// Returns a request that signs nobody out, as a form of an app posts it.
    fn posted_request(&self) -> RequestBuilder {
        let request = self.request(Method::POST, "/signout");
        let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        request.body(format!("state={}", "x".repeat(SEALED_STATE)))
    }

    /// Waits between two requests, and compares the connections on which they were sent.
    pub(super) async fn examine_idle(&mut self, path: &str, idle: Duration) {
        if idle.is_zero() {
            return self.report.skip("kept-connection", "--idle is 0s");
        }
        let seconds = idle.as_secs();
        let connections = async {
            let before = self.get(path).await?.connection;
            tokio::time::sleep(idle).await;
            Ok::<_, String>((before, self.get(path).await?.connection))
        };
        match connections.await {
            Ok((Some(before), Some(after))) if before == after => {
                self.report.ok(
                    "kept-connection",
                    format!("it survives {seconds} s without a request"),
                );
            }
            Ok((Some(_), Some(_))) => self.report.warn(
                "kept-connection",
                format!("it is closed within {seconds} s without a request"),
                "raise the idle time of the proxy (nginx: `keepalive_timeout`), and then KEEP_ALIVE above it",
            ),
            Ok(_) => self
                .report
                .skip("kept-connection", "the two connections cannot be told apart"),
            Err(error) => self.fail_unexpected("kept-connection", path, Err(error)),
        }
    }
}
