//! Signing keys: staged, active, retired, deleted. One rotation at a time, and no valid token is rejected.

mod administration;
mod compromised;
mod database_rules;
mod drill;
mod life_cycle;
mod load;
mod races;
mod reseal;

use serde_json::Value;
use std::process::Output;
use std::time::{Duration, Instant};
use storage::{execute, fetch_one};
use tests::{App, Tokens, World};

/// The time from staging until a key may sign: the JWKS max-age, and a second until every issuer replica
/// publishes it.
const STAGING_TIME: Duration = Duration::from_secs(301);
/// The time from retirement until the last token of a key has expired, with a margin for replicas that
/// learned of it late.
const RETIREMENT_TIME: Duration = Duration::from_secs(660);
/// The maximum time until a command takes effect.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(1);
/// The maximum time for an automatic rotation, which generates a key, on a busy machine.
const ROTATION_TIMEOUT: Duration = Duration::from_secs(10);

/// All keys from `keys list`.
fn list(world: &World) -> Vec<Value> {
    let listed = world.cli(&["keys", "list", "--json"], "");
    listed.as_array().unwrap().clone()
}

/// The kids of the keys in this state.
fn kids(world: &World, state: &str) -> Vec<String> {
    let keys = list(world);
    let keys = keys.iter().filter(|key| key["state"] == state);
    keys.map(|key| key["kid"].as_str().unwrap().to_owned()).collect()
}

/// The kid of the only key in this state.
fn key_in_state(world: &World, state: &str) -> String {
    let mut kids = kids(world, state);
    assert_eq!(kids.len(), 1, "{state}: {:?}", list(world));
    kids.remove(0)
}

/// The published kids.
async fn published(world: &World) -> Vec<String> {
    let set = world.anyone().get("/.well-known/jwks.json").await.expect(200);
    let keys = set.json()["keys"].as_array().unwrap().clone();
    let kid = |key: &Value| key["kid"].as_str().unwrap().to_owned();
    keys.iter().map(kid).collect()
}

/// Rotates the keys. Returns the new active kid.
fn rotate(world: &World) -> String {
    let rotated = world.cli(&["keys", "rotate", "--json"], "");
    assert_eq!(rotated["done"], "rotated", "{rotated}");
    rotated["active"].as_str().unwrap().to_owned()
}

/// Runs a command that must fail. Returns its error message.
#[track_caller]
fn expect_command_error(world: &World, args: &[&str]) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = world.run(args, "");
    let message = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(1), "{args:?}: {message}");
    assert!(stdout.is_empty(), "{args:?}");
    message
}

/// Deletes all keys without a successor, as after the loss of the master key.
async fn give_up_keys(world: &World) {
    let give_up = "UPDATE signing_keys SET state = 'deleted', compromised = TRUE, sealed_private_key = NULL, deleted_at = $1
                   WHERE state <> 'deleted'";
    execute!(world.db().await.writer(), give_up, world.now()).unwrap();
}

/// Whether the private key is in the database.
async fn has_private_key(world: &World, kid: &str) -> bool {
    let query = "SELECT COUNT(sealed_private_key) FROM signing_keys WHERE kid = $1";
    let (count,) = fetch_one!(world.db().await.reader(), (i64,), query, kid).unwrap();
    count == 1
}

/// Refreshes until tokens are signed by this key. Fails the test after a second.
async fn wait_until_signed_by(world: &World, app: &App, tokens: &mut Tokens, kid: &str) {
    let began = Instant::now();
    // Several requests in a row, so that each replica answers at least one.
    let mut in_a_row = 0;
    while in_a_row < 4 {
        *tokens = Tokens::parse(app.refresh(&world.anyone(), &tokens.refresh).await);
        in_a_row = if tokens.kid() == kid { in_a_row + 1 } else { 0 };
        assert!(
            in_a_row > 0 || began.elapsed() < COMMAND_TIMEOUT,
            "{kid} does not sign within a second"
        );
    }
}

/// Polls the published keys until `holds` is true. Fails the test after `within`.
async fn wait_until_published(world: &World, within: Duration, holds: impl Fn(&[String]) -> bool) {
    let began = Instant::now();
    let mut in_a_row = 0;
    while in_a_row < 4 {
        let kids = published(world).await;
        in_a_row = if holds(&kids) { in_a_row + 1 } else { 0 };
        assert!(
            in_a_row > 0 || began.elapsed() < within,
            "the published keys are wrong after {within:?}: {kids:?}"
        );
    }
}
