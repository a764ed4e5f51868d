//! The checks of an installation as its clients reach it: with HTTP, through the proxy in front.

mod address;
mod entity_tags;
mod host;
mod limits;
mod policies;

use super::{Arguments, Report};
use foundation::urls::origin_of;
use http_client::{error_chain, read_body};
use hyper_util::client::legacy::connect::HttpInfo;
use policies::is_strict;
use reqwest::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, HeaderName, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::Value;
use std::net::SocketAddr;
use std::time::Duration;
use url::Url;
use web::headers::single;

/// The time limit of a request.
const TIME_LIMIT: Duration = Duration::from_secs(15);
/// The most bytes of a response that are read.
const MAX_BODY: usize = 4 * 1024 * 1024;
/// The path of the issuer's metadata (RFC 8414 §3).
const ISSUER_METADATA: &str = "/.well-known/oauth-authorization-server";
/// The path of the metadata of the API (RFC 9728 §3).
const API_METADATA: &str = "/.well-known/oauth-protected-resource";
/// Whether the value of a header is right.
type IsRight = fn(&str) -> bool;
/// The headers of every page, each with whether its value is right.
static PAGE_HEADERS: [(HeaderName, IsRight); 4] = [
    (CONTENT_SECURITY_POLICY, is_strict),
    (X_FRAME_OPTIONS, |value| value == "DENY"),
    (X_CONTENT_TYPE_OPTIONS, |value| value == "nosniff"),
    // With another policy, browsers may send forms with `Origin: null`, which the issuer refuses.
    (REFERRER_POLICY, |value| value == "same-origin"),
];

/// The installation as its clients reach it.
pub(super) struct FrontDoor<'a> {
    client: Client,
    url: &'a Url,
    /// The URL without the slash at its end.
    base: String,
    report: &'a mut Report,
}

/// A response that was read.
struct Reply {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
    /// The address from which the request came, which identifies the connection.
    connection: Option<SocketAddr>,
}

impl<'a> FrontDoor<'a> {
    /// Adds the findings about the installation at `url`.
    pub(super) async fn examine(report: &'a mut Report, url: &'a Url, arguments: &Arguments) {
        // The connection must be as old as --idle says.
        let client = http_client::builder(url, TIME_LIMIT)
            .pool_idle_timeout(None::<Duration>)
            .build();
        let client = match client {
            Ok(client) => client,
            Err(error) => return report.fail("connection", error_chain(error), "repair TLS on this machine"),
        };
        let base = origin_of(url);
        let mut door = Self {
            client,
            url,
            base,
            report,
        };
        let metadata = async {
            let issuer = door.get(ISSUER_METADATA).await?;
            Ok::<_, String>([issuer, door.get(API_METADATA).await?])
        };
        match metadata.await {
            Ok([issuer, api]) => door.examine_services(&issuer, &api, arguments).await,
            Err(error) => door.report.fail(
                "connection",
                error,
                "check the URL, its name in the DNS, the certificate, and that the proxy runs",
            ),
        }
    }

    async fn examine_services(&mut self, issuer: &Reply, api: &Reply, arguments: &Arguments) {
        let has = |reply: &Reply| reply.status == StatusCode::OK;
        let (services, metadata, page) = match (has(issuer), has(api)) {
            (true, true) => ("the issuer and the API", ISSUER_METADATA, "/signin"),
            (true, false) => ("the issuer", ISSUER_METADATA, "/signin"),
            (false, true) => ("the API", API_METADATA, "/docs"),
            (false, false) => {
                let (issuer, api) = (issuer.status.as_u16(), api.status.as_u16());
                let detail = format!("{ISSUER_METADATA} answers {issuer}, and {API_METADATA} {api}");
                let remedy = "let the proxy send these paths to the programs, and read their logs";
                return self.report.fail("connection", detail, remedy);
            }
        };
        self.report.ok("connection", format!("reached {services}"));
        if has(issuer) {
            self.examine_url("issuer-url", issuer, "issuer", "ISSUER (without it, BASE_URL)");
        }
        if has(api) {
            self.examine_url("resource-url", api, "resource", "BASE_URL of the API");
        }
        let service = if has(issuer) { issuer } else { api };
        policies::examine_https(self.report, self.url, &service.headers);
        self.examine_page(page).await;
        self.examine_host(if has(issuer) { page } else { "/posts" }).await;
        let tagged = [
            has(issuer).then_some("/.well-known/jwks.json"),
            has(api).then_some("/openapi.json"),
        ];
        self.examine_entity_tags(tagged.into_iter().flatten()).await;
        self.examine_long_request(metadata).await;
        if has(issuer) {
            self.examine_long_redirect(arguments).await;
            self.examine_token().await;
        }
        self.examine_idle(metadata, arguments.idle).await;
        let counted = if has(issuer) { page } else { "/posts" };
        self.examine_addresses(counted, arguments.address).await;
    }

