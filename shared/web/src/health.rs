//! Liveness (`/livez`) and readiness (`/readyz`).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use futures_util::future::join_all;
use serde::Serialize;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use utoipa::ToSchema;

/// The paths of the health checks, which are answered whatever the clock says.
pub(crate) const PATHS: [&str; 2] = ["/livez", "/readyz"];

/// A check of one dependency. Returns the error text for the log if the dependency is unavailable.
type Check = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = Result<(), String>> + Send>> + Send + Sync>;

/// The dependencies that readiness checks, by name. Cheap to clone; all clones share the draining state.
#[derive(Clone, Default)]
pub struct Health {
    checks: Vec<(&'static str, Dependency, Check)>,
    draining: Arc<AtomicBool>,
}

/// The kind of a dependency. Determines the response of `/readyz` while the dependency is unavailable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dependency {
    /// 503 `not ready`, so that the load balancer sends requests to other replicas.
    Required,
    /// 200 `degraded`, because most requests still succeed, and other replicas lack the dependency too.
    Optional,
}

impl Health {
    /// Adds a dependency that the service cannot work without. `name` is its member in the body of `/readyz`.
    /// `check` returns the error text for the log if the dependency is unavailable.
    #[must_use]
    pub fn with_required<F>(self, name: &'static str, check: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.add(name, Dependency::Required, check)
    }

    /// Adds a dependency that most requests do not need. The arguments are those of
    /// [`with_required`](Self::with_required).
    #[must_use]
    pub fn with_optional<F>(self, name: &'static str, check: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.add(name, Dependency::Optional, check)
    }

    fn add<F>(
        mut self,
        name: &'static str,
        dependency: Dependency,
        check: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.checks
            .push((name, dependency, Arc::new(move || Box::pin(check()))));
        self
    }

    /// Makes `/readyz` answer 503 from now on. Called when the process begins to shut down.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }
}

/// The liveness of the process.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Liveness {
    #[schema(example = "live")]
    status: &'static str,
}

/// The readiness of the process and the state of its dependencies.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Readiness {
    /// `ready`, `degraded` (a dependency that few requests need is missing) or `not ready`.
    #[schema(example = "ready")]
    status: &'static str,
    /// The state of each dependency by its name: `ok` or `unavailable`. The log has the error.
    #[schema(example = json!({"database": "ok"}))]
    checks: BTreeMap<&'static str, &'static str>,
}

/// Check liveness
///
/// Answers 200 as long as the process can answer at all.
#[utoipa::path(
    get, path = "/livez", operation_id = "livez", tag = "Service",
    responses((status = 200, description = "The process is alive.", body = Liveness))
)]
pub async fn livez() -> impl IntoResponse {
    Json(Liveness { status: "live" })
}

/// Check readiness
///
/// Checks every dependency. Answers 200 `ready` if all of them work, 200 `degraded` if only dependencies that
/// few requests need are missing, and otherwise 503 `not ready`. The body lists the state of each dependency.
#[utoipa::path(
    get, path = "/readyz", operation_id = "readyz", tag = "Service",
    responses(
        (status = 200, description = "The service is ready, or degraded.", body = Readiness),
        (status = 503, description = "A required dependency is missing, or the process is shutting down.", body = Readiness,
         example = json!({"status": "not ready", "checks": {"database": "unavailable"}})),
    )
)]
pub async fn readyz(State(health): State<Health>) -> impl IntoResponse {
    let mut checks = BTreeMap::new();
    let mut unavailable = Vec::new();
    // At the same time, because each may take as long as its time limit.
    let outcomes = join_all(health.checks.iter().map(|(_, _, check)| check())).await;
    for ((name, dependency, _), outcome) in health.checks.iter().zip(outcomes) {
        // Anybody may call this route, and the error may name internal hosts.
        let state = match outcome {
            Ok(()) => "ok",
            Err(error) => {
                tracing::warn!(dependency = name, error, "not ready");
                unavailable.push(*dependency);
                "unavailable"
            }
        };
        checks.insert(*name, state);
    }
    let is_draining = health.draining.load(Ordering::Relaxed);
    let (code, status) = match unavailable.as_slice() {
        kinds if is_draining || kinds.contains(&Dependency::Required) => {
            (StatusCode::SERVICE_UNAVAILABLE, "not ready")
        }
        [] => (StatusCode::OK, "ready"),
        _ => (StatusCode::OK, "degraded"),
    };
    (code, Json(Readiness { status, checks }))
}
