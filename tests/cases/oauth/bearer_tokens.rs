//! Which access tokens the API accepts. Each refused token differs from a good one in one respect alone.

mod claims;
mod signature;

use serde_json::Value;
use tests::{Caller, Forger, World};

pub(crate) struct Gate {
    pub(crate) anyone: Caller,
    pub(crate) forger: Forger,
}

/// The forger's good token passes, so that what is refused is refused for its one difference.
pub(crate) async fn gate(world: &World) -> Gate {
    let person = world.sign_up().await;
    let gate = Gate {
        anyone: world.anyone(),
        forger: Forger::new(world, &person).await,
    };
    gate.passes(&gate.forger.good()).await;
    gate
}

impl Gate {
    pub(crate) async fn passes(&self, token: &str) {
        self.anyone.bearer(token).get("/protected").await.expect(200);
    }

    pub(crate) async fn refuses(&self, what: &str, token: &str) {
        let reply = self.anyone.bearer(token).get("/protected").await;
        assert_eq!(reply.status, 401, "{what}: {reply}");
        let reply = reply.expect_error(401, "invalid_token");
        assert!(
            reply
                .header("www-authenticate")
                .contains("error=\"invalid_token\""),
            "{what}: {reply}"
        );
    }

    /// Each of these values of a claim is refused, and so is its absence.
    pub(crate) async fn refuses_claim(&self, name: &str, values: &[Value]) {
        for value in values {
            self.refuses(
                &format!("{name} {value}"),
                &self.forger.with_claim(name, value.clone()),
            )
            .await;
        }
        self.refuses(&format!("no {name}"), &self.forger.with_claim(name, None))
            .await;
    }

    pub(crate) async fn refuses_header(&self, name: &str, values: &[Value]) {
        for value in values {
            self.refuses(
                &format!("{name} {value}"),
                &self.forger.with_header(name, value.clone()),
            )
            .await;
        }
        self.refuses(&format!("no {name}"), &self.forger.with_header(name, None))
            .await;
    }
}
