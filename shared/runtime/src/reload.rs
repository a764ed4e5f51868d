//! The settings that a running server takes over at SIGHUP.

use crate::settings::{CommonSettings, SettingsSource};
use crate::telemetry::LogFilter;
use foundation::urls::Urls;
use std::io;
use std::sync::Arc;
use storage::rate_limits::RateLimiter;
use tokio::signal::unix::{Signal, SignalKind, signal};
use web::Policy;

/// Returns the receiver of SIGHUP if there is a settings file. Without one the settings never change, so the
/// signal still ends the process, as it should when a terminal is closed. Fails if the signal cannot be
/// received.
pub(crate) fn hang_ups(common: &CommonSettings) -> io::Result<Option<Signal>> {
    let hang_ups = common.config.as_ref().map(|_| signal(SignalKind::hangup()));
    hang_ups.transpose()
}

/// The source of the settings, and the parts of the server that take over new ones.
pub(crate) struct Reload {
    pub(crate) hang_ups: Signal,
    pub(crate) source: SettingsSource,
    pub(crate) log: LogFilter,
    pub(crate) rate_limiter: RateLimiter,
    pub(crate) policy: Arc<Policy>,
    pub(crate) urls: Urls,
}

impl Reload {
    /// Reads the settings again at each SIGHUP.
    pub(crate) async fn follow(mut self) {
        while self.hang_ups.recv().await.is_some() {
            if let Err(error) = self.take_over() {
                tracing::error!(
                    error,
                    "the settings stay as they were: they could not be read again"
                );
            }
        }
    }

    fn take_over(&mut self) -> Result<(), String> {
        let reading = self.source.read()?;
        let common = &reading.common;
        self.log.replace(common.log.filter()?);
        self.policy.trust_as(&common.network.policy(&self.urls));
        // Whether requests are limited at all is a setting of the start.
        self.rate_limiter
            .replace_quotas(common.rate_limits.quotas_while_on());
        tracing::info!(
            settings = reading.changed.join(", "),
            "the settings were read again"
        );
        if !reading.pending.is_empty() {
            tracing::warn!(
                settings = reading.pending.join(", "),
                "these settings have changed and take effect at the next start"
            );
        }
        Ok(())
    }
}
