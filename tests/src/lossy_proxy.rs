//! A forward proxy that delays refreshes and loses answers to them, as a mobile network does: the issuer has
//! answered, and the browser gets neither the tokens nor the cookie. For every second one of them, the
//! connection stays open.

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, header};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::future::pending;
use std::io::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// The body of a refresh contains this.
const REFRESH: &[u8] = b"grant_type=refresh_token";

/// The proxy. Stops on drop.
#[derive(Debug)]
pub struct LossyProxy {
    pub(crate) port: u16,
    refreshes: Arc<Refreshes>,
    server: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Refreshes {
    /// The time for which a refresh is held before it is forwarded.
    delay: Duration,
    /// One of so many answers is lost.
    one_of: usize,
    /// The number of those that the issuer answered.
    answered: AtomicUsize,
    /// Each request that the issuer has not answered has a clone.
    waiting: Arc<()>,
    /// The largest number of those at the same time.
    most: AtomicUsize,
}

impl LossyProxy {
    /// Listens on a free port. Forwards each refresh after `delay`, and loses each answer whose number is a
    /// multiple of `one_of`.
    pub async fn start(delay: Duration, one_of: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let refreshes = Arc::new(Refreshes {
            delay,
            one_of,
            ..Refreshes::default()
        });
        let seen = Arc::clone(&refreshes);
        let client = Client::builder(TokioExecutor::new())
            .pool_max_idle_per_host(0)
            .build(HttpConnector::new());
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                let (seen, client) = (Arc::clone(&seen), client.clone());
                let service = service_fn(move |request| {
                    let (seen, client) = (Arc::clone(&seen), client.clone());
                    async move { forward(&client, request, &seen).await }
                });
                // A browser itself repeats a request that fails on a connection that it used before.
                let connection = hyper::server::conn::http1::Builder::new()
                    .keep_alive(false)
                    .serve_connection(TokioIo::new(stream), service);
                tokio::spawn(connection);
            }
        });
        Self {
            port,
            refreshes,
            server,
        }
    }

    /// The number of answers that were lost.
    pub fn lost(&self) -> usize {
        self.refreshes.answered.load(Ordering::Relaxed) / self.refreshes.one_of
    }

    /// The largest number of refreshes at the same time.
    pub fn most_at_once(&self) -> usize {
        self.refreshes.most.load(Ordering::Relaxed)
    }
}

impl Drop for LossyProxy {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// Forwards a request and returns its response. If the response is lost, fails without an answer to the
/// browser, or waits until the browser gives up.
async fn forward(
    client: &Client<HttpConnector, Full<Bytes>>,
    request: Request<Incoming>,
    refreshes: &Refreshes,
) -> Result<Response<Full<Bytes>>, Error> {
    let (mut parts, body) = request.into_parts();
    parts.headers.remove("proxy-connection");
    let body = body.collect().await.map_err(Error::other)?.to_bytes();
    let is_refresh = body.windows(REFRESH.len()).any(|part| part == REFRESH);
    let waiting = is_refresh.then(|| Arc::clone(&refreshes.waiting));
    if let Some(waiting) = &waiting {
        let number = Arc::strong_count(waiting) - 1;
        refreshes.most.fetch_max(number, Ordering::Relaxed);
        sleep(refreshes.delay).await;
    }
    let request = Request::from_parts(parts, Full::new(body));
    let response = client.request(request).await.map_err(Error::other)?;
    drop(waiting);
    let (mut parts, body) = response.into_parts();
    for hop_by_hop in [header::TRANSFER_ENCODING, header::CONNECTION] {
        parts.headers.remove(hop_by_hop);
    }
    let body = body.collect().await.map_err(Error::other)?.to_bytes();
    let response = Response::from_parts(parts, Full::new(body));
    if !is_refresh {
        return Ok(response);
    }
    let count = refreshes.answered.fetch_add(1, Ordering::Relaxed) + 1;
    let one_of = refreshes.one_of;
    match (count.is_multiple_of(one_of), (count / one_of).is_multiple_of(2)) {
        (false, _) => Ok(response),
        (true, false) => Err(Error::other("the response was lost")),
        (true, true) => pending().await,
    }
}
