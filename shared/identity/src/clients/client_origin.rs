//! The origins of clients.

use foundation::names;
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

names!(ClientOrigin: Administrator = "administrator", Registration = "registration", Document = "document");
