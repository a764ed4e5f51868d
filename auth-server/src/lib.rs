//! The issuer's HTTP server, settings and commands. Its domain is the crate `issuer`.

mod app;
pub mod cli;
pub mod config;
mod housekeeping;
mod http;
pub mod pages;
mod router;

pub use issuer::{clients, statements};

use app::App;
use issuer::keys::{self, KeyRotation, KeyStore};
use issuer::refresh_tokens::RefreshTokens;
use issuer::{flows, grants, params, token_error as error};
use shared::alerts;
use shared::config::Invalid;
use shared::mail::Delivery;
use shared::seal::SealingKey;
use shared::start::{self, Ground};
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;

/// The issuer, ready to serve.
pub struct Issuer(App);

impl Issuer {
    /// Migrates the schema, opens the signing keys (generating missing ones), and starts the background tasks:
    /// key rotation, housekeeping, alerts and mail delivery.
    pub async fn open(
        ground: &Ground,
        settings: &config::Settings,
        master_key: SealingKey,
    ) -> Result<Self, start::Error> {
        let identity = ground.identity.clone();
        let db = &identity.db;
        let delivery = Delivery {
            db: db.clone(),
            mails: identity.mails.clone(),
            post: settings.mail.transport(&ground.data_dir)?,
            from: settings.mail.sender(&ground.urls.issuer),
        };
        db.migrate().await?;
        let rotation = KeyRotation {
            store: KeyStore {
                db: db.clone(),
                master_key: master_key.clone(),
                bits: settings.signing_keys.key_bits,
                max_age: settings.signing_keys.jwks_max_age,
                notifications: ground.feed.clone(),
            },
            lifetime: settings.signing_keys.signing_key_lifetime,
        };
        let keys = rotation.open().await.map_err(startup_error)?;
        tokio::spawn(rotation.run(keys.clone()));
        tokio::spawn(housekeeping::run(db.clone(), settings.alerts.events_kept));
        tokio::spawn(alerts::watch::follow(db.clone()));
        if let Some(webhook) = settings.alerts.webhook()? {
            tokio::spawn(webhook.follow(db.clone()));
        }
        tokio::spawn(delivery.run());
        let grants = grants::Grants {
            db: db.clone(),
            revocations: identity.revocations.clone(),
            refresh_tokens: RefreshTokens::new(&master_key),
            keys,
            issuer: ground.urls.issuer.clone(),
            audience: ground.urls.audience.clone(),
            lifetimes: settings.lifetimes(),
        };
        Ok(Self(App {
            flows: flows::Flows {
                key: master_key,
                store: identity.ephemeral.clone(),
            },
            identity,
            policy: Arc::clone(&ground.policy),
            cors: ground.cors.clone(),
            limits: ground.limits.clone(),
            grants: Arc::new(grants),
        }))
    }

    /// Returns the issuer's routes.
    pub fn routes(self) -> OpenApiRouter {
        router::router(self.0)
    }
}

/// Reports an error of the signing keys as one of the program. A wrong master key is an invalid setting.
fn startup_error(error: keys::Error) -> start::Error {
    match error {
        keys::Error::Sealed(_) => start::Error::Invalid(Invalid(error.to_string())),
        keys::Error::Database(error) => start::Error::Database(error),
        other => start::Error::Other(other.to_string()),
    }
}
