//! The base URL of this program, and the origins and proxies that it trusts.

use crate::client_address::TrustedProxies;
use arc_swap::ArcSwap;
use url::{Position, Url};

/// The base URL, the trusted origins and the trusted proxies. All handlers share it.
#[derive(Debug)]
pub struct Policy {
    /// The base URL under which clients reach this program.
    pub base_url: Url,
    /// Origins whose pages may send cookies: those of the base URL, of the issuer and of ALLOWED_ORIGINS.
    pub allowed_origins: ArcSwap<Vec<String>>,
    /// Networks of proxies whose `X-Forwarded-For` header is trusted.
    pub trusted_proxies: TrustedProxies,
}

impl Policy {
    /// Returns whether pages of this origin may send cookies. `origin` is the value of an `Origin` header.
    pub fn trusts_origin(&self, origin: &str) -> bool {
        let allowed_origins = self.allowed_origins.load();
        allowed_origins.iter().any(|allowed| allowed == origin)
    }

    /// Replaces the trusted origins and proxies by those of another policy.
    pub fn trust_as(&self, other: &Self) {
        self.allowed_origins.store(other.allowed_origins.load_full());
        self.trusted_proxies.replace(&other.trusted_proxies);
    }

    /// Returns whether this is the origin of the base URL. `origin` is the value of an `Origin` header.
    pub fn is_own_origin(&self, origin: &str) -> bool {
        self.base_url.origin().ascii_serialization() == origin
    }

    /// Returns the absolute URL of `path`, which is empty or begins with a slash.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", &self.base_url[..Position::BeforePath])
    }
}
