//! A row of the table of clients.

use super::secrets::SecretColumns;
use super::{Client, ClientOrigin, ClientType};
use foundation::clock::Timestamp;
use std::time::Duration;

#[derive(sqlx::FromRow)]
pub(super) struct Row {
    id: String,
    name: String,
    r#type: String,
    #[sqlx(flatten)]
    secrets: SecretColumns,
    jwks: Option<String>,
    jwks_uri: Option<String>,
    redirect_uris: String,
    post_logout_redirect_uris: String,
    backchannel_logout_uri: Option<String>,
    scope: String,
    default_scope: String,
    first_party: bool,
    refresh_cookie: bool,
    refresh_retry_window: i64,
    epoch: i64,
    created_at: Timestamp,
    disabled_at: Option<Timestamp>,
    require_pushed_authorization_requests: bool,
    dpop_bound_access_tokens: bool,
    device_authorization: bool,
    origin: String,
    unused_until: Option<Timestamp>,
    registration_token_hash: Option<Vec<u8>>,
    token_endpoint_auth_method: Option<String>,
    identity_changed_at: Option<Timestamp>,
    signed_user_info: bool,
}

impl From<Row> for Client {
    /// Converts a row of the table `clients`. Malformed values, for example from manual edits, become the
    /// values that permit least.
    fn from(row: Row) -> Self {
        Self {
            kind: ClientType::named(&row.r#type).unwrap_or(ClientType::Service),
            redirect_uris: serde_json::from_str(&row.redirect_uris).unwrap_or_default(),
            post_logout_redirect_uris: serde_json::from_str(&row.post_logout_redirect_uris)
                .unwrap_or_default(),
            backchannel_logout_uri: row.backchannel_logout_uri,
            scope: row.scope.parse().unwrap_or_default(),
            default_scope: row.default_scope.parse().unwrap_or_default(),
            id: row.id,
            name: row.name,
            secrets: row.secrets.into(),
            jwks: row.jwks.and_then(|jwks| serde_json::from_str(&jwks).ok()),
            jwks_uri: row.jwks_uri,
            first_party: row.first_party,
            refresh_cookie: row.refresh_cookie,
            refresh_retry_window: Duration::from_secs(row.refresh_retry_window.try_into().unwrap_or(0)),
            epoch: row.epoch,
            created_at: row.created_at,
            disabled_at: row.disabled_at,
            require_pushed_authorization_requests: row.require_pushed_authorization_requests,
            dpop_bound_access_tokens: row.dpop_bound_access_tokens,
            device_authorization: row.device_authorization,
            origin: ClientOrigin::named(&row.origin).unwrap_or(ClientOrigin::Registration),
            unused_until: row.unused_until,
            registration_token_hash: row.registration_token_hash,
            token_endpoint_auth_method: row.token_endpoint_auth_method,
            identity_changed_at: row.identity_changed_at,
            signed_user_info: row.signed_user_info,
        }
    }
}
