//! Clients: their registration and its changes, their redirect URIs and their authentication.

pub mod assertions;
mod changes;
pub mod documents;
mod jwks;
pub(crate) mod metadata;
pub mod published_keys;
pub mod redirect_uris;
mod rules;
mod same_site;

pub(crate) use changes::end_tokens;
pub use changes::{ClientChanges, DEFAULT_OVERLAP, MAX_OVERLAP, disable, enable, rotate_secret, update};
pub use jwks::{ALGORITHMS, MAX_JWKS_BYTES};
pub use metadata::{ClientMetadata, MetadataError};
pub(crate) use rules::check_redirect_uris;
pub use rules::{MAX_RETRY_WINDOW, RegistrationFlaw};

use audit::events::{Event, EventName};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::scope;
use foundation::scope::Scope;
use foundation::secret::Secret;
use http_client::ForeignUrl;
use identity::administrators;
use identity::grants::clients;
use identity::grants::clients::{Client, ClientOrigin, ClientType, Clients, Secrets};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use storage::db;
use storage::db::Db;
use utoipa::ToSchema;

/// The time in which a refresh can be repeated for a client whose refresh token is in a cookie, unless the
/// registration names another: the tabs of a browser share the cookie and may refresh at the same moment.
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
    /// The URIs to which the browser may return after a logout.
    #[schema(required = false)]
    pub post_logout_redirect_uris: Vec<String>,
    /// The URL that gets a logout token when a session of the client ends (OpenID Connect Back-Channel Logout
    /// 1.0).
    #[schema(value_type = String, format = "uri", required = false)]
    pub backchannel_logout_uri: Option<ForeignUrl>,
    /// The scope that the client may request.
    pub scope: Scope,
    /// The scope of a request that names no scope. If unset, the part of `posts:read profile:read` that is in
    /// `scope`, or all of `scope` if there is no such part.
    #[schema(nullable = false)]
    pub default_scope: Option<Scope>,
    /// Whether the operator of this issuer runs the client, rather than a third party.
    #[schema(required = false)]
    pub first_party: bool,
    /// Whether a browser keeps the refresh tokens of the client, a single-page app, in a cookie.
    #[schema(required = false)]
    pub refresh_cookie: bool,
    /// The time after a refresh in which it can be repeated, in whole seconds. If unset, 10 s with a cookie,
    /// otherwise zero.
    #[schema(value_type = i64, required = false, minimum = 0, maximum = 60)]
    pub refresh_retry_window: Option<Duration>,
    /// The public keys with which a confidential client authenticates, in place of a secret: a JWK set.
    #[schema(value_type = Object, required = false)]
    pub jwks: Option<Value>,
    /// The URL of such a JWK set, in place of `jwks`.
    #[schema(value_type = String, format = "uri", required = false)]
    pub jwks_uri: Option<ForeignUrl>,
    /// Whether the client must push its authorization requests (RFC 9126 §6).
    #[schema(required = false)]
    pub require_pushed_authorization_requests: bool,
    /// Whether the client gets only access tokens that are bound to a key (RFC 9449 §5.2).
    #[schema(required = false)]
    pub dpop_bound_access_tokens: bool,
    /// Whether the client may use the device authorization grant (RFC 8628). A native client that does may
    /// have no redirect URI.
    #[schema(required = false)]
    pub device_authorization: bool,
    /// Whether `/userinfo` answers the client with a signed JWT. Only clients that describe themselves choose
    /// it.
    #[schema(ignore)]
    pub signed_user_info: bool,
}

