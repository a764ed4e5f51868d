//! The rules of a registration, which hold for new clients and after every change.

use super::{jwks, redirect_uris, same_site};
use identity::clients::{Client, ClientType};
use std::time::Duration;

/// The most redirect URIs of one client.
const MAX_REDIRECT_URIS: usize = 20;
/// The longest time in which a refresh can be repeated.
pub const MAX_RETRY_WINDOW: Duration = Duration::from_secs(60);

/// The way in which a registration, or a change of it, breaks a rule.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub struct RegistrationFlaw {
    /// The member of the registration that is to be corrected, as the API names it; `None` if it is not one
    /// alone.
    pub member: Option<&'static str>,
    /// The reason, for the developer of the client.
    pub reason: String,
}

impl RegistrationFlaw {
    /// Returns the flaw of one member.
    pub fn of(member: &'static str, reason: impl Into<String>) -> Self {
        Self {
            member: Some(member),
            reason: reason.into(),
        }
    }

    /// Returns the flaw of several members together, or of none.
    pub(super) fn without_member(reason: impl Into<String>) -> Self {
        Self {
            member: None,
            reason: reason.into(),
        }
    }
}

/// Fails if the registration of a client is invalid.
pub(super) fn check(client: &Client, issuer: &str) -> Result<(), RegistrationFlaw> {
    check_id(&client.id)?;
    check_members(client, issuer)
}

/// Fails if an administrator may not choose an id. The id of a client with a document, a URL, is not among
/// these.
fn check_id(id: &str) -> Result<(), RegistrationFlaw> {
    let flaw = |reason| Err(RegistrationFlaw::of("id", reason));
    let is_id_char = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    if id.is_empty() || id.len() > 64 || !id.chars().all(is_id_char) {
        return flaw(format!(
            "the id {id:?} must have 1 to 64 ASCII letters, digits, - . or _"
        ));
    }
    if id.bytes().all(|byte| byte.is_ascii_digit()) {
        return flaw("the id must not consist of digits only: those are ids of users".to_owned());
    }
    Ok(())
}

/// Fails if a member of a registration, other than the id, is invalid.
pub(super) fn check_members(client: &Client, issuer: &str) -> Result<(), RegistrationFlaw> {
    let flaw = |member, reason: &str| Err(RegistrationFlaw::of(member, reason));
    let name_length = client.name.chars().count();
    if client.name.trim().is_empty() || name_length > 100 || client.name.chars().any(char::is_control) {
        return flaw("name", "the name must have 1 to 100 printable characters");
    }
    if client.scope.is_empty() {
        return flaw("scope", "the scope must name at least one scope");
    }
    if client.default_scope.is_empty() || !client.scope.covers(client.default_scope) {
        let reason = "the default scope must be a non-empty part of the scope";
        return flaw("default_scope", reason);
    }
    check_keys(client)?;
    if client.device_authorization && !matches!(client.kind, ClientType::Native | ClientType::Web) {
        let reason = "only a client of the type native or web uses the device authorization grant";
        return flaw("device_authorization", reason);
    }
    if client.refresh_retry_window > MAX_RETRY_WINDOW {
        let reason = "the refresh retry window must be at most 60 s";
        return flaw("refresh_retry_window", reason);
    }
    if client.kind == ClientType::Service {
        return check_service(client);
    }
    check_redirect_uris(&client.redirect_uris, client.kind, client.device_authorization)?;
    check_post_logout_redirect_uris(&client.post_logout_redirect_uris, client.kind)?;
    if client.refresh_cookie {
        check_refresh_cookie(client, issuer)?;
    }
    Ok(())
}

/// Fails if a client of this type, other than a service, cannot have these redirect URIs.
/// `device_authorization` is whether it may use the device authorization grant.
pub(crate) fn check_redirect_uris(
    uris: &[String],
    kind: ClientType,
    device_authorization: bool,
) -> Result<(), RegistrationFlaw> {
    // A device such as a television opens no browser.
    let least = usize::from(kind != ClientType::Native || !device_authorization);
    let flaw = |reason| RegistrationFlaw::of("redirect_uris", reason);
    if !(least..=MAX_REDIRECT_URIS).contains(&uris.len()) {
        return Err(flaw(format!(
            "a client has 1 to {MAX_REDIRECT_URIS} redirect URIs"
        )));
    }
    check_uris(uris, kind).map_err(flaw)
}

