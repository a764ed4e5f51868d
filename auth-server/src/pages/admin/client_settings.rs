//! The settings of an app in words, for administrators.

use crate::pages::text::{self, Text};
use foundation::clock::Timestamp;
use identity::clients::{Client, ClientType};

/// Returns the settings of an app, without those that the page shows elsewhere and those that are off.
pub(super) fn settings(client: &Client, now: Timestamp) -> Vec<Text<'static>> {
    let after_logout = client.post_logout_redirect_uris.join(" ");
    let retry_window = client.refresh_retry_window;
    let is_service = client.kind == ClientType::Service;
    let settings = [
        Some(authentication(client)),
        client
            .token_endpoint_auth_method
            .as_ref()
            .map(|method| text::of("client-registered-method").code("method", method)),
        (!is_service).then(|| text::of("client-default-scope").code("scope", client.default_scope)),
        (!after_logout.is_empty()).then(|| text::of("client-after-logout").code("uris", after_logout)),
        client
            .backchannel_logout_uri
            .as_ref()
            .map(|uri| text::of("client-logout-tokens").code("uri", uri)),
        client
            .require_pushed_authorization_requests
            .then(|| text::of("client-pushes-requests")),
        client
            .dpop_bound_access_tokens
            .then(|| text::of("client-binds-tokens")),
        client
            .device_authorization
            .then(|| text::of("client-connects-devices")),
        client.refresh_cookie.then(|| text::of("client-refresh-cookie")),
        (!retry_window.is_zero())
            .then(|| text::of("client-retry-window").with("length", text::duration(retry_window))),
        client
            .signed_user_info
            .then(|| text::of("client-signed-user-info")),
        client
            .identity_changed_at
            .map(|at| text::of("client-changed-itself").since("time", at, now)),
        client
            .unused_until
            .map(|end| text::of("client-unused-until").until("time", end, now)),
        client
            .disabled_at
            .map(|at| text::of("disabled-since").since("time", at, now)),
    ];
    settings.into_iter().flatten().collect()
}

/// Returns how the app authenticates.
fn authentication(client: &Client) -> Text<'static> {
    let keys = client
        .jwks
        .as_ref()
        .map(|jwks| jwks["keys"].as_array().map_or(0, Vec::len));
    match (&client.jwks_uri, keys) {
        (Some(uri), _) => text::of("client-keys-at").code("uri", uri),
        (None, Some(keys)) => text::of("client-keys").count("n", keys as u64),
        (None, None) if client.secrets.iter().next().is_some() => text::of("client-has-secret"),
        (None, None) => text::of("client-is-public"),
    }
}
