//! The captcha that is required after repeated failures, if one is configured. It speaks the `siteverify`
//! protocol that hCaptcha, Turnstile and reCAPTCHA share.

use foundation::secret::Secret;
use http_client::error_chain;
use reqwest::Client;
use serde::Deserialize;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use url::{Url, form_urlencoded};

/// The maximum length of a widget's answer, in bytes.
pub const MAX_LENGTH: usize = 8192;
/// The time limit of one verification.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum length of the service's response body, in bytes.
const MAX_BODY: usize = 16 * 1024;

/// Verifies captcha answers with a service. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Captcha {
    settings: Arc<ServiceSettings>,
    client: Client,
}

/// The settings of a captcha service.
#[derive(Debug)]
pub struct ServiceSettings {
    /// The URL of `siteverify`.
    pub verify_url: Url,
    /// The secret that authenticates this installation to the service.
    pub secret: Secret,
    /// The public key that identifies this installation to the widget.
    pub site_key: String,
    /// The URL of the widget's script. Without it, the sign-in page shows no widget; clients of the API can
    /// still send the answer of a widget that they show themselves.
    pub script_url: Option<Url>,
    /// From where the widget may load, and to where it may send requests: the sources of a content security
    /// policy, separated by blanks.
    pub sources: String,
}

/// The captcha service cannot be reached, or its response is not a `siteverify` response.
#[derive(Debug, thiserror::Error)]
#[error("the captcha service cannot be used: {0}")]
pub struct Unavailable(String);

#[derive(Deserialize)]
struct SiteverifyResponse {
    success: bool,
}

impl Captcha {
    /// Creates a client for the captcha service. Fails if the HTTP client cannot be built, for example
    /// because the system's certificates cannot be read.
    pub fn new(settings: ServiceSettings) -> Result<Self, Unavailable> {
        Ok(Self {
            client: http_client::build(&settings.verify_url, TIMEOUT).map_err(unavailable)?,
            settings: Arc::new(settings),
        })
    }

    /// Returns the public key for the widget.
    pub fn site_key(&self) -> &str {
        &self.settings.site_key
    }

    /// Returns the URL of the widget's script, if one is configured.
    pub fn script_url(&self) -> Option<&Url> {
        self.settings.script_url.as_ref()
    }

    /// Returns the sources of a content security policy that the widget needs, separated by blanks.
    pub fn sources(&self) -> &str {
        &self.settings.sources
    }

    /// Returns whether the service accepts the widget's answer; the service accepts each answer once.
    /// `address` is the user's IP address, if known. Fails if the service cannot be reached or does not
    /// respond as specified.
    pub(crate) async fn verify(&self, answer: &str, address: Option<IpAddr>) -> Result<bool, Unavailable> {
        if answer.is_empty() || answer.len() > MAX_LENGTH {
            return Ok(false);
        }
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("secret", self.settings.secret.expose())
            .append_pair("response", answer)
            .extend_pairs(address.map(|address| ("remoteip", address.to_string())))
            .finish();
        let url = self.settings.verify_url.clone();
        let request = self
            .client
            .post(url)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(form);
        let response = http_client::send(request).await.map_err(unavailable)?;
        let status = response.status();
        if !status.is_success() {
            return Err(Unavailable(format!("it responded with status {status}")));
        }
        let body = http_client::read_body(response, MAX_BODY)
            .await
            .map_err(Unavailable)?;
        let parsed: serde_json::Result<SiteverifyResponse> = serde_json::from_slice(&body);
        parsed
            .map(|response| response.success)
            .map_err(|error| Unavailable(format!("its response is not a siteverify response: {error}")))
    }
}

/// Parses a source of a content security policy (CSP3 §2.3.1): an https URL without query, whose host may
/// begin with `*.`, or an http URL of a loopback host. The error is a message for the operator.
pub(crate) fn parse_source(text: &str) -> Result<String, String> {
    let without_wildcard = text.replacen("://*.", "://", 1);
    // Other characters of a URL would end the source or the list of sources in the header.
    let is_one_source = without_wildcard
        .chars()
        .all(|char| char.is_ascii_alphanumeric() || "-._~%:/".contains(char));
    match Url::parse(&without_wildcard) {
        Ok(url)
            if is_one_source
                && url.as_str().starts_with(&without_wildcard)
                && http_client::is_confidential(&url) =>
        {
            Ok(text.to_owned())
        }
        _ => Err("it must be an https URL without query, whose host may begin with `*.`".to_owned()),
    }
}

/// Converts an error of the HTTP client. The message omits the URL, because it is a setting.
fn unavailable(error: reqwest::Error) -> Unavailable {
    Unavailable(error_chain(error.without_url()))
}

#[cfg(test)]
mod tests {
    use super::parse_source;

    #[test]
    fn a_source_is_a_url_whose_host_may_begin_with_a_wildcard() {
        for text in [
            "https://challenges.example",
            "https://*.captcha.example",
            "https://captcha.example:8443/widget/",
            "http://127.0.0.1:8080",
        ] {
            assert_eq!(parse_source(text).as_deref(), Ok(text));
        }
        for text in [
            "",
            "*",
            "https:",
            "'unsafe-inline'",
            "captcha.example",
            "http://captcha.example",
            "https:captcha.example",
            "https://*",
            "https://a.*.example",
            "https://user@captcha.example",
            "https://captcha.example?query",
            "https://captcha.example; script-src *",
            "https://captcha.example/;",
            "https://captcha.example *",
        ] {
            assert!(parse_source(text).is_err(), "{text}");
        }
    }
}
