//! Logging to standard error.

mod filter;
mod json;
mod writer;

pub(crate) use filter::LogFilter;
pub use writer::LogGuard;

use crate::metrics::Metrics;
use clap::Args;
use json::JsonLines;
use std::io::IsTerminal as _;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use writer::LogWriter;

/// The format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// One JSON object per line.
    Json,
    /// Readable text.
    Text,
    /// Text on a terminal, JSON elsewhere.
    Auto,
}

/// Settings of the log.
#[derive(Args, Clone, Debug)]
pub struct LogSettings {
    /// The format of log lines.
    #[arg(
        long,
        env = "LATCHKEY_LOG_FORMAT",
        global = true,
        default_value = "auto",
        value_name = "FORMAT"
    )]
    pub log_format: LogFormat,

    /// The filter of log lines, such as `info` or `info,access=warn`.
    #[arg(
        long,
        env = "LATCHKEY_LOG_LEVEL",
        global = true,
        default_value = "info,sqlx=warn",
        value_name = "FILTER"
    )]
    pub log_level: String,
}

/// The beginning of the targets of the library that verifies passkeys.
const PASSKEY_LIBRARY: &str = "webauthn_rs";

impl LogSettings {
    /// Returns the filter of log lines. Fails if it is malformed.
    pub(crate) fn filter(&self) -> Result<Targets, String> {
        let level = self.log_level.as_str();
        let filter: Targets = level
            .parse()
            .map_err(|error| format!("LOG_LEVEL {level:?}: {error}"))?;
        // This library logs what clients send as errors.
        Ok(match level.contains(PASSKEY_LIBRARY) {
            true => filter,
            false => filter.with_target(PASSKEY_LIBRARY, LevelFilter::OFF),
        })
    }
}

/// Starts logging, and counting of logged events if `metrics` are given. The filter of log lines does not
/// affect the counts. Returns a value that writes the last lines when it is dropped, and the filter. Fails if
/// the filter is invalid or logging was already started.
pub(crate) fn start(
    settings: &LogSettings,
    metrics: Option<Metrics>,
) -> Result<(LogGuard, LogFilter), String> {
    let filter = LogFilter::new(settings.filter()?);
    let json = match settings.log_format {
        LogFormat::Json => true,
        LogFormat::Text => false,
        LogFormat::Auto => !std::io::stderr().is_terminal(),
    };
    let registry = tracing_subscriber::registry().with(metrics);
    let (writer, guard) = LogWriter::start(std::io::stderr()).map_err(|error| error.to_string())?;
    let layer = tracing_subscriber::fmt::layer().with_writer(writer);
    let started = if json {
        let layer = layer.event_format(JsonLines).fmt_fields(JsonLines);
        registry.with(layer.with_filter(filter.clone())).try_init()
    } else {
        let layer = layer.compact().with_ansi(std::io::stderr().is_terminal());
        registry.with(layer.with_filter(filter.clone())).try_init()
    };
    started.map_err(|error| error.to_string())?;
    Ok((guard, filter))
}
