//! The exchange with the test, as `harness.mjs` has it, and the transport for the crate.

use openidconnect::{HttpRequest, HttpResponse};
use reqwest::{Client, Request};
use serde::Deserialize;
use std::time::{Duration, Instant};
use url::Url;

/// The maximum time until a revocation has reached every replica, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The settings that this client needs.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Settings {
    pub(crate) issuer: String,
    pub(crate) redirect_uri: String,
    pub(crate) post_logout_uri: String,
    pub(crate) user: User,
    /// An app with a secret.
    pub(crate) web: Credentials,
    /// A service with a secret.
    pub(crate) service: Credentials,
}

/// The user of the browser.
#[derive(Deserialize)]
pub(crate) struct User {
    pub(crate) id: String,
    pub(crate) email: String,
}

/// The id and the secret of a client.
#[derive(Deserialize)]
pub(crate) struct Credentials {
    pub(crate) id: String,
    pub(crate) secret: String,
}

impl Settings {
    pub(crate) fn read() -> Self {
        serde_json::from_str(&std::env::var("SETTINGS").unwrap()).unwrap()
    }
}

/// Asks the test to open a URL in a browser. Returns the URL at which the browser leaves the issuer.
pub(crate) fn open(url: &Url) -> Url {
    println!("OPEN {url}");
    let mut left = String::new();
    std::io::stdin().read_line(&mut left).unwrap();
    left.trim_end().parse().unwrap()
}

/// Tells the test that all assertions held.
pub(crate) fn done() {
    println!("DONE");
}

/// Waits until a condition holds twice in a row, because consecutive requests go to different replicas.
pub(crate) async fn eventually(failure: &str, condition: impl AsyncFn() -> bool) {
    let began = Instant::now();
    while !(condition().await && condition().await) {
        assert!(began.elapsed() < TIMEOUT, "{failure}");
    }
}

/// Returns the status with which the API answers a request with this access token.
pub(crate) async fn status_of_api(http: &Client, issuer: &str, access_token: &str) -> u16 {
    let call = http.get(format!("{issuer}/protected")).bearer_auth(access_token);
    call.send().await.unwrap().status().as_u16()
}

/// Sends a request of the crate. The issuer has no TLS, so a request to an https URL goes without it.
pub(crate) async fn send(http: Client, request: HttpRequest) -> Result<HttpResponse, reqwest::Error> {
    let mut request = Request::try_from(request)?;
    request.url_mut().set_scheme("http").unwrap();
    let reply = http.execute(request).await?;
    let (status, headers) = (reply.status(), reply.headers().clone());
    let mut response = HttpResponse::new(reply.bytes().await?.into());
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    Ok(response)
}
