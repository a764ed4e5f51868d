//! The issuer: signs people in, asks their consent, gives apps tokens, publishes its keys.
//!
//! `http/` knows axum and never SQL; every other module knows SQL and never axum.

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

use flows::Flows;
use grants::Grants;
use keys::Keyring;
use refresh_tokens::RefreshTokens;
use router::App;
use shared::clock;
use shared::config::Invalid;
use shared::db::{Db, Error};
use shared::events::Context;
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
    /// Brings the schema up to date, opens the signing keys (made where missing), and begins to delete what
    /// has expired.
    pub async fn open(
        ground: &Ground,
        settings: &config::Settings,
        master_key: SealingKey,
    ) -> Result<Self, start::Error> {
        let identity = ground.identity.clone();
        identity.db.migrate().await?;
        let keys = Keyring::open(&identity.db, &master_key, settings.key_bits, &Context::shell()).await;
        let keys = keys.map_err(|error| match error {
            keys::Error::Sealed(_) => Invalid(error.to_string()).into(),
            other => start::Error::Other(other.to_string()),
        })?;
        tokio::spawn(keep_house(identity.db.clone()));
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

async fn keep_house(db: Db) {
    loop {
        if let Err(error) = sweep(&db).await {
            tracing::warn!(%error, "housekeeping failed");
        }
        tokio::time::sleep(HOUSEKEEPING).await;
    }
}

async fn sweep(db: &Db) -> Result<(), Error> {
    let now = clock::now();
    codes::prune(db, now).await?;
    shared::identity::sessions::prune(db, now).await?;
    shared::grants::families::prune(db, now).await?;
    shared::revocation::prune(db, now).await?;
    Ok(())
}
