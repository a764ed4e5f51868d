//! The answers of `POST /introspect` (RFC 7662) about access tokens, at each issuer.

use crate::apps::App;
use crate::polling::eventually;
use crate::world::World;

impl World {
    /// Expects that every issuer describes the access token as active to this confidential client.
    pub async fn expect_introspected_as_active(&self, client: &App, token: &str) {
        for issuer in self.at_each_issuer(&self.anyone()) {
            let call = client.client_call(&issuer, "/introspect", &[("token", token)]);
            let reply = call.await.expect(200);
            assert_eq!(reply.json()["active"], true, "{reply}");
        }
    }

    /// Expects that every issuer will describe the revoked access token as inactive to this confidential
    /// client, or answer 503 because it cannot know.
    pub async fn expect_introspected_as_revoked(&self, client: &App, token: &str) {
        for issuer in self.at_each_issuer(&self.anyone()) {
            eventually("a revoked access token is described as active", async || {
                let call = client.client_call(&issuer, "/introspect", &[("token", token)]);
                let reply = call.may_fail().await;
                reply.status == 503 || reply.expect(200).json()["active"] == false
            })
            .await;
        }
    }
}
