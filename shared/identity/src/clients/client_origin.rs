//! The origins of clients.

use serde::Serialize;
use utoipa::ToSchema;

/// The way in which a client was registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ClientOrigin {
    /// By an administrator.
    Administrator,
    /// By itself (RFC 7591). Nobody has checked what it says about itself.
    Registration,
    /// By the document at its `client_id`, a URL (draft-ietf-oauth-client-id-metadata-document). Nobody has
    /// checked what it says.
    Document,
}

impl ClientOrigin {
    /// Returns the name in the database and in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Administrator => "administrator",
            Self::Registration => "registration",
            Self::Document => "document",
        }
    }

    /// Returns the origin with this name. An unknown name becomes the origin that permits least.
    pub(super) fn stored(name: &str) -> Self {
        match name {
            "administrator" => Self::Administrator,
            "document" => Self::Document,
            _ => Self::Registration,
        }
    }
}
