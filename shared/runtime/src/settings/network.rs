//! Settings of the listener, the public URLs and the trusted proxies and origins.

use super::values::{parse_network, parse_page_origin};
use crate::server::ConnectionLimits;
use arc_swap::ArcSwap;
use clap::Args;
use foundation::duration::parse_duration;
use foundation::settings::InvalidSetting;
use foundation::urls::{Urls, origin_of, parse_origin};
use ipnet::IpNet;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use url::Url;
use web::Policy;
use web::client_address::TrustedProxies;

/// Settings of the listener, the public URLs and the trusted proxies and origins.
#[derive(Args, Clone, Debug)]
pub struct NetworkSettings {
    /// The address to listen on. Port 0 selects a free port.
    #[arg(
        long,
        env = "LATCHKEY_LISTEN",
        global = true,
        default_value = "127.0.0.1:8080",
        value_name = "ADDR:PORT"
    )]
    pub listen: SocketAddr,

    /// The URL under which clients reach this program [default: http://localhost:PORT].
    #[arg(long, env = "LATCHKEY_BASE_URL", global = true, value_name = "URL", value_parser = parse_origin)]
    pub base_url: Option<Url>,

    /// The URL of the issuer, the `iss` of access tokens [default: the base URL].
    #[arg(long, env = "LATCHKEY_ISSUER", global = true, value_name = "URL", value_parser = parse_origin)]
    pub issuer: Option<Url>,

    /// The `aud` of access tokens [default: the base URL].
    #[arg(long, env = "LATCHKEY_AUDIENCE", global = true, value_name = "URI",
          value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub audience: Option<String>,

    /// The networks of proxies whose X-Forwarded-For header, or else Forwarded header, is trusted, separated
    /// by commas.
    #[arg(long, env = "LATCHKEY_TRUSTED_PROXIES", global = true, value_delimiter = ',', value_name = "CIDR",
          value_parser = parse_network)]
    pub trusted_proxies: Vec<IpNet>,

    /// Further origins whose pages may send requests with cookies, separated by commas. Also those of apps
    /// that bring their pages along, such as capacitor://localhost.
    #[arg(long, env = "LATCHKEY_ALLOWED_ORIGINS", global = true, value_delimiter = ',', value_name = "ORIGIN",
          value_parser = parse_page_origin)]
    pub allowed_origins: Vec<String>,

    /// The largest number of open connections. Then a further one closes the slowest connection of the block
    /// of addresses that has the most, except for those of trusted proxies.
    #[arg(long, env = "LATCHKEY_MAX_CONNECTIONS", global = true, default_value_t = 10_000, value_name = "N",
          value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1_000_000))]
    pub max_connections: usize,

    /// The memory of request bodies that are arriving, in MiB. When it is full, the slowest one of the
    /// block of addresses that holds the most is given up.
    #[arg(long, env = "LATCHKEY_REQUEST_MEMORY", global = true, default_value_t = 64, value_name = "MIB",
          value_parser = clap::value_parser!(u64).range(4..=1_000_000))]
    pub request_memory: u64,

    /// The memory of responses over 64 KiB that clients have not accepted yet, in MiB. When it is full, the
    /// slowest one of the block of addresses that holds the most is given up.
    #[arg(long, env = "LATCHKEY_RESPONSE_MEMORY", global = true, default_value_t = 128, value_name = "MIB",
          value_parser = clap::value_parser!(u64).range(32..=1_000_000))]
    pub response_memory: u64,

    /// The time for which a connection may be idle after a request. Longer than that of the proxy in front,
    /// so that the proxy never sends a request into a connection that is being closed.
    #[arg(long, env = "LATCHKEY_KEEP_ALIVE", global = true, default_value = "75s", value_name = "TIME",
          value_parser = parse_duration)]
    pub keep_alive: Duration,
}

impl NetworkSettings {
    /// Fails in production unless the base URL is set, and unless it and the issuer's URL are https: cookies
    /// are `Secure` only if the base URL is https.
    pub fn check(&self) -> Result<(), InvalidSetting> {
        if !self.is_production() {
            return Ok(());
        }
        let Some(base_url) = &self.base_url else {
            return Err(InvalidSetting(format!(
                "BASE_URL is not set, and LISTEN {} or an https ISSUER makes this a production installation: set \
                 BASE_URL to the https URL that clients use",
                self.listen
            )));
        };
        let urls = [("BASE_URL", Some(base_url)), ("ISSUER", self.issuer.as_ref())];
        for (name, url) in urls {
            if let Some(url) = url.filter(|url| url.scheme() != "https") {
                return Err(InvalidSetting(format!(
                    "{name} {url} is plain http, which only a loopback installation may use: put a TLS proxy in front \
                     and set {name} to its https URL"
                )));
            }
        }
        Ok(())
    }

    /// Returns whether this is a production installation: the listener has an address other than loopback, or
    /// the URL of the program or of the issuer is https.
    pub fn is_production(&self) -> bool {
        let is_https = |url: &Option<Url>| url.as_ref().is_some_and(|url| url.scheme() == "https");
        !self.listen.ip().is_loopback() || is_https(&self.base_url) || is_https(&self.issuer)
    }

    /// Returns the address at which this machine reaches the server. Fails if LISTEN does not name the port.
    pub fn own_address(&self) -> Result<SocketAddr, String> {
        let mut address = self.listen;
        if address.port() == 0 {
            return Err(
                "LISTEN has port 0, so the port of the server is unknown: give its address by --listen"
                    .to_owned(),
            );
        }
        if address.ip().is_unspecified() {
            address.set_ip(match address {
                SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            });
        }
        Ok(address)
    }

    /// Returns the limits on connections and on what their clients may hold. `proxies` are those that are
    /// trusted.
    pub fn connection_limits(&self, proxies: TrustedProxies) -> ConnectionLimits {
        const MIB: u64 = 1024 * 1024;
        ConnectionLimits {
            connections: self.max_connections,
            idle: self.keep_alive,
            request_memory: self.request_memory * MIB,
            response_memory: self.response_memory * MIB,
            proxies,
        }
    }

    /// Returns the URLs of the program. The default base URL contains the port of `bound`, the bound address.
    pub fn urls(&self, bound: SocketAddr) -> Result<Urls, InvalidSetting> {
        let base = match &self.base_url {
            Some(url) => url.clone(),
            None => Url::parse(&format!("http://localhost:{}", bound.port()))
                .map_err(|error| InvalidSetting(format!("BASE_URL: {error}")))?,
        };
        let issuer = self.issuer.as_ref().unwrap_or(&base);
        Ok(Urls {
            issuer: origin_of(issuer),
            audience: self.audience.clone().unwrap_or_else(|| origin_of(&base)),
            base,
        })
    }

    /// Returns the base URL, the trusted origins and the trusted proxies. The origins of `urls` are always
    /// trusted.
    pub fn policy(&self, urls: &Urls) -> Policy {
        let mut allowed_origins = self.allowed_origins.clone();
        allowed_origins.extend([origin_of(&urls.base), urls.issuer.clone()]);
        Policy {
            base_url: urls.base.clone(),
            allowed_origins: ArcSwap::from_pointee(allowed_origins),
            trusted_proxies: TrustedProxies::new(self.trusted_proxies.clone(), self.is_production()),
        }
    }
}
