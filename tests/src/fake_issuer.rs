//! An issuer's key set under the test's control: it counts who asks, and answers what it is told to.

use crate::forge::Signer;
use crate::receiver::Receiver;
use serde_json::json;

/// A server of one key set. Ends when dropped.
#[derive(Debug)]
pub struct FakeIssuer {
    /// Where the key set is.
    pub jwks_url: String,
    server: Receiver,
}

impl FakeIssuer {
    /// Serves the public halves of these keys.
    pub async fn start(keys: &[&Signer]) -> Self {
        let server = Receiver::start().await;
        let jwks_url = format!("{}/jwks.json", server.url);
        let issuer = Self { jwks_url, server };
        issuer.publish(keys);
        issuer
    }

    /// From now on these are the keys.
    pub fn publish(&self, keys: &[&Signer]) {
        let keys: Vec<_> = keys.iter().map(|key| key.jwk()).collect();
        self.answer(200, &json!({ "keys": keys }).to_string());
    }

    /// From now on this is the answer.
    pub fn answer(&self, status: u16, body: &str) {
        self.server.answer(status, body);
    }

    /// How often the key set was fetched.
    pub fn fetches(&self) -> usize {
        self.server.received().len()
    }
}
