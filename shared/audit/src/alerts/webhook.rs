//! Delivery of alerts to a webhook: one POST per alert, signed as Standard Webhooks specifies, retried for
//! three days until a response is 2xx.
//!
//! An alert can be delivered more than once, always under the same `webhook-id`.

mod key;

pub use key::{InvalidSecret, WebhookKey};

use crate::alerts::Alert;
use foundation::clock::{self, Timestamp};
use foundation::secret::Secret;
use http_client::error_chain;
use reqwest::Client;
use serde_json::json;
use std::time::Duration;
use storage::db::{Db, Error};
use storage::outbox::{self, Due, Failure, Outbox};
use storage::{execute, fetch_all, fetch_optional, sql};
use url::Url;

sql! {
    DUE = "SELECT id, due_at FROM alerts WHERE delivered_at IS NULL AND due_at <= $1 AND at > $2
           ORDER BY due_at, id LIMIT 50";
    CLAIM = "UPDATE alerts SET attempts = attempts + 1, due_at = $3
             WHERE id = $1 AND due_at = $2 AND delivered_at IS NULL
             RETURNING id, at, kind, user_id, client_id, trace_id, detail, attempts";
    DELIVERED = "UPDATE alerts SET delivered_at = $2 WHERE id = $1";
    POSTPONE = "UPDATE alerts SET due_at = $2 WHERE id = $1 AND attempts = $3 AND delivered_at IS NULL";
}

/// The webhook that receives alerts.
#[derive(Clone, Debug)]
pub struct Webhook {
    url: Url,
    key: WebhookKey,
    client: Client,
}

/// The reason why a webhook's settings are invalid.
#[derive(Debug, thiserror::Error)]
pub enum InvalidWebhook {
    /// Alerts would travel unencrypted to another host.
    #[error(
        "the URL must begin with https://, or with http:// and name this machine (localhost, 127.0.0.1 or [::1])"
    )]
    Insecure,
    /// The secret is too short, or not base64 after `whsec_`.
    #[error(transparent)]
    Secret(#[from] InvalidSecret),
    /// The HTTP client cannot be built, for example because the system's certificates cannot be read.
    #[error("cannot create the HTTP client: {0}")]
    Client(String),
}

/// The delivery of the alerts in one database.
#[derive(Clone)]
struct AlertDelivery {
    webhook: Webhook,
    db: Db,
}

/// A claimed alert.
#[derive(sqlx::FromRow)]
struct ClaimedAlert {
    #[sqlx(flatten)]
    alert: Alert,
    attempts: i64,
}

impl Webhook {
    /// Creates a webhook at `url` whose requests are signed with the key that [`WebhookKey::parse`] reads
    /// from `secret`. Connects at the first delivery.
    pub fn new(url: Url, secret: &Secret) -> Result<Self, InvalidWebhook> {
        if !http_client::is_confidential(&url) {
            return Err(InvalidWebhook::Insecure);
        }
        let key = WebhookKey::parse(secret)?;
        let client = http_client::build(&url, AlertDelivery::ATTEMPT_TIMEOUT)
            .map_err(|error| InvalidWebhook::Client(error_chain(error)))?;
        Ok(Self { url, key, client })
    }

    /// Delivers due alerts until the task is aborted.
    pub async fn run(self, db: Db) {
        outbox::run(AlertDelivery { webhook: self, db }).await;
    }

    /// Posts an alert. Fails unless the response is 2xx; its body is not read. The error is a message for the
    /// log.
    async fn post(&self, alert: &Alert, now: Timestamp) -> Result<(), String> {
        let (id, seconds, body) = (alert.public_id(), now.seconds(), body(alert));
        let request = self
            .client
            .post(self.url.clone())
            .header("content-type", "application/json")
            .header("webhook-id", &id)
            .header("webhook-timestamp", seconds)
            .header("webhook-signature", self.key.sign(&id, seconds, &body))
            .body(body);
        let sent = http_client::send(request).await;
        // The URL may contain a secret and must not be logged.
        let status = sent.map_err(|error| error_chain(error.without_url()))?.status();
        let refusal = || format!("the webhook responded with status {status}");
        status.is_success().then_some(()).ok_or_else(refusal)
    }
}

impl Outbox for AlertDelivery {
    const ITEM: &'static str = "alert";
    const POLL_INTERVAL: Duration = Duration::from_secs(1);
    const CONCURRENCY: usize = 1;
    const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(10);
    const LEASE: Duration = Duration::from_secs(60);

    type Claimed = ClaimedAlert;

    async fn due(&self, now: Timestamp) -> Result<Vec<Due>, Error> {
        let oldest = now.before(outbox::GIVE_UP_AFTER);
        fetch_all!(self.db.reader(), Due, DUE, now, oldest)
    }

    async fn claim(&self, due: Due, lease_end: Timestamp) -> Result<Option<ClaimedAlert>, Error> {
        let Due { id, due_at, .. } = due;
        fetch_optional!(self.db.writer(), ClaimedAlert, CLAIM, id, due_at, lease_end)
    }

    async fn send(&self, claimed: &ClaimedAlert) -> Result<(), Failure> {
        let posted = self.webhook.post(&claimed.alert, clock::now()).await;
        posted.map_err(Failure::from)
    }

    async fn record_success(&self, claimed: &ClaimedAlert, now: Timestamp) -> Result<(), Error> {
        execute!(self.db.writer(), DELIVERED, claimed.alert.id, now).map(|_| ())
    }

    /// Gives up the alert if it would be older than [`GIVE_UP_AFTER`](outbox::GIVE_UP_AFTER) at the next
    /// attempt, when `DUE` no longer finds it.
    async fn record_failure(
        &self,
        claimed: &ClaimedAlert,
        failure: &Failure,
        now: Timestamp,
    ) -> Result<(), Error> {
        let (ClaimedAlert { alert, attempts }, error) = (claimed, &failure.reason);
        let (next, alert_id) = (now.after(outbox::backoff(*attempts)), alert.public_id());
        if next < alert.at.after(outbox::GIVE_UP_AFTER) {
            tracing::warn!(
                error,
                alert_id,
                attempts,
                "an alert was not delivered and will be retried"
            );
        } else {
            tracing::error!(
                error,
                alert_id,
                attempts,
                "an alert was given up after three days"
            );
        }
        execute!(self.db.writer(), POSTPONE, alert.id, next, attempts).map(|_| ())
    }
}

/// Returns the JSON body of the request (Standard Webhooks).
fn body(alert: &Alert) -> String {
    json!({
        "type": format!("alert.{}", alert.kind),
        "timestamp": alert.at,
        "data": {
            "kind": alert.kind,
            "user_id": alert.user_id,
            "client_id": alert.client_id,
            "traceId": alert.trace_id,
            "detail": alert.detail,
        },
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_webhook_needs_a_confidential_url() {
        let webhook = |url: &str| Webhook::new(url.parse().unwrap(), &Secret::new("0123456789abcdef"));
        for url in [
            "https://example.org/x",
            "http://127.0.0.1:1/",
            "http://[::1]/",
            "http://localhost/",
        ] {
            assert!(webhook(url).is_ok(), "{url}");
        }
        for url in ["http://example.org/x", "http://10.0.0.1/", "ftp://localhost/"] {
            assert!(webhook(url).is_err(), "{url}");
        }
    }
}