    /// Compares the URL that a service gives itself with the one at which its clients reach it.
    fn examine_url(&mut self, check: &'static str, metadata: &Reply, member: &str, setting: &str) {
        let document: Value = serde_json::from_slice(&metadata.body).unwrap_or_default();
        let own = document[member].as_str().unwrap_or_default();
        let base = &self.base;
        if own == base {
            return self.report.ok(check, format!("it calls itself {base}"));
        }
        let detail = format!("clients reach it at {base}, and it calls itself {own:?}");
        let remedy = format!("set {setting} to {base}, or let clients use {own:?}");
        self.report.fail(check, detail, remedy);
    }

    /// Checks the headers that keep pages apart from those of others.
    async fn examine_page(&mut self, path: &str) {
        let headers = match self.get(path).await {
            Ok(reply) if reply.status == StatusCode::OK => reply.headers,
            other => return self.fail_unexpected("page-headers", path, other),
        };
        let wrong = PAGE_HEADERS
            .iter()
            .filter(|(name, is_right)| !single(&headers, name.as_str()).is_some_and(is_right));
        let wrong: Vec<&str> = wrong.map(|(name, _)| name.as_str()).collect();
        match wrong.as_slice() {
            [] => self
                .report
                .ok("page-headers", format!("{path} has its security headers")),
            wrong => self.report.fail(
                "page-headers",
                format!("{path} lacks, repeats or changes {}", wrong.join(", ")),
                "remove these headers from the configuration of the proxy: the programs send them",
            ),
        }
    }

    /// Sends a token request without a client, which is refused.
    async fn examine_token(&mut self) {
        let request = self.request(Method::POST, "/token");
        let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let reply = match self.send(request.body("grant_type=refresh_token")).await {
            Ok(reply) if matches!(reply.status.as_u16(), 400 | 401) => reply,
            other => return self.fail_unexpected("token", "/token", other),
        };
        let caching = single(&reply.headers, CACHE_CONTROL.as_str()).unwrap_or_default();
        match caching.contains("no-store") {
            true => self
                .report
                .ok("token", "/token answers with Cache-Control: no-store"),
            false => self.report.fail(
                "token",
                "/token answers without Cache-Control: no-store",
                "let the proxy pass Cache-Control on, and cache nothing",
            ),
        }
    }

    /// Adds the finding about a response with an unexpected status, or about its absence.
    fn fail_unexpected(&mut self, check: &'static str, path: &str, reply: Result<Reply, String>) {
        let detail = match reply {
            Ok(reply) => format!("{path} answers {}", reply.status.as_u16()),
            Err(error) => error,
        };
        self.report
            .fail(check, detail, "read the logs of the proxy and of the programs");
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, self.url_of(path))
    }

    fn url_of(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    async fn get(&self, path: &str) -> Result<Reply, String> {
        self.send(self.request(Method::GET, path)).await
    }

    /// Sends a request and reads the response, so that its connection can be used again.
    async fn send(&self, request: RequestBuilder) -> Result<Reply, String> {
        let response = request.send().await.map_err(error_chain)?;
        Ok(Reply {
            status: response.status(),
            headers: response.headers().clone(),
            connection: response.extensions().get::<HttpInfo>().map(HttpInfo::local_addr),
            body: read_body(response, MAX_BODY).await?,
        })
    }
}
