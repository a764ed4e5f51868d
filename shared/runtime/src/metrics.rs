//! Metrics for Prometheus (OpenMetrics text), on a separate listener.
//!
//! [`Metrics`] is a layer of the log. It counts the events of three log targets: requests, security events
//! and alerts. The filter of log lines does not apply to it, so every event is counted, and the code that
//! logs does not depend on metrics.

mod exporter;

pub use exporter::Exporter;

use clap::Args;
use foundation::clock;
use foundation::log::{ACCESS, ALERT, SECURITY, field, method_label};
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use std::fmt::Debug;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;
use tracing::Subscriber;
use tracing::field::{Field, Visit};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// Settings of the metrics.
#[derive(Args, Clone, Debug)]
pub struct MetricsSettings {
    /// The address of the metrics listener, the only one that serves metrics [default: metrics are off].
    #[arg(
        long,
        env = "LATCHKEY_METRICS_LISTEN",
        global = true,
        value_name = "ADDR:PORT"
    )]
    pub metrics_listen: Option<SocketAddr>,
}

/// The upper bounds of the latency histogram, in seconds.
const LATENCY_BUCKETS: [f64; 11] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];

/// The metrics of this process. Clones share them.
#[derive(Clone, Debug)]
pub struct Metrics {
    requests: Family<RequestLabels, Counter>,
    latencies: Family<LatencyLabels, Histogram, fn() -> Histogram>,
    events: Family<[(&'static str, String); 2], Counter>,
    alerts: Family<[(&'static str, String); 1], Counter>,
    uptime: Gauge<f64, AtomicU64>,
    started_at: Instant,
    registry: Arc<Registry>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    route: String,
    status: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LatencyLabels {
    method: &'static str,
    route: String,
}

impl Metrics {
    /// Returns metrics without counts. The label `program` of the build has the name of the program.
    pub(crate) fn new(program: &str) -> Self {
        let new_histogram: fn() -> Histogram = || Histogram::new(LATENCY_BUCKETS);
        let mut metrics = Self {
            requests: Family::default(),
            latencies: Family::new_with_constructor(new_histogram),
            events: Family::default(),
            alerts: Family::default(),
            uptime: Gauge::default(),
            started_at: Instant::now(),
            registry: Arc::default(),
        };
        metrics.registry = Arc::new(metrics.register(program));
        metrics
    }

    /// Returns a registry of all metrics with their names and help texts.
    fn register(&self, program: &str) -> Registry {
        let started = Gauge::<i64>::default();
        started.set(clock::now().seconds());
        let mut registry = Registry::default();
        let build = Info::new([
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("program", program.to_owned()),
        ]);
        registry.register("latchkey_build", "The version and the name of the program", build);
        let start = "The start time of the process in Unix time";
        registry.register("process_start_time_seconds", start, started);
        let uptime = "The time since the start of the process";
        registry.register("process_uptime_seconds", uptime, self.uptime.clone());
        registry.register("http_requests", "The number of responses", self.requests.clone());
        let latency = "The time from a request's arrival to the head of its response";
        registry.register("http_request_duration_seconds", latency, self.latencies.clone());
        let events = "The number of security events";
        registry.register("latchkey_security_events", events, self.events.clone());
        let alerts = "The number of alerts on abnormal activity";
        registry.register("latchkey_alerts", alerts, self.alerts.clone());
        registry
    }

    /// Returns the metrics as OpenMetrics text.
    fn render(&self) -> Result<String, std::fmt::Error> {
        self.uptime.set(self.started_at.elapsed().as_secs_f64());
        let mut output = String::new();
        text::encode(&mut output, &self.registry)?;
        Ok(output)
    }

    fn count_request(&self, fields: EventFields) {
        let (method, route) = (method_label(&fields.method), fields.route);
        let latency = LatencyLabels {
            method,
            route: route.clone(),
        };
        #[allow(clippy::cast_precision_loss, reason = "no request takes 2^53 microseconds")]
        let seconds = fields.duration_us as f64 / 1e6;
        self.latencies.get_or_create(&latency).observe(seconds);
        let request = RequestLabels {
            method,
            route,
            status: fields.status,
        };
        self.requests.get_or_create(&request).inc();
    }
}

impl<S: Subscriber> Layer<S> for Metrics {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let target = event.metadata().target();
        if ![ACCESS, SECURITY, ALERT].contains(&target) {
            return;
        }
        let mut fields = EventFields::default();
        event.record(&mut fields);
        match target {
            ACCESS => self.count_request(fields),
            SECURITY => {
                let labels = [("name", fields.event), ("outcome", fields.outcome)];
                self.events
                    .get_or_create(&labels)
                    .inc_by(fields.count.unwrap_or(1));
            }
            _ => {
                self.alerts.get_or_create(&[("kind", fields.kind)]).inc();
            }
        }
    }
}

/// The fields of a log event that become labels and values.
#[derive(Default)]
struct EventFields {
    /// The number of security events, if it is more than one.
    count: Option<u64>,
    event: String,
    kind: String,
    method: String,
    duration_us: u64,
    outcome: String,
    /// Empty if no route matched the request.
    route: String,
    status: u64,
}

impl Visit for EventFields {
    fn record_str(&mut self, field: &Field, value: &str) {
        let target = match field.name() {
            field::EVENT => &mut self.event,
            field::KIND => &mut self.kind,
            field::METHOD => &mut self.method,
            field::OUTCOME => &mut self.outcome,
            field::ROUTE => &mut self.route,
            _ => return,
        };
        value.clone_into(target);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        if field.name() == field::COUNT {
            self.count = u64::try_from(value).ok();
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            field::DURATION_US => self.duration_us = value,
            field::STATUS => self.status = value,
            _ => {}
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing_subscriber::layer::SubscriberExt as _;

    #[test]
    fn events_of_the_three_targets_are_counted_by_their_fields() {
        let metrics = Metrics::new("latchkey");
        let log = tracing_subscriber::registry().with(metrics.clone());
        tracing::subscriber::with_default(log, || {
            let route = Some("/posts/{id}");
            for method in ["GET", "BREW", "STEEP"] {
                tracing::info!(target: ACCESS, method, route, status = 404_u16, duration_us = 1_500_u64);
            }
            tracing::info!(target: SECURITY, event = "authz_fail", outcome = "failure", user_id = 7);
            tracing::info!(target: SECURITY, event = "authz_fail", outcome = "failure", count = Some(41_i64));
            tracing::error!(target: ALERT, kind = String::from("code_reuse"));
            tracing::info!(target: "other", kind = "code_reuse");
        });
        let text = metrics.render().unwrap();
        for line in [
            r#"http_requests_total{method="GET",route="/posts/{id}",status="404"} 1"#,
            r#"http_requests_total{method="other",route="/posts/{id}",status="404"} 2"#,
            r#"http_request_duration_seconds_bucket{le="0.005",method="GET",route="/posts/{id}"} 1"#,
            r#"http_request_duration_seconds_bucket{le="0.001",method="GET",route="/posts/{id}"} 0"#,
            r#"latchkey_security_events_total{name="authz_fail",outcome="failure"} 42"#,
            r#"latchkey_alerts_total{kind="code_reuse"} 1"#,
        ] {
            assert!(
                text.lines().any(|found| found == line),
                "{line} is not in\n{text}"
            );
        }
    }
}
