//! Settings of security events and alerts.

use audit::alerts::webhook::Webhook;
use clap::Args;
use foundation::duration::parse_duration;
use foundation::settings::{InvalidSetting, read_parsed, read_secret};
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// The shortest retention of events: the longest period that alerts evaluate.
const MIN_RETENTION: Duration = Duration::from_secs(3600);

/// The retention of security events and the receiver of alerts.
#[derive(Args, Clone, Debug)]
pub struct AlertSettings {
    /// The retention of security events and alerts.
    #[arg(long, env = "LATCHKEY_EVENTS_KEPT", global = true, default_value = "365d", value_name = "TIME",
          value_parser = parse_duration)]
    pub events_kept: Duration,

    /// The URL that receives alerts, as signed POST requests: https, or a loopback address [default: none].
    #[arg(
        long,
        env = "LATCHKEY_ALERT_WEBHOOK_URL",
        global = true,
        value_name = "URL",
        hide_env_values = true
    )]
    pub alert_webhook_url: Option<Url>,

    /// A file that contains the URL of the webhook.
    #[arg(
        long,
        env = "LATCHKEY_ALERT_WEBHOOK_URL_FILE",
        global = true,
        value_name = "FILE"
    )]
    pub alert_webhook_url_file: Option<PathBuf>,

    /// The secret that signs alerts (HMAC-SHA256): a text of at least 16 bytes, or whsec_ and base64.
    #[arg(
        long,
        env = "LATCHKEY_ALERT_WEBHOOK_SECRET",
        global = true,
        value_name = "SECRET",
        hide_env_values = true,
        allow_hyphen_values = true
    )]
    pub alert_webhook_secret: Option<String>,

    /// A file that contains the webhook secret.
    #[arg(
        long,
        env = "LATCHKEY_ALERT_WEBHOOK_SECRET_FILE",
        global = true,
        value_name = "FILE"
    )]
    pub alert_webhook_secret_file: Option<PathBuf>,
}

impl AlertSettings {
    /// Fails if the retention is too short, or the webhook's settings do not belong together.
    pub(super) fn check(&self) -> Result<(), InvalidSetting> {
        if self.events_kept < MIN_RETENTION {
            return Err(InvalidSetting(
                "EVENTS_KEPT is under 1h: alerts evaluate the events of the last hour".to_owned(),
            ));
        }
        self.webhook().map(|_| ())
    }

    /// Returns the receiver of alerts, or `None` if no URL is set. Fails as [`AlertSettings::check`] does for
    /// the webhook.
    pub(crate) fn webhook(&self) -> Result<Option<Webhook>, InvalidSetting> {
        let (url, file) = (&self.alert_webhook_url, &self.alert_webhook_url_file);
        let url = read_parsed("ALERT_WEBHOOK_URL", url.as_ref(), file.as_deref())?;
        let (secret, file) = (&self.alert_webhook_secret, &self.alert_webhook_secret_file);
        let secret = read_secret("ALERT_WEBHOOK_SECRET", secret.as_deref(), file.as_deref())?;
        let invalid = |message: &str| Err(InvalidSetting(message.to_owned()));
        match (url, secret) {
            (None, None) => Ok(None),
            (None, Some(_)) => invalid("ALERT_WEBHOOK_SECRET is set without ALERT_WEBHOOK_URL"),
            (Some(_), None) => invalid(
                "ALERT_WEBHOOK_URL is set: set ALERT_WEBHOOK_SECRET or ALERT_WEBHOOK_SECRET_FILE too, so that the \
                 receiver can verify the sender",
            ),
            (Some(url), Some(secret)) => Webhook::new(url, &secret)
                .map(Some)
                .map_err(|error| InvalidSetting(format!("ALERT_WEBHOOK_URL: {error}"))),
        }
    }
}