fn check_post_logout_redirect_uris(uris: &[String], kind: ClientType) -> Result<(), RegistrationFlaw> {
    let flaw = |reason| RegistrationFlaw::of("post_logout_redirect_uris", reason);
    if uris.len() > MAX_REDIRECT_URIS {
        return Err(flaw(format!(
            "a client has at most {MAX_REDIRECT_URIS} redirect URIs for after a logout"
        )));
    }
    check_uris(uris, kind).map_err(flaw)
}

/// Fails with a message about all of these URIs to which no client of this type may redirect.
fn check_uris(uris: &[String], kind: ClientType) -> Result<(), String> {
    let flaws = uris.iter().filter_map(|uri| {
        let flaw = redirect_uris::check(uri, kind).err()?;
        Some(format!("redirect URI {uri:?}: {flaw}"))
    });
    let flaws: Vec<String> = flaws.collect();
    match flaws.is_empty() {
        true => Ok(()),
        false => Err(flaws.join("; ")),
    }
}

/// Fails if a client cannot have its refresh tokens in a cookie: browsers send a `SameSite=Strict` cookie
/// only from pages of the same site.
fn check_refresh_cookie(client: &Client, issuer: &str) -> Result<(), RegistrationFlaw> {
    if client.kind != ClientType::Spa {
        let reason = "only a client of the type spa has its refresh token in a cookie";
        return Err(RegistrationFlaw::of("refresh_cookie", reason));
    }
    let other_site = |uri: &&String| !same_site::is_same_site(uri, issuer);
    match client.redirect_uris.iter().find(other_site) {
        None => Ok(()),
        Some(uri) => Err(RegistrationFlaw::without_member(format!(
            "redirect URI {uri:?}: it is not same-site with the issuer {issuer}, so browsers would not send the cookie of \
             the refresh token; serve the app below the same registrable domain and with the same scheme, or register it \
             without the cookie"
        ))),
    }
}

/// Fails if the keys of a client, or their place, are invalid.
fn check_keys(client: &Client) -> Result<(), RegistrationFlaw> {
    if client.has_keys() && !client.kind.is_confidential() {
        let reason = "only a client of the type web or service has keys";
        return Err(RegistrationFlaw::of("jwks", reason));
    }
    if client.jwks.is_some() && client.jwks_uri.is_some() {
        let reason = "a client has a JWK set or a jwks_uri, not both";
        return Err(RegistrationFlaw::without_member(reason));
    }
    let checked = client.jwks.as_ref().map_or(Ok(()), jwks::check);
    checked.map_err(|reason| RegistrationFlaw::of("jwks", reason))
}

/// Fails if the registration of a service is invalid.
fn check_service(client: &Client) -> Result<(), RegistrationFlaw> {
    let flaw = |member, reason: &str| Err(RegistrationFlaw::of(member, reason));
    let flaw_of_several = |reason: &str| Err(RegistrationFlaw::without_member(reason));
    if !client.redirect_uris.is_empty() {
        let reason = "a service has no redirect URI, because it does not sign users in";
        return flaw("redirect_uris", reason);
    }
    if !client.post_logout_redirect_uris.is_empty() || client.backchannel_logout_uri.is_some() {
        return flaw_of_several("a service has no URI for logouts, because it does not sign users in");
    }
    if ["openid", "profile", "email"]
        .iter()
        .any(|name| client.scope.contains(name))
    {
        let reason = "a service cannot have the scopes openid, profile and email, which are about users";
        return flaw("scope", reason);
    }
    if client.refresh_cookie || !client.refresh_retry_window.is_zero() {
        return flaw_of_several(
            "a service has no refresh token, and so no cookie and no retry window for it",
        );
    }
    if client.require_pushed_authorization_requests {
        return flaw(
            "require_pushed_authorization_requests",
            "a service pushes no authorization request, because it does not sign users in",
        );
    }
    if client.scope.contains("admin") {
        let reason = "a service cannot have the scope admin, which is for administrators only";
        return flaw("scope", reason);
    }
    Ok(())
}
