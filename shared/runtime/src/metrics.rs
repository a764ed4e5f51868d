//! Metrics for Prometheus (OpenMetrics text), on a listener of their own.
//!
//! What is counted is what is logged: requests, security events and alerts are lines of three targets, and a layer
//! of the log counts each before any filter of lines. So counts and lines are one to one, and whoever writes a line
//! need not know of metrics.

use crate::server;
use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use clap::Args;
use foundation::clock;
use foundation::log::{ACCESS, ALERT, SECURITY, field};
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use std::fmt::Debug;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;
use tokio::net::TcpListener;
use tracing::Subscriber;
use tracing::field::{Field, Visit};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use web::health::Health;

/// Metrics.
#[derive(Args, Clone, Debug)]
pub struct MetricsArgs {
    /// The address to serve metrics on; they are served nowhere else [default: metrics are off].
    #[arg(
        long,
        env = "LATCHKEY_METRICS_LISTEN",
        global = true,
        value_name = "ADDR:PORT"
    )]
    pub metrics_listen: Option<SocketAddr>,
}

/// Upper bounds of the histogram of latencies, in seconds.
const SECONDS: [f64; 11] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];
/// Connections to the listener at once.
const CONNECTIONS: usize = 64;

/// The counts of this process. Cheap to clone; the clones share them.
#[derive(Clone, Debug)]
pub struct Metrics {
    requests: Family<Request, Counter>,
    latencies: Family<Route, Histogram, fn() -> Histogram>,
    events: Family<Event, Counter>,
    alerts: Family<Alert, Counter>,
    uptime: Gauge<f64, AtomicU64>,
    began: Instant,
    registry: Arc<Registry>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Request {
    method: &'static str,
    route: String,
    status: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    method: &'static str,
    route: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Event {
    name: String,
    outcome: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Alert {
    kind: String,
}

impl Metrics {
    /// Everything at zero.
    pub fn new() -> Self {
        let latencies: fn() -> Histogram = || Histogram::new(SECONDS);
        let mut metrics = Self {
            requests: Family::default(),
            latencies: Family::new_with_constructor(latencies),
            events: Family::default(),
            alerts: Family::default(),
            uptime: Gauge::default(),
            began: Instant::now(),
            registry: Arc::default(),
        };
        metrics.registry = Arc::new(metrics.register());
        metrics
    }

    fn register(&self) -> Registry {
        let started = Gauge::<i64>::default();
        started.set(clock::now().seconds());
        let mut all = Registry::default();
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        all.register("latchkey_build", "Which build this is", build);
        all.register(
            "process_start_time_seconds",
            "When the process began, in Unix time",
            started,
        );
        all.register(
            "process_uptime_seconds",
            "How long the process runs",
            self.uptime.clone(),
        );
        all.register("http_requests", "Requests answered", self.requests.clone());
        let about = "From a request's arrival to the head of its answer";
        all.register("http_request_duration_seconds", about, self.latencies.clone());
        all.register("latchkey_security_events", "Security events", self.events.clone());
        all.register(
            "latchkey_alerts",
            "Alerts on abnormal activity",
            self.alerts.clone(),
        );
        all
    }

    /// As text.
    fn render(&self) -> Result<String, std::fmt::Error> {
        self.uptime.set(self.began.elapsed().as_secs_f64());
        let mut written = String::new();
        text::encode(&mut written, &self.registry)?;
        Ok(written)
    }

    fn count_request(&self, line: Line) {
        let (method, route) = (known(&line.method), line.route);
        let latency = Route {
            method,
            route: route.clone(),
        };
        #[allow(
            clippy::cast_precision_loss,
            reason = "no request takes 2^53 duration_useconds"
        )]
        let seconds = line.duration_us as f64 / 1e6;
        self.latencies.get_or_create(&latency).observe(seconds);
        let request = Request {
            method,
            route,
            status: line.status,
        };
        self.requests.get_or_create(&request).inc();
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Subscriber> Layer<S> for Metrics {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let target = event.metadata().target();
        if ![ACCESS, SECURITY, ALERT].contains(&target) {
            return;
        }
        let mut line = Line::default();
        event.record(&mut line);
        match target {
            ACCESS => self.count_request(line),
            SECURITY => {
                let (name, outcome) = (line.event, line.outcome);
                self.events.get_or_create(&Event { name, outcome }).inc();
            }
            _ => {
                self.alerts.get_or_create(&Alert { kind: line.kind }).inc();
            }
        }
    }
}

/// What is counted of a line.
#[derive(Default)]
struct Line {
    event: String,
    kind: String,
    method: String,
    duration_us: u64,
    outcome: String,
    /// Empty where no route took the request.
    route: String,
    status: u64,
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        let text = match field.name() {
            field::EVENT => &mut self.event,
            field::KIND => &mut self.kind,
            field::METHOD => &mut self.method,
            field::OUTCOME => &mut self.outcome,
            field::ROUTE => &mut self.route,
            _ => return,
        };
        value.clone_into(text);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            field::DURATION_US => self.duration_us = value,
            field::STATUS => self.status = value,
            _ => {}
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == field::METHOD {
            self.method = format!("{value:?}");
        }
    }
}

/// Anyone can call with any method: those that are none of ours are counted as one.
fn known(method: &str) -> &'static str {
    ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
        .into_iter()
        .find(|known| *known == method)
        .unwrap_or("other")
}

