//! `/livez` and `/readyz`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use serde::Serialize;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use utoipa::ToSchema;

type Check = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = Result<(), String>> + Send>> + Send + Sync>;

/// What readiness depends on, by name.
#[derive(Clone, Default)]
pub struct Health {
    checks: Vec<(&'static str, Need, Check)>,
    draining: Arc<AtomicBool>,
}

/// What the service is without something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    /// Of no use: requests had better go elsewhere.
    Hard,
    /// Of use still. All replicas lack it at once, so there is no elsewhere.
    Soft,
}

impl Health {
    /// Adds a dependency; its check says what is missing.
    #[must_use]
    pub fn with<F>(self, name: &'static str, check: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.add(name, Need::Hard, check)
    }

    /// Adds a dependency without which most requests are served still.
    #[must_use]
    pub fn with_help_of<F>(self, name: &'static str, check: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.add(name, Need::Soft, check)
    }

    fn add<F>(mut self, name: &'static str, need: Need, check: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.checks
            .push((name, need, Arc::new(move || Box::pin(check()))));
        self
    }

    /// From now on not ready: the process is about to end.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }
}

/// That the process serves.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Liveness {
    #[schema(example = "live")]
    status: &'static str,
}

/// What the process depends on.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Readiness {
    /// `ready`; `degraded` where something is missing that few requests need; or `not ready`.
    #[schema(example = "ready")]
    status: &'static str,
    /// Each dependency by its name: `ok`, or what is wrong.
    #[schema(example = json!({"database": "ok"}))]
    checks: BTreeMap<&'static str, String>,
}

/// Does the process serve?
///
/// 200 for as long as the process answers at all.
#[utoipa::path(
    get, path = "/livez", operation_id = "livez", tag = "Service",
    responses((status = 200, description = "It does.", body = Liveness))
)]
pub async fn livez() -> impl IntoResponse {
    Json(Liveness { status: "live" })
}

/// Does everything answer that the process depends on?
///
/// 200 `ready` when every dependency answers, 200 `degraded` when one is missing without which most requests
/// are served still, else 503 `not ready`; and which ones do not answer.
#[utoipa::path(
    get, path = "/readyz", operation_id = "readyz", tag = "Service",
    responses(
        (status = 200, description = "Most requests are served.", body = Readiness),
        (status = 503, description = "Something does not, or the process is about to end.", body = Readiness,
         example = json!({"status": "not ready", "checks": {"database": "the database does not answer"}})),
    )
)]
pub async fn readyz(State(health): State<Health>) -> impl IntoResponse {
    let mut checks = BTreeMap::new();
    let mut missing = Vec::new();
    for (name, need, check) in &health.checks {
        let outcome = check().await;
        missing.extend(outcome.is_err().then_some(*need));
        checks.insert(*name, outcome.err().unwrap_or_else(|| "ok".to_owned()));
    }
    let is_draining = health.draining.load(Ordering::Relaxed);
    let (code, status) = match missing.as_slice() {
        missing if is_draining || missing.contains(&Need::Hard) => {
            (StatusCode::SERVICE_UNAVAILABLE, "not ready")
        }
        [] => (StatusCode::OK, "ready"),
        _ => (StatusCode::OK, "degraded"),
    };
    (code, Json(Readiness { status, checks }))
}
