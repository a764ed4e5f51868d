//! Registrations and changes of them whose body is held back until their token has ended. They must have no
//! effect, because somebody who copied the token may have sent them.

use super::{REGISTER, Registered, register, spa};
use serde_json::{Value, json};
use storage::fetch_all;
use tests::{Caller, RawConnection, Shape, World, on_every_shape};

const TOKENS: &str = "/admin/registration-tokens";

/// A request without its body.
struct Held {
    connection: RawConnection,
    body: String,
}

impl Held {
    /// Begins a request, and waits until the first issuer has checked the token and begins to read the body.
    async fn begin(world: &World, method: &str, path: &str, token: &str, body: &Value) -> Self {
        let body = body.to_string();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
             authorization: Bearer {token}\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n",
            body.len(),
        );
        let mut connection = RawConnection::connect(world.issuer_ports()[0]).await;
        connection.send(head).await;
        connection.read_until("100 Continue").await;
        Self { connection, body }
    }

    /// Sends the body, and expects that the token is refused and that no client is created or changed.
    async fn expect_refused(mut self, world: &World) {
        let before = clients(world).await;
        self.connection.send(&self.body).await;
        let answer = self.connection.read_to_end().await;
        assert!(answer.contains("HTTP/1.1 401 "), "{answer}");
        assert!(answer.contains("invalid_token"), "{answer}");
        assert_eq!(clients(world).await, before);
    }
}

/// The clients with their names.
async fn clients(world: &World) -> Vec<(String, String)> {
    let query = "SELECT id, name FROM clients ORDER BY id";
    fetch_all!(world.db().await.reader(), (String, String), query).unwrap()
}

/// A world in which clients need an initial access token, an administrator at its last issuer, and the id and
/// the text of such a token with two uses.
async fn start(shape: Shape) -> (World, Caller, String, String) {
    let world = World::builder(shape).flag("--client-registration", "token");
    let world = world.start().await;
    let admin = world.user_with_role("admin").await;
    let admin = world.at_each_issuer(&admin).pop().unwrap();
    let made = admin.post(TOKENS).json(&json!({ "uses": 2 })).await;
    let made = made.expect(201).json();
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    let (id, token) = (text("id"), text("token"));
    (world, admin, id, token)
}

async fn a_registration_after_the_end_of_its_token_has_no_effect(shape: Shape) {
    let (world, admin, id, token) = start(shape).await;
    let held = Held::begin(&world, "POST", REGISTER, &token, &spa()).await;
    admin.delete(&format!("{TOKENS}/{id}")).await.expect(204);
    held.expect_refused(&world).await;
}

async fn a_registration_after_the_last_use_of_its_token_has_no_effect(shape: Shape) {
    let (world, _, _, token) = start(shape).await;
    let held = Held::begin(&world, "POST", REGISTER, &token, &spa()).await;
    let holder = world.anyone().bearer(&token);
    for holder in [&holder, world.at_each_issuer(&holder).last().unwrap()] {
        register(holder, &spa()).await;
    }
    held.expect_refused(&world).await;
}

async fn a_change_after_the_deletion_of_its_client_has_no_effect(shape: Shape) {
    let (world, _, _, token) = start(shape).await;
    let client = register(&world.anyone().bearer(&token), &spa()).await;
    let Registered {
        access_token, reply, ..
    } = &client;
    let mut change = reply.json();
    change["client_name"] = json!("Held back");
    let held = Held::begin(&world, "PUT", &client.path(), access_token, &change).await;
    let manager = world.at_each_issuer(&client.manager(&world)).pop().unwrap();
    manager.delete(&client.path()).await.expect(204);
    held.expect_refused(&world).await;
}

on_every_shape!(
    a_registration_after_the_end_of_its_token_has_no_effect,
    a_registration_after_the_last_use_of_its_token_has_no_effect,
    a_change_after_the_deletion_of_its_client_has_no_effect,
);
