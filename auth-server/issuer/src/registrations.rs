//! Dynamic client registration (RFC 7591): clients register themselves, and manage their registration (RFC
//! 7592).

mod client_information;
mod error;
pub mod initial_tokens;
mod limits;
mod management;

pub use client_information::{ClientInformation, RegisteredMetadata};
pub use error::Error;

use crate::clients::metadata::{AuthMethod, UNUSED_LIFETIME};
use crate::clients::{ClientMetadata, MetadataError, Registration};
use audit::events::{Event, EventName, EventRecorder};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::random;
use foundation::secret::Secret;
use identity::clients::{Client, ClientOrigin, ClientType};
use limits::Limits;
use revocation::RevocationMirror;
use storage::db::Db;
use storage::expiring::ExpiringStore;

/// The callers that may register clients at the registration endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ClientRegistration {
    /// Nobody.
    Off,
    /// Those with an initial access token.
    Token,
    /// Anybody, within limits.
    Open,
}

/// The registrations of clients by themselves.
#[derive(Debug)]
pub struct Registrations {
    /// The database of clients and initial access tokens.
    pub db: Db,
    /// The callers that may register clients.
    pub policy: ClientRegistration,
    issuer: String,
    revocations: RevocationMirror,
    events: EventRecorder,
    limits: Limits,
}

/// A client that has just registered itself, with its credentials, which are shown once.
struct NewClient {
    client: Client,
    secret: Option<Secret>,
    access_token: Secret,
}

impl Registrations {
    /// Returns the registrations at the issuer with the URL `issuer`. `expiring` counts those of each
    /// network.
    pub fn new(
        db: Db,
        policy: ClientRegistration,
        issuer: String,
        revocations: RevocationMirror,
        events: EventRecorder,
        expiring: ExpiringStore,
    ) -> Self {
        Self {
            db,
            policy,
            issuer,
            revocations,
            events,
            limits: Limits::new(expiring),
        }
    }

    /// Registers the client that the JSON object `metadata` describes (RFC 7591 §3.1), and records the event.
    /// With an initial access token, one of its uses is used up. Without one, the limits for anybody apply.
    /// Fails if the token or the metadata are not acceptable, or a limit is reached; nothing is then used up.
    pub async fn register(
        &self,
        metadata: &[u8],
        initial_token: Option<&Secret>,
        context: &RequestContext,
    ) -> Result<ClientInformation, Error> {
        let new = self.read(metadata, initial_token.is_some(), context.now);
        let (mut tx, new, detail) = match initial_token {
            Some(token) => {
                let mut tx = self.db.begin().await?;
                let claimed = initial_tokens::claim(&mut tx, token, context.now).await?;
                let id = claimed.ok_or(Error::InvalidToken)?;
                (tx, new?, format!("with the initial access token {id}"))
            }
            None => {
                let new = new?;
                self.limits.take(&self.db, context).await?;
                (self.db.begin().await?, new, "without a token".to_owned())
            }
        };
        let client = &new.client;
        identity::clients::create(&mut tx, client).await?;
        let event = Event::success(EventName::ClientCreated).client(&client.id);
        event.detail(detail).record(&mut tx, context).await?;
        tx.commit().await?;
        let (token, secret) = (&new.access_token, new.secret.as_ref().map(Secret::expose));
        Ok(ClientInformation::new(client, &self.issuer, token, secret))
    }

    /// Returns the client that the metadata describe. Fails if they break a rule, or if they describe a
    /// service without an initial access token: no user ever agrees to the tokens of a service.
    fn read(&self, metadata: &[u8], has_token: bool, now: Timestamp) -> Result<NewClient, Error> {
        let metadata = ClientMetadata::parse(metadata)?;
        let (registration, method) = metadata.into_registration(random::uuid(), &self.issuer)?;
        if registration.kind == ClientType::Service && !has_token {
            let reason = "a client of the grant type client_credentials needs an initial access token of an administrator";
            return Err(MetadataError::Invalid(reason.to_owned()).into());
        }
        let (client, secret) = self.checked(registration, method, now)?;
        let access_token = random::token();
        let client = Client {
            unused_until: Some(now.after(UNUSED_LIFETIME)),
            registration_token_hash: Some(access_token.hash()),
            ..client
        };
        Ok(NewClient {
            client,
            secret,
            access_token,
        })
    }

    /// Returns the client of a registration and, if it needs one, a new secret. Fails if the registration
    /// breaks a rule.
    fn checked(
        &self,
        registration: Registration,
        method: AuthMethod,
        now: Timestamp,
    ) -> Result<(Client, Option<Secret>), MetadataError> {
        let (client, secret) = registration
            .into_client(&self.issuer, now)
            .map_err(|flaw| MetadataError::Invalid(flaw.reason))?;
        let client = Client {
            origin: ClientOrigin::Registration,
            token_endpoint_auth_method: Some(method.as_str().to_owned()),
            ..client
        };
        Ok((client, secret))
    }
}
