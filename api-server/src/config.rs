//! Settings that the API has beside those of every program.

use clap::Args;
use shared::config::{Urls, parse_duration};
use std::net::SocketAddr;
use std::time::Duration;
use url::Url;

/// What the API is told.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Settings of the API")]
pub struct Settings {
    /// Where the issuer's keys are fetched, if not at ISSUER/.well-known/jwks.json.
    #[arg(long, env = "LATCHKEY_JWKS_URL", global = true, value_name = "URL", value_parser = parse_http_url)]
    pub jwks_url: Option<Url>,

    /// How long the answer to a write is kept under its idempotency key.
    #[arg(long, env = "LATCHKEY_IDEMPOTENCY_KEY_LIFETIME", global = true, default_value = "30d", value_name = "TIME",
          value_parser = parse_duration)]
    pub idempotency_key_lifetime: Duration,
}

impl Settings {
    /// Where the issuer's keys are fetched: where told, else of this very process if it is the issuer
    /// (whose public URL may not be reachable from inside), else of the issuer's URL.
    pub fn jwks_url(&self, urls: &Urls, own_issuer: Option<SocketAddr>) -> String {
        match (&self.jwks_url, own_issuer) {
            (Some(url), _) => url.to_string(),
            (None, Some(bound)) => format!("http://{bound}/.well-known/jwks.json"),
            (None, None) => format!("{}/.well-known/jwks.json", urls.issuer),
        }
    }
}

fn parse_http_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        _ => Err("it must be an http or https URL".to_owned()),
    }
}
