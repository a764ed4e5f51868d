//! The columns of a client that are stored in another form. A malformed value, for example from a manual
//! edit, becomes the value that permits least.

use super::{ClientOrigin, ClientType};
use std::time::Duration;

/// A list of URIs, as JSON.
#[derive(Debug, sqlx::Type)]
#[sqlx(transparent)]
pub(super) struct StoredUris(String);

/// A JWK set as JSON, or none.
#[derive(Debug, sqlx::Type)]
#[sqlx(transparent)]
pub(super) struct StoredJwks(Option<String>);

/// A number of seconds.
#[derive(Debug, sqlx::Type)]
#[sqlx(transparent)]
pub(super) struct StoredSeconds(i64);

impl From<StoredUris> for Vec<String> {
    fn from(stored: StoredUris) -> Self {
        serde_json::from_str(&stored.0).unwrap_or_default()
    }
}

impl From<StoredJwks> for Option<serde_json::Value> {
    fn from(stored: StoredJwks) -> Self {
        serde_json::from_str(&stored.0?).ok()
    }
}

impl From<StoredSeconds> for Duration {
    fn from(stored: StoredSeconds) -> Self {
        Self::from_secs(stored.0.try_into().unwrap_or(0))
    }
}

impl From<String> for ClientType {
    fn from(name: String) -> Self {
        Self::named(&name).unwrap_or(Self::Service)
    }
}

impl From<String> for ClientOrigin {
    fn from(name: String) -> Self {
        Self::named(&name).unwrap_or(Self::Registration)
    }
}
