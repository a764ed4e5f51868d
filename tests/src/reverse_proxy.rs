//! The reverse proxy that puts several processes behind one origin: one of the tests' own, which needs no
//! program, or nginx as installations have it.

use crate::nginx::Nginx;
use http_body_util::{BodyExt as _, Either, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Uri, header};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The environment variable that puts nginx in front of the processes.
const NGINX: &str = "TESTS_NGINX";
/// The path prefixes of the issuer, which the documentation lists. All other paths belong to the API.
pub static ISSUER_PATHS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let page = include_str!("../../docs/operate/from-one-process-to-many.md");
    let mut blocks = page.split("```");
    let paths = blocks.find(|block| block.starts_with("\n/authorize ")).unwrap();
    paths.split_whitespace().collect()
});

/// The ports of an issuer and of an API behind each nginx, by its port.
static BEHIND_NGINX: Mutex<BTreeMap<u16, (u16, u16)>> = Mutex::new(BTreeMap::new());

/// The body of a response: the whole of it, or one that still arrives.
type Body = Either<Full<Bytes>, Incoming>;

/// The proxy, which takes the addresses of callers to the replicas. Stops on drop.
#[derive(Debug)]
pub(crate) enum ReverseProxy {
    /// Connects to a replica from the address of the caller.
    Own(RoundRobin),
    /// Names the address of the caller in `X-Forwarded-For`.
    Nginx { _process: Nginx },
}

impl ReverseProxy {
    /// Listens at a free port, in front of the replicas at these ports, which need not have started. Files of
    /// nginx are in `dir`; `without_nginx` never takes it. Returns the port.
    pub(crate) async fn start(dir: &Path, issuers: &[u16], apis: &[u16], without_nginx: bool) -> (Self, u16) {
        if without_nginx || std::env::var_os(NGINX).is_none() {
            let (proxy, port) = RoundRobin::start(issuers, apis).await;
            return (Self::Own(proxy), port);
        }
        // A test may send more at once from one address than installations let through.
        let (nginx, port) = Nginx::in_front_of(dir, issuers, apis, |config| {
            config.replace("limit_conn addresses 100;", "limit_conn addresses 10000;")
        });
        BEHIND_NGINX.lock().unwrap().insert(port, (issuers[0], apis[0]));
        (Self::Nginx { _process: nginx }, port)
    }

    /// The proxies whose `X-Forwarded-For` the replicas have to believe, as a value of `TRUSTED_PROXIES`.
    pub(crate) fn trusted(&self) -> Option<&'static str> {
        matches!(self, Self::Nginx { .. }).then_some("127.0.0.1")
    }

    /// Gives a replica requests again.
    pub(crate) fn add(&self, port: u16, is_issuer: bool) {
        if let Self::Own(proxy) = self {
            let replicas = match is_issuer {
                true => &proxy.replicas.issuers,
                false => &proxy.replicas.apis,
            };
            replicas.lock().unwrap().push(Arc::new(port));
        }
    }

    /// Gives a replica no more requests, and waits until it has answered those that it got. nginx needs no
    /// word: it takes the other replica when one refuses its connection.
    pub(crate) async fn remove(&self, port: u16) {
        if let Self::Own(proxy) = self {
            proxy.remove(port).await;
        }
    }
}

/// A proxy that gives each request to the next replica of the service that serves its path. As nginx does, it
/// passes no response on before its end, except one with `X-Accel-Buffering: no`.
#[derive(Debug)]
pub(crate) struct RoundRobin {
    replicas: Arc<Replicas>,
    server: JoinHandle<()>,
}

#[derive(Debug)]
struct Replicas {
    /// The ports. Each request holds a reference to its port until it is answered.
    issuers: Mutex<Vec<Arc<u16>>>,
    apis: Mutex<Vec<Arc<u16>>>,
    /// The number of requests so far.
    requests: AtomicUsize,
}

