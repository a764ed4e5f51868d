//! Changes of registered clients. The row of the client is locked from its reading to the commit, so that
//! concurrent changes do not overwrite each other.

use super::registration::{COOKIE_RETRY_WINDOW, default_part};
use super::{Error, RegistrationFlaw, differences, rules};
use audit::events::{Event, EventName};
use foundation::context::RequestContext;
use foundation::scope::Scope;
use foundation::secret::Secret;
use http_client::ForeignUrl;
use identity::administrators::begin;
use identity::clients::{self, Client, secret_rotation};
use identity::refresh_families;
use revocation::{RevocationMirror, RevokingTx};
use serde_json::Value;
use std::time::Duration;
use storage::db::{self, Db, Tx};
use utoipa::ToSchema;

/// The time for which two secrets of a client are valid after a rotation that names no other time.
pub const DEFAULT_OVERLAP: Duration = Duration::from_secs(24 * 3600);

/// The longest time for which two secrets of a client can be valid.
pub const MAX_OVERLAP: Duration = Duration::from_secs(30 * 24 * 3600);

/// The changes of a registration. An absent field changes nothing.
#[derive(Clone, Debug, Default, ToSchema)]
pub struct ClientChanges {
    /// The name on the consent page.
    #[schema(nullable = false)]
    pub name: Option<String>,
    /// The redirect URIs, which replace all present ones.
    #[schema(nullable = false)]
    pub redirect_uris: Option<Vec<String>>,
    /// The URIs to which the browser may return after a logout, which replace all present ones.
    #[schema(nullable = false)]
    pub post_logout_redirect_uris: Option<Vec<String>>,
    /// The URL that gets logout tokens; `Some(None)`, in a request an empty text, removes it.
    #[schema(value_type = String, required = false)]
    pub backchannel_logout_uri: Option<Option<ForeignUrl>>,
    /// The scope that the client may request.
    #[schema(nullable = false)]
    pub scope: Option<Scope>,
    /// The scope of a request that names no scope. If unset, the present one as far as it is part of the new
    /// scope.
    #[schema(nullable = false)]
    pub default_scope: Option<Scope>,
    /// Whether the operator of this issuer runs the client, rather than a third party.
    #[schema(nullable = false)]
    pub first_party: Option<bool>,
    /// Whether a browser keeps the refresh tokens of the client in a cookie. Tokens that were issued in the
    /// other way end with their lifetimes.
    #[schema(nullable = false)]
    pub refresh_cookie: Option<bool>,
    /// The time after a refresh in which it can be repeated, in whole seconds. If unset, a client that gets
    /// the cookie and has no such time gets 10 s.
    #[schema(value_type = i64, required = false, minimum = 0, maximum = 60)]
    pub refresh_retry_window: Option<Duration>,
    /// The JWK set that replaces the present one or the present `jwks_uri`. Only for a client that was
    /// registered with keys.
    #[schema(value_type = Object, required = false)]
    pub jwks: Option<Value>,
    /// The URL of the keys, which replaces the present one or the present JWK set. Only for a client that was
    /// registered with keys.
    #[schema(value_type = String, format = "uri", required = false)]
    pub jwks_uri: Option<ForeignUrl>,
    /// Whether the client must push its authorization requests (RFC 9126 §6).
    #[schema(nullable = false)]
    pub require_pushed_authorization_requests: Option<bool>,
    /// Whether the client gets only access tokens that are bound to a key. Access tokens that are not end
    /// with their lifetimes.
    #[schema(nullable = false)]
    pub dpop_bound_access_tokens: Option<bool>,
    /// Whether the client may use the device authorization grant (RFC 8628).
    #[schema(nullable = false)]
    pub device_authorization: Option<bool>,
}

/// Disables a client, so that it can neither begin a flow nor authenticate, and ends its codes, refresh
/// tokens and access tokens. Returns the client. No effect on a disabled client. Fails if there is no client
/// with this id.
pub async fn disable(
    db: &Db,
    revocations: &RevocationMirror,
    id: &str,
    context: &RequestContext,
) -> Result<Client, Error> {
    let mut tx = RevokingTx::new(begin(db, context).await?, revocations);
    let mut client = lock(&mut tx, id).await?;
    if client.disabled_at.is_some() {
        return Ok(client);
    }
    client.disabled_at = Some(context.now);
    end_tokens(&mut tx, &mut client, context).await?;
    save(&mut tx, &client, EventName::ClientDisabled, context).await?;
    tx.commit().await?;
    Ok(client)
}

/// Enables a client again. The tokens that ended when it was disabled stay revoked. Returns the client. No
/// effect on an enabled client. Fails if there is no client with this id.
pub async fn enable(db: &Db, id: &str, context: &RequestContext) -> Result<Client, Error> {
    let mut tx = begin(db, context).await?;
    let mut client = lock(&mut tx, id).await?;
    if client.disabled_at.take().is_some() {
        save(&mut tx, &client, EventName::ClientEnabled, context).await?;
        tx.commit().await?;
    }
    Ok(client)
}

