//! The rules of a registration, which hold for new clients and after every change.

use super::{jwks, redirect_uris, same_site};
use identity::grants::clients::{Client, ClientType};
use std::time::Duration;

/// The most redirect URIs of one client.
const MAX_REDIRECT_URIS: usize = 20;
/// The longest time in which a refresh can be repeated.
pub const MAX_RETRY_WINDOW: Duration = Duration::from_secs(60);

/// Fails with a message if the registration of a client is invalid.
pub(super) fn check(client: &Client, issuer: &str) -> Result<(), String> {
    check_id(&client.id)?;
    check_members(client, issuer)
}

/// Fails with a message if an administrator may not choose an id. The id of a client with a document, a URL, is not among these.
fn check_id(id: &str) -> Result<(), String> {
    let is_id_char = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    if id.is_empty() || id.len() > 64 || !id.chars().all(is_id_char) {
        return Err(format!(
            "the id {id:?} must have 1 to 64 ASCII letters, digits, - . or _"
        ));
    }
    if id.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("the id must not consist of digits only: those are ids of users".to_owned());
    }
    Ok(())
}

/// Fails with a message if a member of a registration, other than the id, is invalid.
pub(super) fn check_members(client: &Client, issuer: &str) -> Result<(), String> {
    let name_length = client.name.chars().count();
    if client.name.trim().is_empty() || name_length > 100 || client.name.chars().any(char::is_control) {
        return Err("the name must have 1 to 100 printable characters".to_owned());
    }
    if client.scope.is_empty() {
        return Err("the scope must name at least one scope".to_owned());
    }
    if client.default_scope.is_empty() || !client.scope.covers(client.default_scope) {
        return Err("the default scope must be a non-empty part of the scope".to_owned());
    }
    check_keys(client)?;
    if client.device_authorization && !matches!(client.kind, ClientType::Native | ClientType::Web) {
        return Err("only a client of the type native or web uses the device authorization grant".to_owned());
    }
    if client.refresh_retry_window > MAX_RETRY_WINDOW {
        return Err("the refresh retry window must be at most 60 s".to_owned());
    }
    if client.kind == ClientType::Service {
        return check_service(client);
    }
    // A device such as a television opens no browser.
    let least = usize::from(client.kind != ClientType::Native || !client.device_authorization);
    if !(least..=MAX_REDIRECT_URIS).contains(&client.redirect_uris.len()) {
        return Err(format!("a client has 1 to {MAX_REDIRECT_URIS} redirect URIs"));
    }
    check_uris(&client.redirect_uris, client.kind)?;
    if client.post_logout_redirect_uris.len() > MAX_REDIRECT_URIS {
        return Err(format!(
            "a client has at most {MAX_REDIRECT_URIS} redirect URIs for after a logout"
        ));
    }
    check_uris(&client.post_logout_redirect_uris, client.kind)?;
    if client.refresh_cookie {
        check_refresh_cookie(client, issuer)?;
    }
    Ok(())
}

/// Fails with a message if a client of this type cannot have these redirect URIs.
pub(crate) fn check_redirect_uris(uris: &[String], kind: ClientType) -> Result<(), String> {
    if kind == ClientType::Service {
        return match uris.is_empty() {
            true => Ok(()),
            false => Err("a service has no redirect URI, because it does not sign users in".to_owned()),
        };
    }
    if uris.is_empty() || uris.len() > MAX_REDIRECT_URIS {
        return Err(format!("a client has 1 to {MAX_REDIRECT_URIS} redirect URIs"));
    }
    check_uris(uris, kind)
}

fn check_uris(uris: &[String], kind: ClientType) -> Result<(), String> {
    uris.iter().try_for_each(|uri| {
        redirect_uris::check(uri, kind).map_err(|flaw| format!("redirect URI {uri:?}: {flaw}"))
    })
}

/// Fails with a message if a client cannot have its refresh tokens in a cookie: browsers send a `SameSite=Strict` cookie only
/// from pages of the same site.
fn check_refresh_cookie(client: &Client, issuer: &str) -> Result<(), String> {
    if client.kind != ClientType::Spa {
        return Err("only a client of the type spa has its refresh token in a cookie".to_owned());
    }
    let other_site = |uri: &&String| !same_site::is_same_site(uri, issuer);
    match client.redirect_uris.iter().find(other_site) {
        None => Ok(()),
        Some(uri) => Err(format!(
            "redirect URI {uri:?}: it is not same-site with the issuer {issuer}, so browsers would not send the cookie of \
             the refresh token; serve the app below the same registrable domain and with the same scheme, or register it \
             without the cookie"
        )),
    }
}

/// Fails with a message if the keys of a client, or their place, are invalid.
fn check_keys(client: &Client) -> Result<(), String> {
    if client.has_keys() && !client.kind.is_confidential() {
        return Err("only a client of the type web or service has keys".to_owned());
    }
    if client.jwks.is_some() && client.jwks_uri.is_some() {
        return Err("a client has a JWK set or a jwks_uri, not both".to_owned());
    }
    client.jwks.as_ref().map_or(Ok(()), jwks::check)
}

/// Fails with a message if the registration of a service is invalid.
fn check_service(client: &Client) -> Result<(), String> {
    check_redirect_uris(&client.redirect_uris, client.kind)?;
    if !client.post_logout_redirect_uris.is_empty() || client.backchannel_logout_uri.is_some() {
        return Err("a service has no URI for logouts, because it does not sign users in".to_owned());
    }
    if ["openid", "profile", "email"]
        .iter()
        .any(|name| client.scope.contains(name))
    {
        return Err(
            "a service cannot have the scopes openid, profile and email, which are about users".to_owned(),
        );
    }
    if client.refresh_cookie || !client.refresh_retry_window.is_zero() {
        return Err("a service has no refresh token, and so no cookie and no retry window for it".to_owned());
    }
    if client.require_pushed_authorization_requests {
        return Err(
            "a service pushes no authorization request, because it does not sign users in".to_owned(),
        );
    }
    if client.scope.contains("admin") {
        return Err("a service cannot have the scope admin, which is for administrators only".to_owned());
    }
    Ok(())
}
