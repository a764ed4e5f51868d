//! Registered clients and their changes from the shell while the servers run.

mod administration;
mod assertions;
mod disabling;
mod documents;
mod secrets;
mod services;
mod updates;

use serde_json::Value;
use std::time::Duration;
use tests::{App, Call, Caller, World, eventually};

/// The time within which a change from the shell reaches every server.
const SECOND: Duration = Duration::from_secs(1);

/// Runs a command for a client, and returns what it prints.
fn clients(world: &World, command: &str, app: &App, options: &[&str]) -> Value {
    world.cli(&[&["clients", command, &app.id, "--json"], options].concat(), "")
}

/// Returns a caller at each issuer process.
fn at_each_issuer(world: &World) -> Vec<Caller> {
    world.at_each_issuer(&world.anyone())
}

/// Expects that each issuer process will answer with this status and error code (RFC 6749 §5.2), because a
/// command takes effect in a running server a moment later.
async fn expect_token_error_soon(world: &World, status: u16, error: &str, call: impl Fn(&Caller) -> Call) {
    for issuer in at_each_issuer(world) {
        eventually("a command took no effect", async || {
            call(&issuer).await.status == status
        })
        .await;
        call(&issuer).await.expect_token_error(status, error);
    }
}
