//! Our own accept loop: `axum::serve` has no timer, so its header time-out never fires, and no limit of
//! connections.

use axum::Router;
use axum::body::Body;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt as _;
use web::client_address::Peer;
use web::health::Health;

/// A connection that has not sent a whole request head by then is closed, an idle one too.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// A peer that takes nothing of its answer for so long is gone.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// The largest request head.
const MAX_HEAD: usize = 64 * 1024;
const MAX_HEADERS: usize = 100;
/// Requests under way when the process is told to end have this long.
const DRAIN: Duration = Duration::from_secs(20);

/// Binds a listener; the error names the address.
pub async fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    TcpListener::bind(address)
        .await
        .map_err(|error| io::Error::new(error.kind(), format!("cannot listen on {address}: {error}")))
}

/// Serves until SIGINT or SIGTERM, then lets the requests under way finish.
pub async fn run(
    listener: TcpListener,
    router: Router,
    max_connections: usize,
    health: Health,
) -> io::Result<()> {
    let permits = Arc::new(Semaphore::new(max_connections));
    let graceful = GracefulShutdown::new();
    let mut ended = std::pin::pin!(told_to_end()?);
    loop {
        let next = async {
            // Beyond the limit connections wait in the kernel's queue.
            let permit = Arc::clone(&permits).acquire_owned().await;
            (permit, accept(&listener).await)
        };
        let (permit, (stream, peer)) = tokio::select! {
            next = next => next,
            () = &mut ended => break,
        };
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(WRITE_TIMEOUT));
        let router = router.clone();
        let service = hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(Peer(peer.ip()));
            router.clone().oneshot(request)
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIMEOUT)
            .max_headers(MAX_HEADERS)
            .max_buf_size(MAX_HEAD)
            .serve_connection(TokioIo::new(Box::pin(stream)), service);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            let _permit = permit;
            // What fails here is the peer's connection: nothing of ours to report.
            let _ = connection.await;
        });
    }
    health.drain();
    drop(listener);
    tracing::info!("draining");
    if tokio::time::timeout(DRAIN, graceful.shutdown()).await.is_err() {
        tracing::warn!("gave up on requests that took longer than {} s", DRAIN.as_secs());
    }
    Ok(())
}

/// Accepts the next connection; where the process is out of descriptors it waits for some to close.
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                // Small answers must not wait for the peer's delayed acknowledgement.
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

fn told_to_end() -> io::Result<impl Future<Output = ()>> {
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
