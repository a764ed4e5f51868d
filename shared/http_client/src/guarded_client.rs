//! Requests to URLs that a [`Guard`] accepted.

use crate::guarded_resolver::GuardedResolver;
use crate::{ForeignUrl, Guard, cache_directives, error_chain, max_age, read_body, traced};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use reqwest::{Client, RequestBuilder, Response, StatusCode, redirect};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// The time limit of a fetch, from the resolution of the name to the end of the body.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The media types of JSON documents (RFC 8259 §11, RFC 7517 §8.5.2).
const JSON: [&str; 2] = ["application/json", "application/jwk-set+json"];
/// The media types of images.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Calls URLs of third parties.
#[derive(Clone, Debug)]
pub struct GuardedClient {
    guard: Guard,
    client: Client,
}

/// A fetched document.
#[derive(Debug)]
pub struct Document {
    /// The body, which is not parsed.
    pub body: Vec<u8>,
    /// The `max-age` of the response, if it has one; zero if the response says that it may not be used again
    /// without asking.
    pub max_age: Option<Duration>,
}

/// The reason why a document was not fetched.
#[derive(Debug)]
pub struct FetchError {
    /// The reason in words that the third party may read. They name no address.
    pub reason: String,
    /// The cause, for the log.
    pub detail: String,
}

impl GuardedClient {
    /// Creates a client for the URLs that this guard accepts. Fails if TLS cannot be set up.
    pub fn new(guard: Guard) -> Result<Self, reqwest::Error> {
        Self::with_lookup(guard, |name: String| async move {
            // The port of the URL replaces this one.
            Ok(tokio::net::lookup_host((name, 0)).await?.collect())
        })
    }

    fn with_lookup<L, F>(guard: Guard, lookup: L) -> Result<Self, reqwest::Error>
    where
        L: Fn(String) -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'static,
    {
        let resolver = GuardedResolver {
            guard,
            lookup: Arc::new(lookup),
        };
        let client = Client::builder()
            .dns_resolver(resolver)
            .https_only(!guard.allows_plain_http())
            .redirect(redirect::Policy::none())
            // A proxy would resolve the name itself.
            .no_proxy()
            // A kept connection would skip the check of the addresses.
            .pool_max_idle_per_host(0)
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate()
            .build()?;
        Ok(Self { guard, client })
    }

    /// Returns the guard of this client.
    pub const fn guard(&self) -> Guard {
        self.guard
    }

    /// Fetches a JSON document of at most `limit` bytes, in at most five seconds. Accepts only a direct
    /// response with the status 200 and a media type for JSON.
    pub async fn get_json(&self, url: &ForeignUrl, limit: usize) -> Result<Document, FetchError> {
        within_time_limit(self.fetch(url, limit, &JSON)).await
    }

    /// Fetches an image of at most `limit` bytes, in at most five seconds. Accepts only a direct response
    /// with the status 200 and the media type of a PNG, JPEG, GIF or WebP image. Its content is not checked.
    pub async fn get_image(&self, url: &ForeignUrl, limit: usize) -> Result<Vec<u8>, FetchError> {
        let image = within_time_limit(self.fetch(url, limit, &IMAGES)).await?;
        Ok(image.body)
    }

    /// Posts a form, in at most five seconds. Returns the status of the direct response, whose body is not
    /// read. Fails if there is no response.
    pub async fn post_form(&self, url: &ForeignUrl, form: String) -> Result<StatusCode, FetchError> {
        let request = self.client.post(url.url().clone());
        let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let request = request.body(form);
        within_time_limit(send(request))
            .await
            .map(|response| response.status())
    }

    async fn fetch(
        &self,
        url: &ForeignUrl,
        limit: usize,
        media_types: &[&str],
    ) -> Result<Document, FetchError> {
        let request = self.client.get(url.url().clone());
        let response = send(request.header(ACCEPT, media_types.join(", "))).await?;
        if response.status() != StatusCode::OK {
            let reason = "its server answered with another status than 200";
            return Err(FetchError::new(reason, response.status().to_string()));
        }
        let headers = response.headers();
        if !has_media_type(headers, media_types) {
            return Err(FetchError::new(
                format!(
                    "the response has another media type than {}",
                    media_types.join(" and ")
                ),
                format!("Content-Type: {:?}", headers.get(CONTENT_TYPE)),
            ));
        }
        let forbids_reuse = |directive: &str| matches!(directive, "no-store" | "no-cache");
        let max_age = match cache_directives(headers).any(forbids_reuse) {
            true => Some(Duration::ZERO),
            false => max_age(headers),
        };
        let body = read_body(response, limit).await.map_err(|detail| {
            let reason = format!("the response is longer than {limit} bytes, or incomplete");
            FetchError::new(reason, detail)
        })?;
        Ok(Document { body, max_age })
    }
}

