//! `/livez` and `/readyz`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use serde_json::{Map, Value};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// `GET /livez`: the process serves.
pub async fn livez() -> impl IntoResponse {
    Json(serde_json::json!({ "status": "live" }))
}

/// `GET /readyz`: 200 `ready` when every dependency answers, 200 `degraded` when one is missing without
/// which most requests are served still, else 503 `not ready`; and which ones do not answer.
pub async fn readyz(State(health): State<Health>) -> impl IntoResponse {
    let mut checks = Map::new();
    let mut missing = Vec::new();
    for (name, need, check) in &health.checks {
        let outcome = check().await;
        missing.extend(outcome.is_err().then_some(*need));
        let says = outcome.err().unwrap_or_else(|| "ok".to_owned());
        checks.insert((*name).to_owned(), Value::String(says));
    }
    let is_draining = health.draining.load(Ordering::Relaxed);
    let (status, text) = match missing.as_slice() {
        missing if is_draining || missing.contains(&Need::Hard) => {
            (StatusCode::SERVICE_UNAVAILABLE, "not ready")
        }
        [] => (StatusCode::OK, "ready"),
        _ => (StatusCode::OK, "degraded"),
    };
    (
        status,
        Json(serde_json::json!({ "status": text, "checks": checks })),
    )
}
