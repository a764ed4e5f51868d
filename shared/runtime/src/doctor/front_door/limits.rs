//! The checks of the proxy's limits: long heads, and connections that rest.

use super::{Arguments, FrontDoor};
use reqwest::StatusCode;
use reqwest::header::LOCATION;
use std::time::Duration;
use web::headers::single;

/// The length of the query that makes the head of a request long. The request line is shorter than 8 KiB.
const LONG_QUERY: usize = 7 * 1024;
/// The length of a state that makes `Location` long, within the limits of the issuer.
const LONG_STATE: usize = 2_000;

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

    /// Lets the issuer refuse an authorization request, so that it redirects with a long state.
    pub(super) async fn examine_long_redirect(&mut self, arguments: &Arguments) {
        let (Some(client), Some(redirect_uri)) = (&arguments.client, &arguments.redirect_uri) else {
            return self.report.skip(
                "long-redirect",
                "add --client and --redirect-uri of an app to test it",
            );
        };
        let state = "x".repeat(LONG_STATE);
        let query = [
            ("response_type", "none"),
            ("client_id", client.as_str()),
            ("redirect_uri", redirect_uri.as_str()),
            ("state", state.as_str()),
        ];
        let mut url = self.url.clone();
        url.set_path("/authorize");
        url.query_pairs_mut().extend_pairs(query);
        let reply = match self.send(self.client.get(url)).await {
            Ok(reply) => reply,
            Err(error) => return self.fail_unexpected("long-redirect", "/authorize", Err(error)),
        };
        let location = single(&reply.headers, LOCATION.as_str()).unwrap_or_default();
        match reply.status.as_u16() {
            303 if location.contains(&state) => {
                self.report.ok("long-redirect", "a Location of 2 KiB arrives");
            }
            400 | 404 => self.report.fail(
                "long-redirect",
                "the issuer refuses the request",
                "name a registered app and one of its redirect URIs, see `clients show`",
            ),
            status => self.report.fail(
                "long-redirect",
                format!("a redirect with a Location of 2 KiB arrives with the status {status}, or changed"),
                "let the proxy accept heads of 4 KiB from the programs (nginx: `proxy_buffer_size 8k`)",
            ),
        }
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
