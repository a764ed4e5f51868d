//! The issuer's HTTP server, settings and commands. Its domain is the crate `issuer`.

mod app;
pub mod cli;
pub mod demo_clients;
pub mod doctor;
mod housekeeping;
mod http;
pub mod installation;
pub mod pages;
mod paths;
pub mod restored;
mod router;
pub mod settings;

pub use issuer::{clients, statements};

use access_tokens::Verifier;
use app::{App, Services};
use audit::alerts;
use foundation::clock;
use foundation::settings::InvalidSetting;
use futures_util::future::LocalBoxFuture;
use http::admin::event_stream::MAX_STREAMS;
use http_client::{Guard, GuardedClient, error_chain};
use identity::administrators;
use identity::clients::Clients;
use identity::passkeys::RelyingParty;
use issuer::backchannel_logout::LogoutDelivery;
use issuer::clients::documents::{DocumentServices, Documents};
use issuer::clients::published_keys::PublishedKeys;
use issuer::grants::DeviceAuthorization;
use issuer::keys::{self, Fetches, KeyRotation, KeyStore, MasterKeys, installation_secret};
use issuer::long_requests::LongRequests;
use issuer::refresh_tokens::RefreshTokens;
use issuer::registrations::Registrations;
use issuer::{flows, grants};
use mail::Delivery;
use runtime::startup::{self, Runtime};
use settings::DeviceAuthorizationMode;
use std::sync::Arc;
use storage::outbox;
use tokio::sync::Semaphore;
use utoipa_axum::router::OpenApiRouter;
use web::health::{Dependency, Health};

/// The issuer, ready to serve.
pub struct Issuer(App);

