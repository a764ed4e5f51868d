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
    checks: Vec<(&'static str, Check)>,
    draining: Arc<AtomicBool>,
}

impl Health {
    /// Adds a dependency; its check says what is missing.
    #[must_use]
    pub fn with<F>(mut self, name: &'static str, check: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.checks.push((name, Arc::new(move || Box::pin(check()))));
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

/// `GET /readyz`: 200 when every dependency answers, else 503 and which one does not.
pub async fn readyz(State(health): State<Health>) -> impl IntoResponse {
    let mut checks = Map::new();
    let mut ready = !health.draining.load(Ordering::Relaxed);
    for (name, check) in &health.checks {
        let outcome = check().await;
        ready &= outcome.is_ok();
        checks.insert(
            (*name).to_owned(),
            Value::String(outcome.err().unwrap_or_else(|| "ok".to_owned())),
        );
    }
    let (status, text) = match ready {
        true => (StatusCode::OK, "ready"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "not ready"),
    };
    (
        status,
        Json(serde_json::json!({ "status": text, "checks": checks })),
    )
}
