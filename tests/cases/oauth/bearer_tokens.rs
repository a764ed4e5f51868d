//! Validation of access tokens by the API. Each rejected token differs from a valid one in a single respect.

mod claims;
mod signature;

use serde_json::Value;
use tests::{Caller, TokenForger, World};

/// A caller without credentials, and a forger of tokens of a signed-up user.
pub(crate) struct TokenCheck {
    pub(crate) anyone: Caller,
    pub(crate) forger: TokenForger,
}

/// Prepares a check, and expects that an unmodified token is accepted, so that a rejection is due to the
/// modification.
pub(crate) async fn token_check(world: &World) -> TokenCheck {
    let user = world.user().await;
    let token_check = TokenCheck {
        anyone: world.anyone(),
        forger: TokenForger::new(world, &user).await,
    };
    token_check.expect_accepted(&token_check.forger.good()).await;
    token_check
}

impl TokenCheck {
    pub(crate) async fn expect_accepted(&self, token: &str) {
        self.anyone.bearer(token).get("/protected").await.expect(200);
    }

    /// Expects that the API rejects the token. `what` describes it in the message of a failure.
    pub(crate) async fn expect_rejected(&self, what: &str, token: &str) {
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

    /// Expects that each of these values of a claim, and its absence, is rejected.
    pub(crate) async fn expect_claim_rejected(&self, name: &str, values: &[Value]) {
        for value in values {
            self.expect_rejected(
                &format!("{name} {value}"),
                &self.forger.with_claim(name, value.clone()),
            )
            .await;
        }
        self.expect_rejected(&format!("no {name}"), &self.forger.with_claim(name, None))
            .await;
    }

    /// Expects that each of these values of a header member, and its absence, is rejected.
    pub(crate) async fn expect_header_rejected(&self, name: &str, values: &[Value]) {
        for value in values {
            self.expect_rejected(
                &format!("{name} {value}"),
                &self.forger.with_header(name, value.clone()),
            )
            .await;
        }
        self.expect_rejected(&format!("no {name}"), &self.forger.with_header(name, None))
            .await;
    }
}
