//! Clients: their registration and its changes, their redirect URIs and their authentication.

pub mod assertions;
mod changes;
mod jwks;
pub mod published_keys;
mod redirect_uris;
mod same_site;

pub use changes::{ClientChanges, MAX_OVERLAP, disable, enable, rotate_secret, update};
pub use jwks::{ALGORITHMS, MAX_JWKS_BYTES};

use audit::events::{Event, EventName};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::random;
use foundation::scope;
use foundation::scope::Scope;
use foundation::secret::Secret;
use http_client::ForeignUrl;
use identity::grants::clients;
use identity::grants::clients::secrets::Secrets;
use identity::grants::clients::{Client, ClientType, Clients};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use storage::db;
use storage::db::Db;
use utoipa::ToSchema;

/// The most redirect URIs of one client.
const MAX_REDIRECT_URIS: usize = 20;

/// The longest time in which a refresh can be repeated.
pub const MAX_RETRY_WINDOW: Duration = Duration::from_secs(60);
/// The same time for a client whose refresh token is in a cookie, unless the registration names another: the tabs of a browser
/// share the cookie and may refresh at the same moment.
const COOKIE_RETRY_WINDOW: Duration = Duration::from_secs(10);

/// A client to register.
#[derive(Clone, Debug, ToSchema)]
#[schema(as = ClientRegistration)]
pub struct Registration {
    /// `client_id`.
    pub id: String,
    /// The name on the consent page.
    pub name: String,
    /// The type of client.
    #[schema(rename = "type")]
    pub kind: ClientType,
    /// The registered redirect URIs.
    #[schema(required = false)]
    pub redirect_uris: Vec<String>,
    /// The scope that the client may request.
    pub scope: Scope,
    /// The scope of a request that names no scope. If unset, the part of [`scope::DEFAULT`] that is in `scope`, or all
    /// of `scope` if there is no such part.
    #[schema(nullable = false)]
    pub default_scope: Option<Scope>,
    /// Whether the operator of this issuer runs the client, rather than a third party.
    #[schema(required = false)]
    pub first_party: bool,
    /// Whether a browser keeps the refresh tokens of the client, a single-page app, in a cookie.
    #[schema(required = false)]
    pub refresh_cookie: bool,
    /// The time after a refresh in which it can be repeated, in whole seconds. If unset, 10 s with a cookie, otherwise zero.
    #[schema(value_type = i64, required = false, minimum = 0, maximum = 60)]
    pub refresh_retry_window: Option<Duration>,
    /// The public keys with which a confidential client authenticates, in place of a secret: a JWK set.
    #[schema(value_type = Object, required = false)]
    pub jwks: Option<Value>,
    /// The URL of such a JWK set, in place of `jwks`.
    #[schema(value_type = String, format = "uri", required = false)]
    pub jwks_uri: Option<ForeignUrl>,
}

/// A client, and the secret that was generated for it just now. Serializes as the client with one more member.
#[derive(Serialize, ToSchema)]
pub struct ClientWithSecret<'a> {
    /// The client.
    #[serde(flatten)]
    pub client: &'a Client,
    /// The new secret of a client that has secrets. It is shown once, and only its hash is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub client_secret: Option<&'a str>,
}

/// The reason why a client was not registered or changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A value of the registration is invalid.
    #[error("{0}")]
    Invalid(String),
    /// The id is taken.
    #[error("a client with the id {0:?} already exists")]
    Taken(String),
    /// No client has the id.
    #[error("no client has the id {0:?}")]
    NotFound(String),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// Registers a client of the issuer with the URL `issuer`. Returns the client and, if it is confidential, its new secret, of
/// which only a hash is stored. Fails if the registration is invalid or the id is taken.
pub async fn register(
    db: &Db,
    issuer: &str,
    registration: Registration,
    context: &RequestContext,
) -> Result<(Client, Option<Secret>), Error> {
    let (client, secret) = registration.into_client(issuer, context.now)?;
    let mut tx = db.begin().await?;
    match clients::create(&mut tx, &client).await {
        Err(db::Error::Conflict) => return Err(Error::Taken(client.id)),
        done => done?,
    }
    Event::success(EventName::ClientCreated)
        .client(&client.id)
        .record(&mut tx, context)
        .await?;
    tx.commit().await?;
    Ok((client, secret))
}

/// Returns whether `redirect_uri` matches a registered one; the port of a loopback address may differ.
pub(crate) fn may_redirect_to(client: &Client, redirect_uri: &str) -> bool {
    let mut registered = client.redirect_uris.iter();
    registered.any(|registered| redirect_uris::matches(registered, redirect_uri))
}