/// Where metrics are asked for: bound, not serving yet.
#[derive(Debug)]
pub struct Exporter {
    listener: TcpListener,
    metrics: Metrics,
}

impl Exporter {
    /// Binds the listener.
    pub async fn bind(address: SocketAddr, metrics: Metrics) -> io::Result<Self> {
        Ok(Self {
            listener: server::bind(address).await?,
            metrics,
        })
    }

    /// Says where it listens, in one line of the log, and serves until the process is told to end.
    #[allow(clippy::disallowed_methods, reason = "this listener has no document")]
    pub async fn serve(self) -> io::Result<()> {
        tracing::info!("metrics on http://{}/metrics", self.listener.local_addr()?);
        let router = Router::new()
            .route("/metrics", get(show))
            .with_state(self.metrics);
        server::run(self.listener, router, CONNECTIONS, Health::default()).await
    }
}

/// `GET /metrics`.
async fn show(State(metrics): State<Metrics>) -> Response {
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    match metrics.render() {
        Ok(text) => ([(header::CONTENT_TYPE, content_type)], text).into_response(),
        Err(error) => error.to_string().into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing_subscriber::layer::SubscriberExt as _;

    #[test]
    fn lines_are_counted_by_their_fields_and_nothing_else_is() {
        let metrics = Metrics::new();
        let log = tracing_subscriber::registry().with(metrics.clone());
        tracing::subscriber::with_default(log, || {
            let route = Some("/posts/{id}");
            for method in ["GET", "BREW", "STEEP"] {
                tracing::info!(target: ACCESS, method = %method, route, status = 404_u16, duration_us = 1_500_u64);
            }
            tracing::info!(target: SECURITY, event = "authz_fail", outcome = "failure", user_id = 7);
            tracing::error!(target: ALERT, kind = String::from("code_reuse"));
            tracing::info!(target: "other", kind = "code_reuse");
        });
        let text = metrics.render().unwrap();
        for line in [
            r#"http_requests_total{method="GET",route="/posts/{id}",status="404"} 1"#,
            r#"http_requests_total{method="other",route="/posts/{id}",status="404"} 2"#,
            r#"http_request_duration_seconds_bucket{le="0.005",method="GET",route="/posts/{id}"} 1"#,
            r#"http_request_duration_seconds_bucket{le="0.001",method="GET",route="/posts/{id}"} 0"#,
            r#"latchkey_security_events_total{name="authz_fail",outcome="failure"} 1"#,
            r#"latchkey_alerts_total{kind="code_reuse"} 1"#,
        ] {
            assert!(
                text.lines().any(|found| found == line),
                "{line} is not in\n{text}"
            );
        }
    }
}