impl RoundRobin {
    async fn start(issuers: &[u16], apis: &[u16]) -> (Self, u16) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = |ports: &[u16]| Mutex::new(ports.iter().copied().map(Arc::new).collect());
        let replicas = Arc::new(Replicas {
            issuers: shared(issuers),
            apis: shared(apis),
            requests: AtomicUsize::new(0),
        });
        let shared = Arc::clone(&replicas);
        let server = tokio::spawn(async move {
            while let Ok((stream, caller)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                let (replicas, client) = (Arc::clone(&shared), client_from(caller.ip()));
                let service = service_fn(move |request| {
                    let (replicas, client) = (Arc::clone(&replicas), client.clone());
                    async move { Ok::<_, Infallible>(forward(&replicas, &client, request).await) }
                });
                let connection = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service);
                tokio::spawn(connection);
            }
        });
        (Self { replicas, server }, port)
    }

    async fn remove(&self, port: u16) {
        let removed: Vec<_> = {
            let services = [&self.replicas.issuers, &self.replicas.apis];
            let removed = services.map(|replicas| {
                let mut replicas = replicas.lock().unwrap();
                let removed = replicas.extract_if(.., |replica| **replica == port);
                removed.collect::<Vec<_>>()
            });
            removed.concat()
        };
        while removed.iter().any(|port| Arc::strong_count(port) > 1) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

impl Drop for RoundRobin {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Replicas {
    /// The port of the next replica for this path.
    fn next_port(&self, path: &str) -> Arc<u16> {
        let replicas = match is_of_issuer(path) {
            true => self.issuers.lock().unwrap(),
            false => self.apis.lock().unwrap(),
        };
        Arc::clone(&replicas[self.requests.fetch_add(1, Ordering::Relaxed) % replicas.len()])
    }
}

/// Whether the issuer serves this path.
pub fn is_of_issuer(path: &str) -> bool {
    let is_below = |prefix: &&str| {
        path.strip_prefix(*prefix)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    ISSUER_PATHS.iter().any(is_below)
}

/// Returns the port of a replica that serves this path, if nginx listens at `port`.
pub(crate) fn replica_behind_nginx(port: u16, path: &str) -> Option<u16> {
    let (issuer, api) = *BEHIND_NGINX.lock().unwrap().get(&port)?;
    Some(if is_of_issuer(path) { issuer } else { api })
}

/// A client whose connections come from this address, so that a replica sees the address of the caller. It
/// opens a connection per request, so that none outlives a killed replica.
fn client_from(address: IpAddr) -> Client<HttpConnector, Full<Bytes>> {
    let mut connector = HttpConnector::new();
    connector.set_local_address(Some(address));
    Client::builder(TokioExecutor::new())
        .pool_max_idle_per_host(0)
        .build(connector)
}

/// Forwards a request to a replica and returns its response, or a 502 if the replica sent none.
async fn forward(
    replicas: &Replicas,
    client: &Client<HttpConnector, Full<Bytes>>,
    request: Request<Incoming>,
) -> Response<Body> {
    let port = replicas.next_port(request.uri().path());
    let (mut parts, body) = request.into_parts();
    let target = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    parts.uri = format!("http://127.0.0.1:{port}{target}").parse::<Uri>().unwrap();
    let sent = async {
        let body = body
            .collect()
            .await
            .map_err(|error| error.to_string())?
            .to_bytes();
        let request = Request::from_parts(parts, Full::new(body));
        let response = client
            .request(request)
            .await
            .map_err(|error| format!("{error:?}"))?;
        let (mut parts, body) = response.into_parts();
        for hop_by_hop in [header::TRANSFER_ENCODING, header::CONNECTION] {
            parts.headers.remove(hop_by_hop);
        }
        if parts
            .headers
            .get("x-accel-buffering")
            .is_some_and(|value| value == "no")
        {
            return Ok(Response::from_parts(parts, Either::Right(body)));
        }
        let body = body
            .collect()
            .await
            .map_err(|error| error.to_string())?
            .to_bytes();
        Ok::<_, String>(Response::from_parts(parts, Either::Left(Full::new(body))))
    };
    sent.await.unwrap_or_else(|error| {
        let reason = Full::from(format!("no replica answered: {error}"));
        let mut response = Response::new(Either::Left(reason));
        *response.status_mut() = StatusCode::BAD_GATEWAY;
        response
    })
}
