//! Telling the webhook of alerts: a signed POST each, as Standard Webhooks have it, until it answers 2xx.
//!
//! Each attempt is claimed by one replica, and comes again later unless it is known to have succeeded: at least
//! once, always under the same `webhook-id`.

use crate::alerts::detection::Alert;
use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use foundation::clock;
use foundation::clock::Timestamp;
use foundation::secret::Secret;
use http_client::error_chain;
use reqwest::Client;
use serde_json::json;
use std::time::Duration;
use storage::db::{Db, Error};
use storage::{execute, fetch_optional, sql};
use url::Url;

sql! {
    CLAIM = "UPDATE alerts SET attempts = attempts + 1, due_at = $2
             WHERE id = (SELECT id FROM alerts WHERE delivered_at IS NULL AND due_at <= $1 AND at > $3
                         ORDER BY due_at, id LIMIT 1)
               AND delivered_at IS NULL AND due_at <= $1
             RETURNING id, at, kind, user_id, client_id, trace_id, detail, attempts";
    DELIVERED = "UPDATE alerts SET delivered_at = $2 WHERE id = $1";
    POSTPONE = "UPDATE alerts SET due_at = $2 WHERE id = $1 AND attempts = $3 AND delivered_at IS NULL";
}

/// How often is looked for what is due.
const POLL: Duration = Duration::from_secs(1);
/// An attempt that takes longer has failed.
const TIMEOUT: Duration = Duration::from_secs(10);
/// A claim that is not decided by then is anybody's: its process is gone.
const LEASE: Duration = Duration::from_secs(60);
/// The pause after the first failed attempt; it doubles with each.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);
/// After so long an alert is no news, and is given up.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(3 * 24 * 3600);

/// Who is told of alerts.
#[derive(Clone, Debug)]
pub struct Webhook {
    url: Url,
    key: hmac::Key,
    client: Client,
}

/// Why there is no webhook.
#[derive(Debug, thiserror::Error)]
pub enum InvalidWebhook {
    /// What is sent is for nobody else's eyes.
    #[error("the URL must be https, or of this very machine")]
    Insecure,
    /// One that can be guessed signs nothing.
    #[error("the secret must have 16 bytes at least; after whsec_ they are written in base64")]
    Secret,
    /// The system's certificates cannot be read.
    #[error("no HTTP client: {0}")]
    Client(String),
}

#[derive(sqlx::FromRow)]
struct Claimed {
    #[sqlx(flatten)]
    alert: Alert,
    attempts: i64,
}

impl Webhook {
    /// A webhook at this URL, what it is sent signed with this secret: the bytes of the text, or, after `whsec_`,
    /// those that the text is the base64 of (Standard Webhooks).
    pub fn new(url: Url, secret: &Secret) -> Result<Self, InvalidWebhook> {
        if !http_client::is_confidential(&url) {
            return Err(InvalidWebhook::Insecure);
        }
        let secret = match secret.expose().strip_prefix("whsec_") {
            Some(text) => STANDARD.decode(text).map_err(|_| InvalidWebhook::Secret)?,
            None => secret.expose().as_bytes().to_vec(),
        };
        if secret.len() < 16 {
            return Err(InvalidWebhook::Secret);
        }
        let client =
            http_client::build(&url, TIMEOUT).map_err(|error| InvalidWebhook::Client(error_chain(error)))?;
        Ok(Self {
            url,
            key: hmac::Key::new(hmac::HMAC_SHA256, &secret),
            client,
        })
    }

    /// Delivers what is due, for ever.
    pub async fn follow(self, db: Db) {
        loop {
            match self.deliver_one(&db).await {
                Ok(true) => {}
                Ok(false) => tokio::time::sleep(POLL).await,
                Err(error) => {
                    tracing::warn!(%error, "cannot look for alerts that are due");
                    tokio::time::sleep(POLL).await;
                }
            }
        }
    }

