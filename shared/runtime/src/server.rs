//! The accept loop. It replaces `axum::serve`, which has no header timeout and no limit of connections.

use crate::head_timer::{HeadTimer, Requests};
use crate::paced_stream::PacedStream;
use crate::threads::Threads;
use axum::body::Body;
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::response::Response;
use futures_util::FutureExt as _;
use futures_util::future::{AbortHandle, Abortable};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use std::convert::Infallible;
use std::ffi::OsStr;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net as unix;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;
use web::client_address::TrustedProxies;
use web::connection::{Budgets, Connection};
use web::health::Health;

/// The time limit for a client to accept any bytes of its response.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// The largest size of a request head, in bytes.
const MAX_HEAD_SIZE: usize = 64 * 1024;
/// The largest number of header fields in a request.
const MAX_HEADERS: usize = 100;
/// The time that requests in progress have to finish after a signal to stop.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(20);
/// The time for which connections of proxies stay open after a signal to stop. Responses in this time have
/// `Connection: close`. If the connections were closed at once, requests under way would be lost, and proxies
/// do not repeat a POST.
const PROXY_GRACE: Duration = Duration::from_secs(1);

/// Binds a listener. The error message names `address`.
pub async fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    TcpListener::bind(address)
        .await
        .map_err(|error| io::Error::new(error.kind(), format!("cannot listen on {address}: {error}")))
}

/// Returns the listener that systemd passes as standard input (`StandardInput=socket`), or else binds one.
/// Fails if the former has another address: whether an installation is one of production depends on
/// `address`.
pub async fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let stdin = io::stdin();
    // This fails for all that is no socket.
    if !rustix::net::sockopt::socket_acceptconn(&stdin).unwrap_or(false) {
        return bind(address).await;
    }
    let passed = std::net::TcpListener::from(stdin.as_fd().try_clone_to_owned()?);
    let bound = passed.local_addr()?;
    if bound != address {
        let reason =
            format!("LISTEN is {address}, and the socket of systemd has {bound}: set both to one address");
        return Err(io::Error::other(reason));
    }
    passed.set_nonblocking(true)?;
    TcpListener::from_std(passed)
}

/// Tells systemd that the server is ready (`Type=notify`). Does nothing if another program has started it.
pub fn tell_ready() {
    // This is no setting: systemd passes the path of its socket.
    let Some(socket) = std::env::var_os("NOTIFY_SOCKET") else {
        return;
    };
    let address = match socket.as_bytes() {
        [b'@', name @ ..] => unix::SocketAddr::from_abstract_name(name),
        path => unix::SocketAddr::from_pathname(OsStr::from_bytes(path)),
    };
    let send = |address| unix::UnixDatagram::unbound()?.send_to_addr(b"READY=1", &address);
    if let Err(error) = address.and_then(send) {
        tracing::warn!(%error, "cannot tell systemd that the server is ready");
    }
}

/// The limits on connections and on what their clients may hold.
#[derive(Clone, Debug)]
pub struct ConnectionLimits {
    /// The largest number of open connections.
    pub connections: usize,
    /// The time for which a connection may be idle after a request.
    pub idle: Duration,
    /// The memory of request bodies that are arriving, in bytes.
    pub request_memory: u64,
    /// The memory of responses that clients have not accepted yet, in bytes.
    pub response_memory: u64,
    /// The proxies whose connections are those of many clients.
    pub proxies: TrustedProxies,
}

