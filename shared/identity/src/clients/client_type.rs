//! The types of clients (RFC 6749 §2.1).

use foundation::names;
use serde::Serialize;
use utoipa::ToSchema;

/// The type of a client (RFC 6749 §2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ClientType {
    /// A single-page application. A public client.
    Spa,
    /// An installed application. A public client whose redirect URI on `localhost` or a loopback address may
    /// have any port (RFC 8252 §7.3).
    Native,
    /// A web server that acts for users. A confidential client.
    Web,
    /// A server that acts for itself. A confidential client.
    Service,
}

names!(ClientType: Spa = "spa", Native = "native", Web = "web", Service = "service");

impl ClientType {
    /// Returns whether clients of this type have a secret.
    pub const fn is_confidential(self) -> bool {
        matches!(self, Self::Web | Self::Service)
    }
}