/// A client and, as one more member, the secret that was generated for it just now.
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
    /// The registration, or the change of it, breaks a rule.
    #[error(transparent)]
    Invalid(#[from] RegistrationFlaw),
    /// The id is taken.
    #[error("a client with the id {0:?} already exists")]
    Taken(String),
    /// No client has the id.
    #[error("no client has the id {0:?}")]
    NotFound(String),
    /// The administrator was signed out after the credentials of the call were checked.
    #[error("the administrator was signed out meanwhile")]
    AdministratorSignedOut,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

impl From<administrators::Error> for Error {
    fn from(error: administrators::Error) -> Self {
        match error {
            administrators::Error::SignedOut => Self::AdministratorSignedOut,
            administrators::Error::Database(error) => Self::Database(error),
        }
    }
}

/// Registers a client of the issuer with the URL `issuer`. Returns the client and, if it is confidential, its
/// new secret, of which only a hash is stored. Fails if the registration is invalid or the id is taken.
pub async fn register(
    db: &Db,
    issuer: &str,
    registration: Registration,
    context: &RequestContext,
) -> Result<(Client, Option<Secret>), Error> {
    let (client, secret) = registration.into_client(issuer, context.now)?;
    let mut tx = administrators::begin(db, context).await?;
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

/// Returns the registered redirect URI that `redirect_uri` matches; the port of `localhost` or of a loopback
/// address may differ.
pub(crate) fn registered_redirect_uri<'a>(client: &'a Client, redirect_uri: &str) -> Option<&'a str> {
    let mut registered = client.redirect_uris.iter().map(String::as_str);
    registered.find(|registered| redirect_uris::matches(registered, redirect_uri))
}

/// Returns the client with this id if it is enabled and authenticated: a confidential client must present a
/// valid secret, a public client none. Records the use of the secret. Comparing a secret takes the same time
/// for an unknown client.
pub async fn authenticate(
    clients: &Clients,
    id: &str,
    presented: Option<&str>,
    now: Timestamp,
) -> Result<Option<Arc<Client>>, db::Error> {
    let client = clients.find(id, now).await?;
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
    /// Fails with [`Error::Invalid`] if the issuer with the URL `issuer` would not register the client.
    pub fn check(&self, issuer: &str) -> Result<(), Error> {
        let (client, _) = self.clone().into_unchecked(Timestamp::from_micros(0));
        rules::check(&client, issuer).map_err(Error::Invalid)
    }

    /// Checks the registration by an administrator. Returns the client and, if it is confidential, its new
    /// secret.
    pub(crate) fn into_client(
        self,
        issuer: &str,
        now: Timestamp,
    ) -> Result<(Client, Option<Secret>), RegistrationFlaw> {
        let (client, secret) = self.into_unchecked(now);
        rules::check(&client, issuer)?;
        Ok((client, secret))
    }

    /// Returns the client of a registration that is still to be checked and, if it is confidential, its new
    /// secret.
    fn into_unchecked(self, now: Timestamp) -> (Client, Option<Secret>) {
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
            post_logout_redirect_uris: self.post_logout_redirect_uris,
            backchannel_logout_uri: self.backchannel_logout_uri.map(String::from),
            scope: self.scope,
            first_party: self.first_party,
            refresh_cookie: self.refresh_cookie,
            refresh_retry_window: self.refresh_retry_window.unwrap_or(match self.refresh_cookie {
                true => COOKIE_RETRY_WINDOW,
                false => Duration::ZERO,
            }),
            epoch: 0,
            created_at: now,
            disabled_at: None,
            require_pushed_authorization_requests: self.require_pushed_authorization_requests,
            dpop_bound_access_tokens: self.dpop_bound_access_tokens,
            device_authorization: self.device_authorization,
            signed_user_info: self.signed_user_info,
            origin: ClientOrigin::Administrator,
            unused_until: None,
            registration_token_hash: None,
            token_endpoint_auth_method: None,
            identity_changed_at: None,
        };
        (client, secret)
    }
}

/// Returns the part of a scope that is in [`scope::DEFAULT`], or all of it if there is no such part.
fn default_part(scope: &Scope) -> Scope {
    let default: Scope = scope::DEFAULT.parse().unwrap_or_default();
    let part = scope.intersection(default);
    if part.is_empty() { *scope } else { part }
}
