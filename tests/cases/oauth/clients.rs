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
use tests::{App, Call, Caller, Sentinel, World, eventually, response};

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
/// change of a client takes effect a moment later in a server that did not make it.
pub(crate) async fn expect_token_error_soon(
    world: &World,
    status: u16,
    error: &str,
    call: impl Fn(&Caller) -> Call,
) {
    for issuer in at_each_issuer(world) {
        eventually("the change took no effect", async || {
            call(&issuer).await.status == status
        })
        .await;
        call(&issuer).await.expect_token_error(status, error);
    }
}

/// Responses with another status than 200, among them `success` and redirects to the sentinel, and with
/// another media type than JSON, each with a part of the reason for which it is refused.
fn refused_responses(success: &str, good: &str, sentinel: &Sentinel) -> Vec<(String, &'static str)> {
    let json = "Content-Type: application/json\r\n";
    let to_sentinel = format!("{json}Location: http://localhost:{}/\r\n", sentinel.port);
    let statuses = ["404 Not Found", "500 Internal Server Error", success];
    let redirects = [
        "301 Moved Permanently",
        "302 Found",
        "307 Temporary Redirect",
        "308 Permanent Redirect",
    ];
    let types = ["Content-Type: text/html\r\n", ""];
    let statuses = statuses.map(|status| (response(status, json, good), "another status than 200"));
    let redirects = redirects.map(|status| (response(status, &to_sentinel, good), "another status than 200"));
    let types = types.map(|headers| (response("200 OK", headers, good), "another media type"));
    [statuses.to_vec(), redirects.to_vec(), types.to_vec()].concat()
}
