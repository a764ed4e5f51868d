//! The settings of the API, in addition to the settings of every program.

use clap::Args;
use foundation::byte_size::parse_byte_size;
use foundation::duration::parse_duration;
use foundation::urls::{Urls, parse_http_url};
use std::net::SocketAddr;
use std::time::Duration;
use url::Url;

/// The settings of the API.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Settings of the API")]
pub struct ApiSettings {
    /// The URL of the issuer's key set, by default ISSUER/.well-known/jwks.json.
    #[arg(long, env = "LATCHKEY_JWKS_URL", global = true, value_name = "URL", value_parser = parse_http_url)]
    pub jwks_url: Option<Url>,

    /// The time for which a write is known by its idempotency key, so that a repeated request gets the same
    /// response.
    #[arg(long, env = "LATCHKEY_IDEMPOTENCY_KEY_LIFETIME", global = true, default_value = "30d", value_name = "TIME",
          value_parser = parse_duration)]
    pub idempotency_key_lifetime: Duration,

    /// The most that a user may store in posts, comments, payments and idempotency keys: their texts and 512
    /// bytes each.
    #[arg(long, env = "LATCHKEY_STORAGE_QUOTA", global = true, default_value = "1GiB", value_name = "SIZE",
          value_parser = parse_byte_size)]
    pub storage_quota: i64,
}

/// The path of the issuer's key set.
const KEYS: &str = "/.well-known/jwks.json";
/// The path of the issuer's metadata (RFC 8414 §3).
const METADATA: &str = "/.well-known/oauth-authorization-server";

impl ApiSettings {
    /// Returns the URL of the issuer's key set: the setting `jwks_url`, if it is set; otherwise
    /// `/.well-known/jwks.json` at `own_issuer` or, if that is `None`, below the issuer's URL. If this
    /// process is also the issuer, `own_issuer` is its listen address, because the server may be unable to
    /// reach its own public URL.
    pub fn jwks_url(&self, urls: &Urls, own_issuer: Option<SocketAddr>) -> String {
        match (&self.jwks_url, own_issuer) {
            (Some(url), _) => url.to_string(),
            (None, Some(address)) => format!("http://{address}{KEYS}"),
            (None, None) => format!("{}{KEYS}", urls.issuer),
        }
    }

    /// Returns the URL of the issuer's metadata (RFC 8414 §3): beside the key set, if that is at its usual
    /// path, and otherwise below the issuer's URL.
    pub fn issuer_metadata_url(&self, urls: &Urls) -> String {
        let configured = self.jwks_url.as_ref().map(Url::as_str);
        let internal = configured.and_then(|url| url.strip_suffix(KEYS));
        format!("{}{METADATA}", internal.unwrap_or(&urls.issuer))
    }
}
