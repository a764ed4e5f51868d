//! A fake issuer that serves a key set (RFC 7517) and counts the requests for it.

use crate::forged_tokens::Signer;
use crate::stub_server::StubServer;
use serde_json::json;

/// A server of one key set. Stops on drop.
#[derive(Debug)]
pub struct FakeIssuer {
    /// The URL of the key set.
    pub jwks_url: String,
    server: StubServer,
}

impl FakeIssuer {
    /// Serves the public halves of these keys.
    pub async fn start(keys: &[&Signer]) -> Self {
        let server = StubServer::start().await;
        let jwks_url = format!("{}/jwks.json", server.url);
        let issuer = Self { jwks_url, server };
        issuer.publish(keys);
        issuer
    }

    /// Replaces the published keys.
    pub fn publish(&self, keys: &[&Signer]) {
        let keys: Vec<_> = keys.iter().map(|key| key.jwk()).collect();
        self.answer(200, &json!({ "keys": keys }).to_string());
    }

    /// Sets the response to all following requests.
    pub fn answer(&self, status: u16, body: &str) {
        self.server.answer(status, body);
    }

    /// The number of requests for the key set.
    pub fn fetches(&self) -> usize {
        self.server.received().len()
    }
}
