//! The issuer: signs people in, asks their consent, gives apps tokens, publishes its keys.
//!
//! `http/` knows axum and never SQL; every other module knows SQL and never axum.

mod app;
pub mod cli;
pub mod clients;
mod codes;
pub mod config;
mod error;
mod flows;
mod grants;
mod http;
mod keys;
pub mod pages;
mod params;
mod pkce;
mod refresh_tokens;
mod router;

use app::App;
use flows::Flows;
use grants::Grants;
use keys::{KeyStore, Tender};
use refresh_tokens::RefreshTokens;
use shared::alerts;
use shared::clock;
use shared::db::{Db, Error};
use shared::mail::Delivery;
use shared::seal::SealingKey;
use shared::start::{self, Ground};
use std::sync::Arc;
use std::time::Duration;
use utoipa_axum::router::OpenApiRouter;

/// How often what has expired is deleted.
const HOUSEKEEPING: Duration = Duration::from_secs(60);

/// The issuer, ready to serve.
pub struct Issuer(App);

impl Issuer {
    /// Brings the schema up to date, opens the signing keys (made where missing), and begins to tend them, to
    /// send mails and to delete what has expired.
    pub async fn open(
        ground: &Ground,
        settings: &config::Settings,
        master_key: SealingKey,
    ) -> Result<Self, start::Error> {
        let identity = ground.identity.clone();
        let delivery = Delivery {
            db: identity.db.clone(),
            mails: identity.mails.clone(),
            post: settings.post(&ground.data_dir)?,
            from: settings.sender(&ground.urls.issuer),
        };
        identity.db.migrate().await?;
        let tender = Tender {
            store: KeyStore {
                db: identity.db.clone(),
                master_key: master_key.clone(),
                bits: settings.key_bits,
                max_age: settings.jwks_max_age,
                feed: ground.feed.clone(),
            },
            lifetime: settings.signing_key_lifetime,
        };
        let keys = tender.open().await?;
        tokio::spawn(tender.follow(keys.clone()));
        tokio::spawn(keep_house(identity.db.clone(), settings.alerting.events_kept));
        tokio::spawn(alerts::watch::follow(identity.db.clone()));
        if let Some(webhook) = settings.alerting.webhook()? {
            tokio::spawn(webhook.follow(identity.db.clone()));
        }
        tokio::spawn(delivery.run());
        let grants = Grants {
            db: identity.db.clone(),
            revocations: identity.revocations.clone(),
            refresh_tokens: RefreshTokens::new(&master_key),
            keys,
            issuer: ground.urls.issuer.clone(),
            audience: ground.urls.audience.clone(),
            lifetimes: settings.lifetimes(),
        };
        Ok(Self(App {
            flows: Flows {
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

    /// Its routes.
    pub fn routes(self) -> OpenApiRouter {
        router::router(self.0)
    }
}

/// Every statement of this crate with its name, for the test that prepares them.
pub fn statements() -> Vec<(&'static str, &'static str)> {
    [codes::STATEMENTS, keys::STATEMENTS].concat()
}

async fn keep_house(db: Db, events_kept: Duration) {
    loop {
        if let Err(error) = sweep(&db, events_kept).await {
            tracing::warn!(%error, "housekeeping failed");
        }
        tokio::time::sleep(HOUSEKEEPING).await;
    }
}

async fn sweep(db: &Db, events_kept: Duration) -> Result<(), Error> {
    let now = clock::now();
    codes::prune(db, now).await?;
    shared::identity::mailed_tokens::prune(db, now).await?;
    shared::identity::sessions::prune(db, now).await?;
    shared::grants::families::prune(db, now).await?;
    shared::revocation::prune(db, now).await?;
    shared::events::prune(db, events_kept, now).await?;
    alerts::prune(db, events_kept, now).await?;
    Ok(())
}