impl FetchError {
    /// Creates an error from the reason for the third party and the detail for the log.
    fn new(reason: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            detail: detail.into(),
        }
    }
}

/// Fails if a call takes longer than [`TIMEOUT`].
async fn within_time_limit<T>(call: impl Future<Output = Result<T, FetchError>>) -> Result<T, FetchError> {
    tokio::time::timeout(TIMEOUT, call).await.unwrap_or_else(|_| {
        let reason = format!("its server did not answer within {} s", TIMEOUT.as_secs());
        Err(FetchError::new(reason, "timed out"))
    })
}

async fn send(request: RequestBuilder) -> Result<Response, FetchError> {
    traced::send_to_third_party(request).await.map_err(|error| {
        let reason = match error.is_dns() {
            true => "its host has no address, or one that is not public",
            false => "its server cannot be reached",
        };
        // The query of the URL may contain a secret of the third party.
        FetchError::new(reason, error_chain(error.without_url()))
    })
}

/// Returns whether the media type of a response, without its parameters, is one of these.
fn has_media_type(headers: &HeaderMap, accepted: &[&str]) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = value.unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default().trim();
    accepted
        .iter()
        .any(|accepted| media_type.eq_ignore_ascii_case(accepted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::sync::Mutex;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    /// Creates a client whose resolver returns these answers, one for each call. Returns the client and the
    /// answers that are left.
    fn client(server: &str, answers: &[&[SocketAddr]]) -> (GuardedClient, Arc<Mutex<Vec<Vec<SocketAddr>>>>) {
        let left: Vec<Vec<SocketAddr>> = answers.iter().rev().map(|answer| answer.to_vec()).collect();
        let left = Arc::new(Mutex::new(left));
        let answers = Arc::clone(&left);
        let lookup = move |_| std::future::ready(Ok(answers.lock().unwrap().pop().unwrap()));
        (
            GuardedClient::with_lookup(Guard::of_server(server), lookup).unwrap(),
            left,
        )
    }

    /// Listens at this address without accepting connections.
    fn sentinel(address: &str) -> TcpListener {
        let listener = TcpListener::bind(address).unwrap();
        listener.set_nonblocking(true).unwrap();
        listener
    }

    #[track_caller]
    fn assert_untouched(sentinel: &TcpListener) {
        let accepted = sentinel.accept();
        assert!(
            accepted
                .as_ref()
                .is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock),
            "{accepted:?}"
        );
    }

    #[tokio::test]
    async fn a_name_is_resolved_once_and_called_at_the_address_that_was_checked() {
        let server = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let checked = server.local_addr().unwrap();
        let rebound = SocketAddr::from(([127, 0, 0, 2], checked.port()));
        let sentinel = sentinel(&rebound.to_string());
        let private = SocketAddr::from(([10, 0, 0, 1], checked.port()));
        let answers: [&[SocketAddr]; 3] = [&[checked], &[rebound, private], &[rebound]];
        let (client, left) = client("http://localhost", &answers);
        let url = format!("http://localhost:{}/jwks", checked.port());
        let url = client.guard().parse(&url).unwrap();
        let serve = async {
            let (mut stream, _) = server.accept().await.unwrap();
            let _ = stream.read(&mut [0; 1024]).await.unwrap();
            let response = "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}";
            stream.write_all(response.as_bytes()).await.unwrap();
        };
        let (fetched, ()) = tokio::join!(client.get_json(&url, 2), serve);
        assert_eq!(fetched.unwrap().body, b"{}");
        assert_eq!(left.lock().unwrap().len(), 2);
        // The next fetch resolves again: one of the addresses is refused, so none is called.
        let refused = client.get_json(&url, 2).await.unwrap_err();
        assert!(refused.reason.contains("not public"), "{refused:?}");
        assert_eq!(left.lock().unwrap().len(), 1);
        assert_untouched(&sentinel);
    }

    #[tokio::test]
    async fn no_connection_reaches_a_refused_address() {
        let sentinel = sentinel("127.0.0.1:0");
        let address = sentinel.local_addr().unwrap();
        let public = SocketAddr::from(([8, 8, 8, 8], address.port()));
        let (client, left) = client("https://id.example.org", &[&[address], &[public, address], &[]]);
        let url = format!("https://app.example:{}/jwks", address.port());
        let url = client.guard().parse(&url).unwrap();
        for _ in 0..3 {
            let refused = client.get_json(&url, 1_000).await.unwrap_err();
            assert!(refused.reason.contains("not public"), "{refused:?}");
            assert!(!refused.reason.contains("127.0.0.1"), "{refused:?}");
        }
        assert!(left.lock().unwrap().is_empty());
        assert_untouched(&sentinel);
    }
}