/// Changes the registration of a client of the issuer with the URL `issuer` and returns the client. If its
/// scope loses a part, its codes, refresh tokens and access tokens end, because they may hold that part. The
/// event has the former and the present values. Fails if the changed registration is invalid, or if there is
/// no client with this id.
pub async fn update(
    db: &Db,
    revocations: &RevocationMirror,
    issuer: &str,
    id: &str,
    changes: ClientChanges,
    context: &RequestContext,
) -> Result<Client, Error> {
    let mut tx = RevokingTx::new(begin(db, context).await?, revocations);
    let former = lock(&mut tx, id).await?;
    if former.has_document() {
        let reason =
            "this client describes itself by the document at its id: the document must be edited instead";
        return Err(RegistrationFlaw::without_member(reason).into());
    }
    if (changes.jwks.is_some() || changes.jwks_uri.is_some()) && !former.has_keys() {
        let reason = "only a client that was registered with keys can get other keys";
        return Err(RegistrationFlaw::without_member(reason).into());
    }
    let mut client = former.clone();
    changes.apply(&mut client);
    rules::check(&client, issuer)?;
    if !client.scope.covers(former.scope) {
        end_tokens(&mut tx, &mut client, context).await?;
    }
    clients::save(&mut tx, &client).await?;
    let event = differences::event(&former, &client);
    event.record(&mut tx, context).await?;
    tx.commit().await?;
    Ok(client)
}

/// Gives a confidential client a new secret. The former one stays valid for the time `overlap`, and no longer
/// if there is another rotation within that time. Returns the client and the new secret, of which only a hash
/// is stored. Fails if the client is public, or if there is no client with this id.
pub async fn rotate_secret(
    db: &Db,
    id: &str,
    overlap: Duration,
    context: &RequestContext,
) -> Result<(Client, Secret), Error> {
    let mut tx = begin(db, context).await?;
    let Some(rotated) = secret_rotation::rotate(&mut tx, id, overlap, context.now).await? else {
        let client = lock(&mut tx, id).await?;
        let id = client.id;
        let reason = format!("the client {id:?} has no secret: it is public, or it has keys");
        return Err(RegistrationFlaw::without_member(reason).into());
    };
    let detail = match overlap.as_secs() {
        0 => "the former secret ended at once".to_owned(),
        seconds => format!("the former secret is valid for {seconds} s"),
    };
    let event = Event::success(EventName::ClientSecretRotated).client(id);
    event.detail(detail).record(&mut tx, context).await?;
    tx.commit().await?;
    Ok(rotated)
}

impl ClientChanges {
    fn apply(self, client: &mut Client) {
        if let Some(scope) = self.scope {
            let default_scope = scope.intersection(client.default_scope);
            client.scope = scope;
            client.default_scope = match default_scope.is_empty() {
                true => default_part(&scope),
                false => default_scope,
            };
        }
        client.default_scope = self.default_scope.unwrap_or(client.default_scope);
        client.name = self.name.unwrap_or_else(|| client.name.clone());
        client.redirect_uris = self.redirect_uris.unwrap_or_else(|| client.redirect_uris.clone());
        if let Some(uris) = self.post_logout_redirect_uris {
            client.post_logout_redirect_uris = uris;
        }
        if let Some(uri) = self.backchannel_logout_uri {
            client.backchannel_logout_uri = uri.map(String::from);
        }
        if self.jwks.is_some() || self.jwks_uri.is_some() {
            client.jwks = self.jwks;
            client.jwks_uri = self.jwks_uri.map(String::from);
        }
        client.first_party = self.first_party.unwrap_or(client.first_party);
        let had_cookie = client.refresh_cookie;
        client.refresh_cookie = self.refresh_cookie.unwrap_or(had_cookie);
        client.refresh_retry_window = match self.refresh_retry_window {
            Some(window) => window,
            None if client.refresh_cookie && !had_cookie && client.refresh_retry_window.is_zero() => {
                COOKIE_RETRY_WINDOW
            }
            None => client.refresh_retry_window,
        };
        if let Some(required) = self.require_pushed_authorization_requests {
            client.require_pushed_authorization_requests = required;
        }
        let dpop_bound = self.dpop_bound_access_tokens;
        client.dpop_bound_access_tokens = dpop_bound.unwrap_or(client.dpop_bound_access_tokens);
        client.device_authorization = self.device_authorization.unwrap_or(client.device_authorization);
    }
}

async fn lock(tx: &mut Tx, id: &str) -> Result<Client, Error> {
    let client = clients::lock(tx, id).await?;
    client.ok_or_else(|| Error::NotFound(id.to_owned()))
}

/// Stores a changed client, which the caller has locked, and records the event.
async fn save(
    tx: &mut Tx,
    client: &Client,
    event: EventName,
    context: &RequestContext,
) -> Result<(), db::Error> {
    clients::save(tx, client).await?;
    Event::success(event).client(&client.id).record(tx, context).await
}

/// Ends every code, refresh token and access token of a client. The caller has locked the client and saves it
/// afterwards.
pub(crate) async fn end_tokens(
    tx: &mut RevokingTx,
    client: &mut Client,
    context: &RequestContext,
) -> Result<(), db::Error> {
    let ended = client.epoch;
    client.epoch += 1;
    refresh_families::revoke_all_of_client(tx, &client.id, ended, context).await
}
