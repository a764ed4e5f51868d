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
use std::time::{Duration, Instant};
use tokio::sync::Mutex;
use utoipa::ToSchema;

/// The paths of the health checks, which are answered whatever the clock says.
pub(crate) const PATHS: [&str; 2] = ["/livez", "/readyz"];

/// The time for which a measurement answers all callers. Anybody may call `/readyz`, and its checks use
/// connections to the dependencies.
const MEASURED_FOR: Duration = Duration::from_secs(1);

/// A check of one dependency. Returns the error text for the log if the dependency is unavailable.
type Check = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = Result<(), String>> + Send>> + Send + Sync>;

/// The dependencies that readiness checks, by name. Cheap to clone; all clones share the last measurement and
/// the draining state.
#[derive(Clone, Default)]
pub struct Health {
    checks: Vec<(&'static str, Dependency, Check)>,
    measurement: Arc<Mutex<Option<Measurement>>>,
    draining: Arc<AtomicBool>,
}

/// The state of the dependencies at a time.
struct Measurement {
    at: Instant,
    /// Whether each dependency is available, in the order of the checks.
    available: Vec<bool>,
}

/// The kind of a dependency. Determines the response of `/readyz` while the dependency is unavailable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependency {
    /// 503 `not ready`, so that the load balancer sends requests to other replicas.
    Required,
    /// 200 `degraded`, because most requests still succeed, and other replicas lack the dependency too.
    Optional,
}

impl Health {
    /// Adds a dependency. `name` is its member in the body of `/readyz`. `check` returns the error text for
    /// the log if the dependency is unavailable.
    #[must_use]
    pub fn with<F>(
        mut self,
        dependency: Dependency,
        name: &'static str,
        check: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.checks
            .push((name, dependency, Arc::new(move || Box::pin(check()))));
        self
    }

    /// Returns whether each dependency is available, at most a second ago. Callers wait for a measurement
    /// under way.
    async fn available(&self) -> Vec<bool> {
        let mut last = self.measurement.lock().await;
        if let Some(fresh) = last.as_ref().filter(|last| last.at.elapsed() < MEASURED_FOR) {
            return fresh.available.clone();
        }
        // At the same time, because each may take as long as its time limit.
        let outcomes = join_all(self.checks.iter().map(|(_, _, check)| check())).await;
        let available: Vec<bool> = outcomes.iter().map(Result::is_ok).collect();
        let before = last.take().map(|last| last.available);
        for (place, ((name, ..), outcome)) in self.checks.iter().zip(outcomes).enumerate() {
            let was_available = before.as_ref().is_none_or(|before| before[place]);
            log_change(name, was_available, outcome);
        }
        *last = Some(Measurement {
            at: Instant::now(),
            available: available.clone(),
        });
        available
    }

    /// Makes `/readyz` answer 503 from now on. Called when the process begins to shut down.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }
}

/// Logs the outcome of a check, if it is another than that of the check before.
fn log_change(dependency: &str, was_available: bool, outcome: Result<(), String>) {
    match outcome {
        Err(error) if was_available => tracing::warn!(dependency, error, "not ready"),
        Ok(()) if !was_available => tracing::info!(dependency, "ready again"),
        _ => {}
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
/// Checks every dependency, at most once a second for all callers together. Answers 200 `ready` if all of
/// them work, 200 `degraded` if only dependencies that few requests need are missing, and otherwise 503 `not
/// ready`. The body lists the state of each dependency.
#[utoipa::path(
    get, path = "/readyz", operation_id = "readyz", tag = "Service",
    responses(
        (status = 200, description = "The service is ready, or degraded.", body = Readiness),
        (status = 503, description = "A required dependency is missing, or the process is shutting down.", body = Readiness,
         example = json!({"status": "not ready", "checks": {"database": "unavailable"}})),
    )
)]
pub async fn readyz(State(health): State<Health>) -> impl IntoResponse {
    let available = health.available().await;
    let states = health.checks.iter().zip(available);
    let mut checks = BTreeMap::new();
    let mut unavailable = Vec::new();
    for ((name, dependency, _), is_available) in states {
        // Anybody may call this route, and the error, which is in the log, may name internal hosts.
        checks.insert(*name, if is_available { "ok" } else { "unavailable" });
        unavailable.extend((!is_available).then_some(*dependency));
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
