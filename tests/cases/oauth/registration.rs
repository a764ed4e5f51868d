//! Dynamic client registration (RFC 7591) and its management by the client (RFC 7592).

mod browsers;
mod conformance;
mod expiry;
mod held_bodies;
mod independent_clients;
mod initial_tokens;
mod limits;
mod management;
mod metadata;

use serde_json::{Value, json};
use std::time::Duration;
use tests::{App, Caller, Reply, Shape, User, World, eventually};

const REGISTER: &str = "/register";
const SECOND: Duration = Duration::from_secs(1);

/// A world in which anybody may register clients. Its callers choose their addresses.
async fn open(shape: Shape) -> World {
    World::builder(shape)
        .flag("--client-registration", "open")
        .flag("--trusted-proxies", "127.0.0.1")
        .clock()
        .start()
        .await
}

/// A client that registered itself.
struct Registered {
    app: App,
    access_token: String,
    /// The response to the registration.
    reply: Reply,
}

impl Registered {
    fn parse(reply: Reply) -> Self {
        let reply = reply.expect(201);
        assert_eq!(reply.header("cache-control"), "no-store");
        let body = reply.json();
        let text = |name: &str| body[name].as_str().map(str::to_owned);
        Self {
            app: App {
                id: text("client_id").unwrap(),
                secret: text("client_secret"),
                redirect_uri: body["redirect_uris"][0].as_str().unwrap_or_default().to_owned(),
            },
            access_token: text("registration_access_token").unwrap(),
            reply,
        }
    }

    /// The path at which the client manages its registration.
    fn path(&self) -> String {
        format!("{REGISTER}/{}", self.app.id)
    }

    /// A caller with the registration access token.
    fn manager(&self, world: &World) -> Caller {
        world.anyone().bearer(&self.access_token)
    }
}

/// Registers a client without a token, from the network of `caller`.
async fn register(caller: &Caller, metadata: &Value) -> Registered {
    Registered::parse(caller.post(REGISTER).json(metadata).await)
}

/// The metadata of a single-page app.
fn spa() -> Value {
    json!({ "client_name": "A page", "redirect_uris": ["https://page.test/cb"], "token_endpoint_auth_method": "none" })
}

/// The metadata of a web app with a secret.
fn web() -> Value {
    json!({ "client_name": "A site", "redirect_uris": ["https://site.test/cb"] })
}

/// Expects the error of RFC 7591 §3.2.2.
fn expect_metadata_error(reply: Reply, error: &str) {
    let reply = reply.expect(400);
    let body = reply.json();
    assert_eq!(body["error"], error, "{reply}");
    let is_complete =
        body["error_description"].is_string() && body["correlationId"] == reply.correlation_id();
    assert!(
        is_complete && reply.header("cache-control") == "no-store",
        "{reply}"
    );
}

/// Expects that within a second no issuer process knows the client.
async fn expect_unknown(world: &World, client: &Registered, user: &User) {
    for issuer in world.at_each_issuer(&world.anyone()) {
        eventually("the client is known", async || {
            let path = client.app.authorization().path();
            let page = user.browser().open(&format!("{}{path}", issuer.base())).await;
            page.reply.status == 400 && page.visible_text().contains("No application")
        })
        .await;
    }
}
