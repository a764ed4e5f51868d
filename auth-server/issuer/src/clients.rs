//! Clients: their registration and its changes, their redirect URIs and their authentication.

pub mod assertions;
mod changes;
pub(crate) mod differences;
pub mod documents;
mod jwks;
pub(crate) mod metadata;
pub mod published_keys;
pub mod redirect_uris;
mod registration;
mod rules;
mod same_site;

pub(crate) use changes::end_tokens;
pub use changes::{ClientChanges, DEFAULT_OVERLAP, MAX_OVERLAP, disable, enable, rotate_secret, update};
pub use jwks::{ALGORITHMS, MAX_JWKS_BYTES};
pub use metadata::{ClientMetadata, MetadataError};
pub use registration::Registration;
pub(crate) use rules::check_redirect_uris;
pub use rules::{MAX_RETRY_WINDOW, RegistrationFlaw};

use audit::events::{Event, EventName};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::secret::Secret;
use identity::administrators;
use identity::clients::{self, Client, Clients, Secrets};
use serde::Serialize;
use std::sync::Arc;
use storage::db::{self, Db};
use utoipa::ToSchema;

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
    /// The administrator who calls was signed out meanwhile.
    #[error(transparent)]
    Administrator(#[from] administrators::Error),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
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
    let event = Event::success(EventName::ClientCreated).client(&client.id);
    event.record(&mut tx, context).await?;
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
