//! The readiness of processes.

use crate::http::Caller;
use crate::polling::eventually;
use crate::reply::Reply;

impl Caller {
    /// Waits until `/readyz` reports this status, and returns the report. A process checks its dependencies at most once a second.
    pub async fn readiness(&self, status: &str) -> Reply {
        eventually("the reported readiness is another", async || {
            self.get("/readyz").may_fail().await.json()["status"] == status
        })
        .await;
        self.get("/readyz").may_fail().await
    }
}
