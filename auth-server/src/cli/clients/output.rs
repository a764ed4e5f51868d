//! The lines that the commands for clients print.

use super::super::{Error, print};
use foundation::secret::Secret;
use identity::clients::{Client, ClientSecret};
use issuer::clients::ClientWithSecret;

pub(super) fn print_client(client: &Client, json: bool) -> Result<(), Error> {
    print(json, client, &describe(client))
}

pub(super) fn print_with_secret(client: &Client, secret: Option<&Secret>, json: bool) -> Result<(), Error> {
    let mut lines = describe(client);
    lines.extend(secret.map(|secret| format!("new secret (printed only once): {}", secret.expose())));
    print(json, &ClientWithSecret::new(client, secret), &lines)
}

fn describe(client: &Client) -> Vec<String> {
    let must_push = client.require_pushed_authorization_requests;
    let retry_window = client.refresh_retry_window.as_secs();
    let is_bound = client.dpop_bound_access_tokens;
    let mut lines = vec![
        format!("id: {}", client.id),
        format!("name: {}", client.name),
        format!("scope: {}", client.scope),
        format!("default scope: {}", client.default_scope),
        format!("first party: {}", client.first_party),
        format!("describes itself by its document: {}", client.has_document()),
        format!("refresh token in a cookie: {}", client.refresh_cookie),
        format!("must push authorization requests: {must_push}"),
        format!("refresh retry window: {retry_window} s"),
        format!("access tokens bound to a key: {is_bound}"),
        format!("device authorization grant: {}", client.device_authorization),
    ];
    lines.extend(client.secrets.iter().map(describe_secret));
    let keys = client.jwks.iter().flat_map(|jwks| jwks["keys"].as_array());
    lines.extend(keys.flatten().map(|key| format!("key: {key}")));
    lines.extend(client.jwks_uri.iter().map(|uri| format!("keys at: {uri}")));
    lines.push(format!("origin: {}", client.origin.as_str()));
    let unused_until = client.unused_until;
    lines.extend(unused_until.map(|at| format!("ends unless it is used before: {at}")));
    lines.extend(client.disabled_at.map(|at| format!("disabled: {at}")));
    let redirect_uris = client.redirect_uris.iter();
    lines.extend(redirect_uris.map(|uri| format!("redirect URI: {uri}")));
    let after_logout = client.post_logout_redirect_uris.iter();
    lines.extend(after_logout.map(|uri| format!("redirect URI after a logout: {uri}")));
    let backchannel = client.backchannel_logout_uri.iter();
    lines.extend(backchannel.map(|uri| format!("logout tokens to: {uri}")));
    lines
}

fn describe_secret(secret: &ClientSecret) -> String {
    let last_used = match secret.last_used_at {
        Some(at) => format!("last used {at}"),
        None => "never used".to_owned(),
    };
    let end = match secret.expires_at {
        Some(at) => format!(", ends {at}"),
        None => String::new(),
    };
    format!("secret: created {}, {last_used}{end}", secret.created_at)
}
