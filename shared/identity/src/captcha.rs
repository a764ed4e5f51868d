//! The captcha that is asked for after repeated failures, where one is set up: the common `siteverify` form of
//! hCaptcha, Turnstile and reCAPTCHA.

use foundation::secret::Secret;
use http_client;
use http_client::error_chain;
use reqwest::Client;
use serde::Deserialize;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use url::{Url, form_urlencoded};

/// The longest answer of a widget, in bytes.
pub const MAX_LENGTH: usize = 8192;
/// A verification that takes longer has failed.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The largest answer of the service, in bytes.
const MAX_BODY: usize = 16 * 1024;

/// Who tells people from programs. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Captcha {
    service: Arc<Service>,
    client: Client,
}

/// A service, as the settings name it.
#[derive(Debug)]
pub struct Service {
    /// Where answers are verified.
    pub verify_url: Url,
    /// Ours, for the service.
    pub secret: Secret,
    /// Names us to the widget.
    pub site_key: String,
    /// The widget's script; without one the page has no widget, and other clients bring their own.
    pub script_url: Option<Url>,
}

/// The service does not answer, or not what such services do.
#[derive(Debug, thiserror::Error)]
#[error("the captcha service: {0}")]
pub struct Unavailable(String);

#[derive(Deserialize)]
struct Verdict {
    success: bool,
}

impl Captcha {
    /// A captcha of this service. Fails if the system's certificates cannot be read.
    pub fn new(service: Service) -> Result<Self, Unavailable> {
        Ok(Self {
            client: http_client::build(&service.verify_url, TIMEOUT).map_err(unavailable)?,
            service: Arc::new(service),
        })
    }

    /// What the widget is told.
    pub fn site_key(&self) -> &str {
        &self.service.site_key
    }

    /// The widget's script.
    pub fn script_url(&self) -> Option<&Url> {
        self.service.script_url.as_ref()
    }

    /// Whether the widget's answer is good. The service says so once.
    pub(crate) async fn verify(&self, answer: &str, address: Option<IpAddr>) -> Result<bool, Unavailable> {
        if answer.is_empty() || answer.len() > MAX_LENGTH {
            return Ok(false);
        }
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("secret", self.service.secret.expose())
            .append_pair("response", answer)
            .extend_pairs(address.map(|address| ("remoteip", address.to_string())))
            .finish();
        let url = self.service.verify_url.clone();
        let request = self
            .client
            .post(url)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(form);
        let response = request.send().await.map_err(unavailable)?;
        let status = response.status();
        if !status.is_success() {
            return Err(Unavailable(format!("it answered {status}")));
        }
        let body = http_client::read_body(response, MAX_BODY)
            .await
            .map_err(Unavailable)?;
        let verdict: serde_json::Result<Verdict> = serde_json::from_slice(&body);
        verdict
            .map(|verdict| verdict.success)
            .map_err(|error| Unavailable(format!("it answered no verdict: {error}")))
    }
}

/// Without the URL, which is a setting.
fn unavailable(error: reqwest::Error) -> Unavailable {
    Unavailable(error_chain(error.without_url()))
}
