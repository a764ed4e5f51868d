//! The export of spans over OTLP, in protobuf over HTTP.

use async_trait::async_trait;
use clap::Args;
use foundation::random;
use foundation::settings::{InvalidSetting, read_secret};
use foundation::urls::parse_http_url;
use http_client::error_chain;
use opentelemetry::{KeyValue, global};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracerProvider};
use reqwest::Client;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;
use url::Url;

/// The largest number of ended spans that wait for their export.
const QUEUE: usize = 8_192;
/// The largest number of spans in a request to the collector.
const MAX_BATCH: usize = 512;
/// The pause between two exports, in which spans gather.
const INTERVAL: Duration = Duration::from_secs(1);
/// The time limit of a request to the collector, after which its spans are not sent again either.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The time limit of the last export, after the requests in progress have ended.
const FINISH_TIMEOUT: Duration = Duration::from_secs(3);

/// Settings of the traces.
#[derive(Args, Clone, Debug)]
pub struct TraceSettings {
    /// The URL of the collector that receives traces over OTLP (protobuf over HTTP), without `/v1/traces`
    /// [default: traces are off].
    #[arg(
        long,
        env = "LATCHKEY_OTLP_URL",
        global = true,
        value_name = "URL",
        value_parser = parse_http_url
    )]
    pub otlp_url: Option<Url>,

    /// A file with the headers of requests to the collector, each on a line, such as `Authorization: Bearer
    /// TOKEN`.
    #[arg(long, env = "LATCHKEY_OTLP_HEADERS_FILE", global = true, value_name = "FILE")]
    pub otlp_headers_file: Option<PathBuf>,

    /// The number of traces out of a thousand that are recorded. For a request with `traceparent` its caller
    /// decides.
    #[arg(long, env = "LATCHKEY_TRACES_PER_THOUSAND", global = true, default_value_t = 1000, value_name = "N",
          value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub traces_per_thousand: u32,
}

/// The client of the exporter, which runs on a thread of the SDK without a runtime. The client sends the
/// requests on the runtime of the program, and without a span.
#[derive(Debug)]
struct Collector {
    client: Client,
    runtime: Handle,
    has_failed: AtomicBool,
}

impl TraceSettings {
    /// Starts the export, if a collector is configured. It connects at its first export. Must be called on a
    /// tokio runtime. Fails if the headers cannot be read or would travel unencrypted to another host, or if
    /// TLS cannot be set up.
    pub(crate) fn start(&self, program: &str) -> Result<Option<SdkTracerProvider>, InvalidSetting> {
        let headers = self.headers()?;
        let Some(url) = &self.otlp_url else {
            return Ok(None);
        };
        let client = http_client::builder(url, TIMEOUT)
            .default_headers(headers)
            .build();
        let collector = Collector {
            client: client.map_err(|error| InvalidSetting(format!("OTLP_URL: {}", error_chain(error))))?,
            runtime: Handle::current(),
            has_failed: AtomicBool::new(false),
        };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(collector)
            .with_endpoint(format!("{}/v1/traces", url.as_str().trim_end_matches('/')))
            .with_protocol(Protocol::HttpBinary)
            .with_timeout(TIMEOUT)
            .build()
            .map_err(|error| InvalidSetting(format!("OTLP_URL: {error}")))?;
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(QUEUE)
            .with_max_export_batch_size(MAX_BATCH)
            .with_scheduled_delay(INTERVAL);
        let processor = BatchSpanProcessor::builder(exporter).with_batch_config(batches.build());
        let share = f64::from(self.traces_per_thousand) / 1_000.0;
        let resource = Resource::builder_empty()
            .with_service_name(program.to_owned())
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .with_attribute(KeyValue::new("service.instance.id", random::uuid()));
        let provider = SdkTracerProvider::builder()
            .with_span_processor(processor.build())
            .with_sampler(Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(share))))
            .with_resource(resource.build())
            .build();
        global::set_text_map_propagator(TraceContextPropagator::new());
        global::set_tracer_provider(provider.clone());
        Ok(Some(provider))
    }

    /// Returns the headers of requests to the collector. Fails if they cannot be read or would travel
    /// unencrypted to another host.
    pub(crate) fn headers(&self) -> Result<HeaderMap, InvalidSetting> {
        let Some(text) = read_secret("OTLP_HEADERS", None, self.otlp_headers_file.as_deref())? else {
            return Ok(HeaderMap::new());
        };
        if !self.otlp_url.as_ref().is_some_and(http_client::is_confidential) {
            let reason =
                "OTLP_HEADERS_FILE is only for an OTLP_URL with https, or with http and a loopback host";
            return Err(InvalidSetting(reason.to_owned()));
        }
        let lines = text.expose().lines().filter(|line| !line.trim().is_empty());
        let headers = lines.map(parse_header).collect::<Option<HeaderMap>>();
        let reason = "OTLP_HEADERS_FILE: each line must be a header, such as `Authorization: Bearer TOKEN`";
        headers.ok_or_else(|| InvalidSetting(reason.to_owned()))
    }
}

fn parse_header(line: &str) -> Option<(HeaderName, HeaderValue)> {
    let (name, value) = line.split_once(':')?;
    let mut value = HeaderValue::from_str(value.trim()).ok()?;
    value.set_sensitive(true);
    Some((name.trim().parse().ok()?, value))
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        let sending = async move { client.send_bytes(request).await };
        let sent = self.runtime.spawn(sending).await?;
        let failure = match &sent {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(format!("it responded with status {}", response.status())),
            Err(error) => Some(error_chain(&**error)),
        };
        let had_failed = self.has_failed.swap(failure.is_some(), Ordering::Relaxed);
        match failure {
            Some(error) if !had_failed => {
                tracing::warn!(error, "the collector does not accept traces");
            }
            None if had_failed => tracing::info!("the collector accepts traces again"),
            _ => {}
        }
        sent
    }
}

/// Exports the last spans within [`FINISH_TIMEOUT`]; further ones are lost.
pub(crate) async fn finish(provider: SdkTracerProvider) {
    // The SDK blocks the thread until then, and this one has to send the requests to the collector.
    let shut_down = move || provider.shutdown_with_timeout(FINISH_TIMEOUT);
    let _ = tokio::task::spawn_blocking(shut_down).await;
}
