//! The readiness of processes, and of their caches.

use crate::http::Caller;
use crate::polling::eventually;
use crate::reply::Reply;
use crate::world::World;

impl Caller {
    /// Waits until `/readyz` reports this status, and returns the report. A process checks its dependencies
    /// at most once a second.
    pub async fn readiness(&self, status: &str) -> Reply {
        eventually("the reported readiness is another", async || {
            self.get("/readyz").may_fail().await.json()["status"] == status
        })
        .await;
        self.get("/readyz").may_fail().await
    }
}

impl World {
    /// Waits until every replica lets pages of this origin read its responses. The replicas read the origins
    /// of the registered apps again when their copy is a second old.
    pub async fn expect_origin(&self, origin: &str) {
        let anyone = self.anyone();
        let apis = self.at_each_api(&anyone).into_iter().map(|api| (api, "/posts"));
        let issuers = self.at_each_issuer(&anyone).into_iter();
        for (replica, path) in apis.chain(issuers.map(|issuer| (issuer, "/token"))) {
            eventually("the origin is still not allowed", async || {
                let preflight = replica.call("OPTIONS", path).header("origin", origin);
                let preflight = preflight.header("access-control-request-method", "POST");
                preflight.await.has("access-control-allow-origin")
            })
            .await;
        }
    }
}