    /// Makes one attempt at the alert that is due first; gives whether any was.
    async fn deliver_one(&self, db: &Db) -> Result<bool, Error> {
        let now = clock::now();
        let claim = fetch_optional!(
            db.writer(),
            Claimed,
            CLAIM,
            now,
            now.after(LEASE),
            now.before(GIVEN_UP_AFTER)
        );
        let Some(Claimed { alert, attempts }) = claim? else {
            return Ok(false);
        };
        match self.send(&alert, now).await {
            Ok(()) => execute!(db.writer(), DELIVERED, alert.id, clock::now())?,
            Err(error) => {
                let next = clock::now().after(pause(attempts));
                match next < alert.at.after(GIVEN_UP_AFTER) {
                    true => tracing::warn!(error, attempts, "the webhook was not told of an alert"),
                    false => {
                        tracing::error!(error, attempts, id = alert.id, "an alert's webhook is given up");
                    }
                }
                execute!(db.writer(), POSTPONE, alert.id, next, attempts)?
            }
        };
        Ok(true)
    }

    /// Sends it. What is answered beside the status is not read.
    async fn send(&self, alert: &Alert, now: Timestamp) -> Result<(), String> {
        let (id, seconds, body) = (alert.webhook_id(), now.seconds(), body(alert));
        let request = self
            .client
            .post(self.url.clone())
            .header("content-type", "application/json")
            .header("webhook-id", &id)
            .header("webhook-timestamp", seconds)
            .header("webhook-signature", self.sign(&id, seconds, &body))
            .body(body);
        // The URL may hold a secret, which is nobody's in the log.
        let sent = request.send().await;
        let status = sent.map_err(|error| error_chain(error.without_url()))?.status();
        match status.is_success() {
            true => Ok(()),
            false => Err(format!("it answered {status}")),
        }
    }

    /// `v1,` and the MAC over id, time and body (Standard Webhooks).
    fn sign(&self, id: &str, seconds: i64, body: &str) -> String {
        let tag = hmac::sign(&self.key, format!("{id}.{seconds}.{body}").as_bytes());
        format!("v1,{}", STANDARD.encode(tag))
    }
}

fn body(alert: &Alert) -> String {
    json!({
        "type": format!("alert.{}", alert.kind),
        "timestamp": alert.at,
        "data": {
            "kind": alert.kind,
            "user_id": alert.user_id,
            "client_id": alert.client_id,
            "trace_id": alert.trace_id,
            "detail": alert.detail,
        },
    })
    .to_string()
}

/// How long to wait after so many failed attempts.
fn pause(attempts: i64) -> Duration {
    let doublings = u32::try_from(attempts.saturating_sub(1)).unwrap_or(0).min(16);
    (FIRST_PAUSE * 2_u32.pow(doublings)).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_that_of_the_published_example() {
        // https://www.standardwebhooks.com/ and the libraries beside it have this example.
        let secret = Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        let webhook = Webhook::new("https://example.org/hook".parse().unwrap(), &secret).unwrap();
        let signature = webhook.sign(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            r#"{"test": 2432232314}"#,
        );
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn pauses_double_up_to_an_hour() {
        let seconds = |attempts| pause(attempts).as_secs();
        assert_eq!([1, 2, 3, 12, 13, 1000].map(seconds), [1, 2, 4, 2048, 3600, 3600]);
    }

    #[test]
    fn a_webhook_is_https_or_of_this_machine_and_its_secret_no_guess() {
        let webhook = |url: &str, secret: &str| Webhook::new(url.parse().unwrap(), &Secret::new(secret));
        let secret = "0123456789abcdef";
        for url in [
            "https://example.org/x",
            "http://127.0.0.1:1/",
            "http://[::1]/",
            "http://localhost/",
        ] {
            assert!(webhook(url, secret).is_ok(), "{url}");
        }
        for url in ["http://example.org/x", "http://10.0.0.1/", "ftp://localhost/"] {
            assert!(webhook(url, secret).is_err(), "{url}");
        }
        for secret in ["", "short", "whsec_c2hvcnQ=", "whsec_no base64 at all, this"] {
            assert!(webhook("https://example.org/x", secret).is_err(), "{secret}");
        }
    }
}