impl Issuer {
    /// Migrates the schema, opens the installation secret and the signing keys (generating missing ones), and
    /// starts the background tasks: key rotation, housekeeping, alerts and mail delivery. In production it
    /// disables the clients of a trial. Fails if a setting is invalid, neither of the master keys opens the
    /// secret and the keys, or the database does not answer.
    pub fn open<'a>(
        runtime: &'a Runtime,
        settings: &'a settings::IssuerSettings,
        master_keys: MasterKeys,
    ) -> LocalBoxFuture<'a, Result<Self, startup::Error>> {
        // Boxed, so that the compiler makes its only copy in this crate.
        Box::pin(async move {
            let brand = Arc::new(settings.brand.brand()?);
            let identity = runtime.identity.clone();
            let db = &identity.db;
            let delivery = Delivery {
                db: db.clone(),
                mails: identity.mails.clone(),
                transport: settings.mail.transport(&runtime.data_dir)?,
                from: settings.mail.sender(&runtime.urls.issuer),
            };
            db.migrate().await?;
            identity.revocations.maintain_list();
            let secret = installation_secret::open(db, &master_keys)
                .await
                .map_err(startup_error)?;
            let rotation = KeyRotation {
                store: KeyStore {
                    db: db.clone(),
                    master_keys,
                    bits: settings.signing_keys.key_bits,
                    max_age: settings.signing_keys.jwks_max_age,
                    lifetime: settings.signing_keys.signing_key_lifetime,
                    notifications: runtime.notifications.clone(),
                    revocations: identity.revocations.clone(),
                },
                clock: runtime.clock.clone(),
            };
            let key_store = rotation.store.clone();
            let keys = rotation.open().await.map_err(startup_error)?;
            tokio::spawn(rotation.run(keys.clone()));
            if runtime.is_production {
                demo_clients::disable_unchanged(runtime).await?;
            }
            let clock = &runtime.clock;
            let events_kept = settings.alerts.events_kept;
            tokio::spawn(housekeeping::run(db.clone(), clock.clone(), events_kept));
            let (detection_db, webhook_db) = (db.clone(), db.clone());
            let detection = move || alerts::detection::follow(detection_db.clone());
            tokio::spawn(clock.clone().run(detection));
            if let Some(webhook) = settings.alerts.webhook()? {
                tokio::spawn(clock.clone().run(move || webhook.clone().run(webhook_db.clone())));
            }
            tokio::spawn(clock.clone().run(move || outbox::run(delivery.clone())));
            let http = guarded_client(&runtime.urls.issuer)?;
            let clients = Clients::new(db.clone());
            let logout = LogoutDelivery {
                db: db.clone(),
                clients: clients.clone(),
                http: http.clone(),
                keys: keys.clone(),
                issuer: runtime.urls.issuer.clone(),
                clock: clock.clone(),
            };
            tokio::spawn(clock.clone().run(move || outbox::run(logout.clone())));
            let has_devices = settings.device_authorization == DeviceAuthorizationMode::On;
            let device_authorization =
                has_devices.then(|| DeviceAuthorization::new(&secret, identity.expiring.clone()));
            let documents = Documents::new(DocumentServices {
                hosts: settings.client_id_metadata_documents.clone(),
                http: http.clone(),
                db: db.clone(),
                clients: clients.clone(),
                revocations: identity.revocations.clone(),
                store: identity.expiring.clone(),
                issuer: runtime.urls.issuer.clone(),
            });
            let key_set_fetches = Fetches::default();
            tokio::spawn(key_set_fetches.clone().store(db.clone()));
            let relying_party = RelyingParty::new(brand.name(), &runtime.policy.base_url).map(Arc::new);
            let grants = grants::Grants {
                db: db.clone(),
                clients,
                published_keys: PublishedKeys::new(http),
                revocations: identity.revocations.clone(),
                events: identity.events.clone(),
                refresh_tokens: RefreshTokens::new(&secret),
                verifier: Verifier::new(
                    keys.clone(),
                    identity.revocations.clone(),
                    runtime.urls.issuer.clone(),
                    runtime.urls.audience.clone(),
                ),
                keys,
                key_set_fetches,
                proofs: runtime.proofs.clone(),
                issuer: runtime.urls.issuer.clone(),
                audience: runtime.urls.audience.clone(),
                base_url: runtime.policy.url(""),
                lifetimes: settings.lifetimes(),
                session_lifetime: identity.session_lifetimes.absolute,
                pushed_requests: settings.pushed_authorization_requests,
                device_authorization,
                assertion_audience: settings.client_assertion_audience,
                documents,
            };
            let registrations = Registrations::new(
                db.clone(),
                settings.client_registration,
                runtime.urls.issuer.clone(),
                identity.revocations.clone(),
                identity.events.clone(),
                identity.expiring.clone(),
            );
            Ok(Self(App::new(Services {
                flows: flows::Flows {
                    key: secret,
                    db: identity.db.clone(),
                    long_requests: LongRequests {
                        db: identity.db.clone(),
                        expiring: identity.expiring.clone(),
                    },
                },
                identity,
                policy: Arc::clone(&runtime.policy),
                cors: runtime.cors.clone(),
                rate_limiter: runtime.rate_limiter.clone(),
                grants: Arc::new(grants),
                keys: key_store,
                registrations: Arc::new(registrations),
                brand,
                relying_party,
                event_streams: Arc::new(Semaphore::new(MAX_STREAMS)),
                is_production: runtime.is_production,
            })))
        })
    }

    /// Adds the readiness check of the issuer: a key can sign tokens. Optional, because all replicas lack
    /// such a key at once.
    pub fn add_health_checks(&self, health: Health) -> Health {
        let grants = Arc::clone(&self.0.grants);
        health.with(Dependency::Optional, "token_signing", move || {
            let signer = grants.keys.signer(clock::now());
            std::future::ready(signer.map(drop).map_err(|error| error.to_string()))
        })
    }

    /// Returns the branding of the pages.
    pub fn brand(&self) -> Arc<pages::Brand> {
        Arc::clone(&self.0.brand)
    }

    /// Returns the issuer's routes.
    pub fn routes(self) -> OpenApiRouter {
        router::router(self.0)
    }
}

/// Returns the client that calls the URLs of apps. An issuer on loopback may call apps there.
fn guarded_client(issuer: &str) -> Result<GuardedClient, startup::Error> {
    let client = GuardedClient::new(Guard::of_server(issuer));
    client.map_err(|error| startup::Error::Other(error_chain(error)))
}

/// Converts an error of the signing keys into an error of the program. A wrong master key is an invalid
/// setting.
fn startup_error(error: keys::Error) -> startup::Error {
    match error {
        keys::Error::Sealed(_) => startup::Error::InvalidSetting(InvalidSetting(error.to_string())),
        keys::Error::Database(error) | keys::Error::Administrator(administrators::Error::Database(error)) => {
            startup::Error::Database(error)
        }
        other => startup::Error::Other(other.to_string()),
    }
}
