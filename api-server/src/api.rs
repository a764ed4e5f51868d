//! The API as a program runs it: on the ground that each program has, following the issuer's keys.

use crate::bearer::Verifier;
use crate::config::Settings;
use crate::http::metadata::Metadata;
use crate::idempotency::{self, Idempotency};
use crate::jwks::Jwks;
use crate::router::{App, router};
use shared::clock;
use shared::db::Db;
use shared::http::health::Health;
use shared::revocation::Mirror;
use shared::start::Ground;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use utoipa_axum::router::OpenApiRouter;

/// How often what has expired is deleted.
const HOUSEKEEPING: Duration = Duration::from_secs(60);

/// The API, ready to be served.
pub struct Api {
    routes: OpenApiRouter,
    jwks: Jwks,
    revocations: Mirror,
}

impl Api {
    /// Builds the API, begins to fetch the issuer's keys and to delete what has expired; needs a running tokio. `own_issuer` is where
    /// this process listens, if it is the issuer too.
    pub fn open(ground: &Ground, settings: &Settings, own_issuer: Option<SocketAddr>) -> Self {
        let jwks = Jwks::new(settings.jwks_url(&ground.urls, own_issuer));
        tokio::spawn(jwks.clone().follow(ground.feed.clone()));
        let db = ground.identity.db.clone();
        tokio::spawn(keep_house(db.clone()));
        let revocations = ground.identity.revocations.clone();
        let issuer = ground.urls.issuer.clone();
        let routes = router(App {
            idempotency: Idempotency::new(db.clone(), settings.idempotency_key_lifetime),
            db,
            identity: ground.identity.clone(),
            policy: Arc::clone(&ground.policy),
            cors: ground.cors.clone(),
            limits: ground.limits.clone(),
            metadata: Arc::new(Metadata::new(&ground.policy, &issuer)),
            verifier: Arc::new(Verifier {
                jwks: jwks.clone(),
                revocations: revocations.clone(),
                issuer,
                audience: ground.urls.audience.clone(),
            }),
        });
        Self {
            routes,
            jwks,
            revocations,
        }
    }

    /// Adds what the API depends on.
    pub fn health(&self, health: Health) -> Health {
        let (jwks, revocations) = (self.jwks.clone(), self.revocations.clone());
        health
            .with("revocations", move || {
                let revocations = revocations.clone();
                async move {
                    let read = revocations.any_revoked(&[]).await;
                    read.map(|_| ()).map_err(|error| error.to_string())
                }
            })
            .with("signing_keys", move || std::future::ready(jwks.check()))
    }

    /// The routes.
    pub fn routes(self) -> OpenApiRouter {
        self.routes
    }
}

async fn keep_house(db: Db) {
    loop {
        if let Err(error) = idempotency::prune(&db, clock::now()).await {
            tracing::warn!(%error, "housekeeping failed");
        }
        tokio::time::sleep(HOUSEKEEPING).await;
    }
}