/// Serves requests with `handle` on `threads` until `stop` resolves, within `limits`. Then reports
/// the drain to `health` and waits up to 20 s for the requests in progress. Connections of proxies stay
/// open for a second.
pub async fn run<F>(
    listener: TcpListener,
    handle: impl Fn(Request) -> F + Clone + Send + 'static,
    threads: &Threads,
    limits: ConnectionLimits,
    health: Health,
    stop: impl Future<Output = ()>,
) where
    F: Future<Output = Response> + Send,
{
    // One more than counted, because the connection for which another one makes room is there first.
    let permits = Arc::new(Semaphore::new(limits.connections + 1));
    let (requests, responses) = (limits.request_memory, limits.response_memory);
    let budgets = Arc::new(Budgets::new(limits.connections as u64, requests, responses));
    let (client_connections, proxy_connections) = (GracefulShutdown::new(), GracefulShutdown::new());
    let stopping = Arc::<AtomicBool>::default();
    let mut stop = std::pin::pin!(stop);
    for runtime in threads.in_turn() {
        let next = async {
            // Connections wait in the queue of the kernel until one of the others is closed, if these are
            // those of proxies.
            let permit = Arc::clone(&permits).acquire_owned().await;
            (permit, accept(&listener).await)
        };
        let (permit, (stream, peer)) = tokio::select! {
            next = next => next,
            () = &mut stop => break,
        };
        let (handle, stopping) = (handle.clone(), Arc::clone(&stopping));
        let watcher = match limits.proxies.trusts(peer.ip()) {
            true => proxy_connections.watcher(),
            false => client_connections.watcher(),
        };
        let (abort, registration) = AbortHandle::new_pair();
        let connection = Arc::new(Connection::new(peer.ip(), abort, Arc::clone(&budgets)));
        let held = (permit, connection.count(&limits.proxies));
        let idle = limits.idle;
        runtime.spawn(async move {
            let _held = held;
            // An error here concerns only the connection of this client.
            if let Ok(served) = serve_connection(stream, connection, idle, stopping, handle) {
                let _ = Abortable::new(watcher.watch(served), registration).await;
            }
        });
    }
    health.drain();
    stopping.store(true, Ordering::Relaxed);
    drop(listener);
    tracing::info!("stopping: waiting for the requests in progress");
    let drained = futures_util::future::join(client_connections.shutdown(), async {
        if proxy_connections.count() > 0 {
            tokio::time::sleep(PROXY_GRACE).await;
        }
        proxy_connections.shutdown().await;
    });
    if tokio::time::timeout(DRAIN_TIMEOUT, drained).await.is_err() {
        let seconds = DRAIN_TIMEOUT.as_secs();
        tracing::warn!("aborting the requests that did not finish within {seconds} s");
    }
}

/// Returns a future that serves a connection on the current runtime, and closes it when it was idle for the
/// time `idle`, or after the next response once `stopping` is set. Fails if the connection cannot be registered
/// with the runtime.
fn serve_connection<F>(
    stream: std::net::TcpStream,
    connection: Arc<Connection>,
    idle: Duration,
    stopping: Arc<AtomicBool>,
    handle: impl Fn(Request) -> F + Send + 'static,
) -> io::Result<impl GracefulConnection<Error = hyper::Error>>
where
    F: Future<Output = Response> + Send,
{
    let mut stream = TimeoutStream::new(TcpStream::from_std(stream)?);
    stream.set_write_timeout(Some(WRITE_TIMEOUT));
    let requests = Requests::default();
    let heads = HeadTimer::start(requests.clone());
    let pace = Arc::clone(&connection.pace);
    let service = hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let mut request = request.map(Body::new);
        connection.pace.restart();
        request.extensions_mut().insert(Arc::clone(&connection));
        requests.begin();
        let (requests, stopping) = (requests.clone(), Arc::clone(&stopping));
        handle(request).map(move |mut response| {
            requests.end();
            if stopping.load(Ordering::Relaxed) {
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert(CONNECTION, close);
            }
            Ok::<_, Infallible>(response)
        })
    });
    Ok(http1::Builder::new()
        .timer(TokioTimer::new())
        // Its clock also runs while the connection is idle. `HeadTimer` has the shorter time limit of a head.
        .header_read_timeout(idle)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEAD_SIZE)
        .serve_connection(
            TokioIo::new(PacedStream::new(Box::pin(stream), heads, pace)),
            service,
        ))
}

/// Accepts the next connection, which belongs to no runtime yet. Retries after an error, because errors such
/// as too many open files go away when other connections are closed.
async fn accept(listener: &TcpListener) -> (std::net::TcpStream, SocketAddr) {
    loop {
        let accepted = listener.accept().await;
        match accepted.and_then(|(stream, peer)| Ok((stream.into_std()?, peer))) {
            Ok((stream, peer)) => {
                // Nagle's algorithm would hold back small responses until the client's delayed
                // acknowledgment.
                let _ = stream.set_nodelay(true);
                return (stream, peer);
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

/// Returns a future that resolves at SIGINT or SIGTERM. From this call on, these signals do not end the
/// process by themselves. Fails if they cannot be received.
pub fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
