//! Settings of security events and alerts.

use clap::Args;
use shared::alerts::delivery::Webhook;
use shared::config::{Invalid, parse_duration, read_secret};
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// Alerts look back so far, so events are kept at least as long.
const LEAST_KEPT: Duration = Duration::from_secs(3600);

/// How long security events are kept, and who is told of alerts.
#[derive(Args, Clone, Debug)]
pub struct Alerting {
    /// How long security events and alerts are kept.
    #[arg(long, env = "LATCHKEY_EVENTS_KEPT", global = true, default_value = "365d", value_name = "TIME",
          value_parser = parse_duration)]
    pub events_kept: Duration,

    /// Where alerts are sent, as signed POSTs: https, or this very machine [default: nowhere].
    #[arg(
        long,
        env = "LATCHKEY_ALERT_WEBHOOK_URL",
        global = true,
        value_name = "URL",
        hide_env_values = true
    )]
    pub alert_webhook_url: Option<Url>,

    /// What alerts are signed with (HMAC-SHA256): a text of 16 bytes at least, or whsec_ and base64.
    #[arg(
        long,
        env = "LATCHKEY_ALERT_WEBHOOK_SECRET",
        global = true,
        value_name = "SECRET",
        hide_env_values = true
    )]
    pub alert_webhook_secret: Option<String>,

    /// The same, in a file.
    #[arg(
        long,
        env = "LATCHKEY_ALERT_WEBHOOK_SECRET_FILE",
        global = true,
        value_name = "FILE"
    )]
    pub alert_webhook_secret_file: Option<PathBuf>,
}

impl Alerting {
    /// Refuses what cannot work.
    pub(super) fn check(&self) -> Result<(), Invalid> {
        if self.events_kept < LEAST_KEPT {
            return Err(Invalid(
                "EVENTS_KEPT is under 1h: alerts look back that far".to_owned(),
            ));
        }
        self.webhook().map(|_| ())
    }

    /// Who is told of alerts, if anybody.
    pub(crate) fn webhook(&self) -> Result<Option<Webhook>, Invalid> {
        let secret = read_secret(
            "ALERT_WEBHOOK_SECRET",
            self.alert_webhook_secret.as_deref(),
            self.alert_webhook_secret_file.as_deref(),
        )?;
        let refuse = |what: &str| Err(Invalid(what.to_owned()));
        match (&self.alert_webhook_url, secret) {
            (None, None) => Ok(None),
            (None, Some(_)) => refuse("ALERT_WEBHOOK_SECRET is set, and ALERT_WEBHOOK_URL is not"),
            (Some(_), None) => refuse(
                "ALERT_WEBHOOK_URL is set: set ALERT_WEBHOOK_SECRET or ALERT_WEBHOOK_SECRET_FILE too, so that the \
                 receiver can tell who sends",
            ),
            (Some(url), Some(secret)) => Webhook::new(url.clone(), &secret)
                .map(Some)
                .map_err(|error| Invalid(format!("ALERT_WEBHOOK_URL: {error}"))),
        }
    }
}
