//! The answers of `POST /introspect` (RFC 7662) about access tokens, at each issuer.

use crate::apps::App;
use crate::world::World;
use std::time::{Duration, Instant};

/// The maximum time until every issuer knows of a revocation.
const TIMEOUT: Duration = Duration::from_secs(1);

impl World {
    /// Expects that every issuer describes the access token as active to this confidential client.
    pub async fn expect_introspected_as_active(&self, client: &App, token: &str) {
        for issuer in self.at_each_issuer(&self.anyone()) {
            let call = client.client_call(&issuer, "/introspect", &[("token", token)]);
            let reply = call.await.expect(200);
            assert_eq!(reply.json()["active"], true, "{reply}");
        }
    }

    /// Expects that within a second every issuer describes the revoked access token as inactive to this confidential client, or
    /// answers 503 because it cannot know.
    pub async fn expect_introspected_as_revoked(&self, client: &App, token: &str) {
        let began = Instant::now();
        for issuer in self.at_each_issuer(&self.anyone()) {
            loop {
                let is_late = began.elapsed() >= TIMEOUT;
                let call = client.client_call(&issuer, "/introspect", &[("token", token)]);
                let reply = call.may_fail().await;
                if reply.status == 503 || reply.clone().expect(200).json()["active"] == false {
                    break;
                }
                assert!(!is_late, "active {:?} after it was revoked", began.elapsed());
            }
        }
    }
}
