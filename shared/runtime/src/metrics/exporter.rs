//! The listener that serves the metrics, apart from the API.

use super::Metrics;
use crate::server::{self, ConnectionLimits};
use crate::threads::Threads;
use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::FutureExt as _;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use tower::ServiceExt as _;
use web::client_address::TrustedProxies;
use web::health::Health;

/// The largest number of connections to the metrics listener, which scrapers keep open.
const CONNECTIONS: usize = 64;
/// The time for which one may be idle.
const IDLE: Duration = Duration::from_secs(75);
/// The memory of requests and of responses, in bytes.
const MEMORY: u64 = 16 * 1024 * 1024;

/// A bound metrics listener that does not accept connections yet.
#[derive(Debug)]
pub struct Exporter {
    listener: TcpListener,
    metrics: Metrics,
}

impl Exporter {
    /// Binds the listener. Fails if the address is in use or not available.
    pub async fn bind(address: SocketAddr, metrics: Metrics) -> io::Result<Self> {
        Ok(Self {
            listener: server::bind(address).await?,
            metrics,
        })
    }

    /// Logs the URL of the metrics and serves them until SIGINT or SIGTERM.
    #[allow(clippy::disallowed_methods, reason = "this listener has no OpenAPI document")]
    pub async fn serve(self) -> io::Result<()> {
        let stop = server::stop_signal()?;
        tracing::info!("metrics on http://{}/metrics", self.listener.local_addr()?);
        let router = Router::new()
            .route("/metrics", get(get_metrics))
            .with_state(self.metrics);
        let handle = move |request| router.clone().oneshot(request).map(|Ok(response)| response);
        let threads = Threads::current();
        let limits = ConnectionLimits {
            connections: CONNECTIONS,
            idle: IDLE,
            request_memory: MEMORY,
            response_memory: MEMORY,
            proxies: TrustedProxies::new(Vec::new(), false),
        };
        server::run(self.listener, handle, &threads, limits, Health::default(), stop).await;
        Ok(())
    }
}

/// `GET /metrics`.
async fn get_metrics(State(metrics): State<Metrics>) -> Response {
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    match metrics.render() {
        Ok(text) => ([(header::CONTENT_TYPE, content_type)], text).into_response(),
        Err(error) => error.to_string().into_response(),
    }
}
