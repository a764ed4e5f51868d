//! The API as a component, embedded by `api-server` and `latchkey`, with its background tasks.

use crate::app::{App, Services};
use crate::resource_metadata::Metadata;
use crate::router::router;
use crate::settings::ApiSettings;
use access_tokens::{Jwks, SharedSettings, Verifier, verifiers};
use foundation::clock::now;
use foundation::time_limits::multiplied;
use foundation::urls::Urls;
use resources::accounts;
use resources::idempotency::{self, Idempotency};
use resources::storage_use::Quota;
use revocation::RevocationMirror;
use runtime::startup::Runtime;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use storage::clock_check::ClockCheck;
use storage::db::Db;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use utoipa_axum::router::OpenApiRouter;
use web::Policy;
use web::health::{Dependency, Health};

/// The pause between two deletions of expired idempotency keys.
const HOUSEKEEPING_INTERVAL: Duration = Duration::from_secs(60);
/// The longest wait at the end until the issuer has forgotten this replica.
const FINISH_TIMEOUT: Duration = Duration::from_secs(2);

/// The API, ready to be served.
pub struct Api {
    routes: OpenApiRouter,
    jwks: Jwks,
    revocations: RevocationMirror,
    reports: Reports,
}

/// The task that reports the keys of this replica.
struct Reports {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Api {
    /// Builds the API and starts its background tasks, which fetch the issuer's keys, compare the settings of
    /// the two services if the issuer is another process, report the keys that this replica has, erase the
    /// data of deleted accounts and delete expired idempotency keys. Must be called within a tokio runtime.
    /// If this process is also the issuer, `own_issuer` is its listen address; otherwise `None`.
    pub fn open(runtime: &Runtime, settings: &ApiSettings, own_issuer: Option<SocketAddr>) -> Self {
        let jwks = Jwks::new(settings.jwks_url(&runtime.urls, own_issuer));
        tokio::spawn(jwks.clone().keep_updated(runtime.notifications.clone()));
        if own_issuer.is_none() {
            let shared = shared_settings(&runtime.urls, &runtime.policy);
            let url = settings.issuer_metadata_url(&runtime.urls);
            tokio::spawn(shared.compare_with_issuer(jwks.clone(), url));
        }
        let db = runtime.identity.db.clone();
        let name = replica_name(runtime.bound);
        let (stop, stopped) = oneshot::channel();
        let reports = Reports {
            stop,
            task: tokio::spawn(verifiers::report(db.clone(), name, jwks.clone(), stopped)),
        };
        tokio::spawn(housekeeping(db.clone(), runtime.clock.clone()));
        let revocations = runtime.identity.revocations.clone();
        let (issuer, audience) = (runtime.urls.issuer.clone(), runtime.urls.audience.clone());
        let routes = router(App::new(Services {
            idempotency: Idempotency::new(db.clone(), settings.idempotency_key_lifetime),
            quota: Quota::new(settings.storage_quota),
            db,
            identity: runtime.identity.clone(),
            policy: Arc::clone(&runtime.policy),
            cors: runtime.cors.clone(),
            rate_limiter: runtime.rate_limiter.clone(),
            proofs: runtime.proofs.clone(),
            metadata: Arc::new(Metadata::new(&runtime.policy, &issuer, &runtime.proofs)),
            verifier: Verifier::new(jwks.clone(), revocations.clone(), issuer, audience),
        }));
        Self {
            routes,
            jwks,
            revocations,
            reports,
        }
    }

    /// Adds the readiness checks of the API: the revocations can be read and the issuer's keys have been
    /// fetched.
    pub fn add_health_checks(&self, health: Health) -> Health {
        let (jwks, revocations) = (self.jwks.clone(), self.revocations.clone());
        health
            .with(Dependency::Required, "revocations", move || {
                let revocations = revocations.clone();
                async move {
                    // An empty query checks only that the revocations can be read.
                    let read = revocations.any_revoked(&[]).await;
                    read.map(|_| ()).map_err(|error| error.to_string())
                }
            })
            .with(Dependency::Required, "signing_keys", move || {
                std::future::ready(jwks.check())
            })
    }

    /// Returns the routes, and what is to be done when they are no longer served: the issuer forgets this
    /// replica.
    pub fn into_parts(self) -> (OpenApiRouter, impl Future<Output = ()> + 'static) {
        let Reports { stop, task } = self.reports;
        let finish = async move {
            // A task that failed has ended already.
            let _ = stop.send(());
            let _ = timeout(multiplied(FINISH_TIMEOUT), task).await;
        };
        (self.routes, finish)
    }
}

/// Returns the settings that the issuer must share.
pub(crate) fn shared_settings(urls: &Urls, policy: &Policy) -> SharedSettings {
    SharedSettings {
        issuer: urls.issuer.clone(),
        audience: urls.audience.clone(),
        resource: policy.url(""),
    }
}

/// Returns the name by which administrators know this replica: the name of its host, and its port.
fn replica_name(bound: SocketAddr) -> String {
    let host = rustix::system::uname();
    format!("{}:{}", host.nodename().to_string_lossy(), bound.port())
}

/// Erases the data of deleted accounts and deletes expired idempotency keys at regular intervals, unless the
/// clock differs from that of the database. Never returns.
async fn housekeeping(db: Db, clock: ClockCheck) {
    loop {
        if clock.measure().await.is_ok() {
            traces::step("housekeeping of the API", delete_expired(&db)).await;
        }
        tokio::time::sleep(HOUSEKEEPING_INTERVAL).await;
    }
}

/// Erases and deletes what is due. A failure of one does not stop the other.
async fn delete_expired(db: &Db) {
    if let Err(error) = accounts::erase_remaining(db, now()).await {
        tracing::warn!(%error, "cannot erase the data of deleted accounts");
    }
    if let Err(error) = idempotency::prune(db, now()).await {
        tracing::warn!(%error, "cannot delete expired idempotency keys");
    }
}