/// Returns the client with this id if it is enabled and authenticated: a confidential client must present a valid secret, a
/// public client none. Records the use of the secret. Comparing a secret takes the same time for an unknown client.
pub async fn authenticate(
    clients: &Clients,
    id: &str,
    presented: Option<&str>,
    now: Timestamp,
) -> Result<Option<Arc<Client>>, db::Error> {
    let client = clients.find(id).await?;
    let found = client.as_deref();
    let is_authentic = match presented {
        None => found.is_some_and(|client| !client.kind.is_confidential()),
        Some(presented) => {
            let no_secrets = Secrets::default();
            let secrets = found.map_or(&no_secrets, |client| &client.secrets);
            let secret = secrets.find_valid(presented, now);
            if let (Some(client), Some(secret)) = (found, secret) {
                clients.record_use(client, secret, now);
            }
            secret.is_some()
        }
    };
    Ok(client.filter(|client| is_authentic && client.disabled_at.is_none()))
}

impl<'a> ClientWithSecret<'a> {
    /// Returns the client with the secret that [`register`] or [`rotate_secret`] returned.
    pub fn new(client: &'a Client, secret: Option<&'a Secret>) -> Self {
        Self {
            client,
            client_secret: secret.map(Secret::expose),
        }
    }
}

impl Registration {
    /// Checks the registration. Returns the client and, if it is confidential, its new secret.
    fn into_client(self, issuer: &str, now: Timestamp) -> Result<(Client, Option<Secret>), Error> {
        let (secrets, secret) =
            match self.kind.is_confidential() && self.jwks.is_none() && self.jwks_uri.is_none() {
                true => {
                    let (secrets, secret) = Secrets::generate(now);
                    (secrets, Some(secret))
                }
                false => (Secrets::default(), None),
            };
        let client = Client {
            default_scope: self.default_scope.unwrap_or_else(|| default_part(&self.scope)),
            id: self.id,
            name: self.name,
            kind: self.kind,
            secrets,
            jwks: self.jwks,
            jwks_uri: self.jwks_uri.map(String::from),
            redirect_uris: self.redirect_uris,
            scope: self.scope,
            first_party: self.first_party,
            refresh_cookie: self.refresh_cookie,
            refresh_retry_window: self.refresh_retry_window.unwrap_or(match self.refresh_cookie {
                true => COOKIE_RETRY_WINDOW,
                false => Duration::ZERO,
            }),
            grant_id: random::id(),
            created_at: now,
            disabled_at: None,
        };
        check(&client, issuer).map_err(Error::Invalid)?;
        Ok((client, secret))
    }
}

/// Fails with a message if the registration of a client is invalid.
fn check(client: &Client, issuer: &str) -> Result<(), String> {
    let id = &client.id;
    let is_id_char = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    if id.is_empty() || id.len() > 64 || !id.chars().all(is_id_char) {
        return Err(format!(
            "the id {id:?} must have 1 to 64 ASCII letters, digits, - . or _"
        ));
    }
    if id.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("the id must not consist of digits only: those are ids of users".to_owned());
    }
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
    if client.refresh_retry_window > MAX_RETRY_WINDOW {
        return Err("the refresh retry window must be at most 60 s".to_owned());
    }
    if client.kind == ClientType::Service {
        return check_service(client);
    }
    if client.redirect_uris.is_empty() || client.redirect_uris.len() > MAX_REDIRECT_URIS {
        return Err(format!("a client has 1 to {MAX_REDIRECT_URIS} redirect URIs"));
    }
    client.redirect_uris.iter().try_for_each(|uri| {
        redirect_uris::check(uri, client.kind).map_err(|flaw| format!("redirect URI {uri:?}: {flaw}"))
    })?;
    if client.refresh_cookie {
        check_refresh_cookie(client, issuer)?;
    }
    Ok(())
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
    if !client.redirect_uris.is_empty() {
        return Err("a service has no redirect URI, because it does not sign users in".to_owned());
    }
    if client.refresh_cookie || !client.refresh_retry_window.is_zero() {
        return Err("a service has no refresh token, and so no cookie and no retry window for it".to_owned());
    }
    if client.scope.contains("admin") {
        return Err("a service cannot have the scope admin, which is for administrators only".to_owned());
    }
    Ok(())
}

/// Returns the part of a scope that is in [`scope::DEFAULT`], or all of it if there is no such part.
fn default_part(scope: &Scope) -> Scope {
    let default: Scope = scope::DEFAULT.parse().unwrap_or_default();
    let part = scope.intersection(default);
    if part.is_empty() { *scope } else { part }
}
