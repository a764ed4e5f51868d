//! Signing keys: staged, active, retired, deleted. One rotation at a time, and no valid token is rejected.

mod administration;
mod compromised;
mod database_rules;
mod drill;
mod life_cycle;
mod load;
mod races;
mod reseal;
mod verifiers;

use serde_json::Value;
use std::process::Output;
use std::time::Duration;
use storage::{execute, fetch_one};
use tests::{App, Tokens, World, eventually};

/// The time from staging until a key may sign: the JWKS max-age, and a second until every issuer replica
/// publishes it.
pub(crate) const STAGING_TIME: Duration = Duration::from_secs(301);
/// The time from retirement until the last token of a key has expired, with a margin for replicas that
/// learned of it late.
pub(super) const RETIREMENT_TIME: Duration = Duration::from_secs(660);

/// All keys from `keys list`, without the numbers of their tokens.
pub(crate) fn list(world: &World) -> Vec<Value> {
    let listed = world.cli(&["keys", "list", "--json"], "");
    without_numbers_of_tokens(listed.as_array().unwrap())
}

/// These keys without the numbers of their tokens, which change whenever a process stores its counts.
fn without_numbers_of_tokens(keys: &[Value]) -> Vec<Value> {
    let mut keys = keys.to_vec();
    for key in &mut keys {
        key.as_object_mut().unwrap().remove("live_tokens").unwrap();
    }
    keys
}

/// The kids of the keys in this state.
fn kids(world: &World, state: &str) -> Vec<String> {
    let keys = list(world);
    let keys = keys.iter().filter(|key| key["state"] == state);
    keys.map(|key| key["kid"].as_str().unwrap().to_owned()).collect()
}

/// The kid of the only key in this state.
pub(crate) fn key_in_state(world: &World, state: &str) -> String {
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
pub(crate) fn rotate(world: &World) -> String {
    let rotated = world.cli(&["keys", "rotate", "--yes", "--json"], "");
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

/// Refreshes until tokens are signed by this key.
pub(crate) async fn wait_until_signed_by(world: &World, app: &App, tokens: &mut Tokens, kid: &str) {
    let refreshed = tokio::sync::Mutex::new(tokens.clone());
    // Several requests in a row, so that each replica answers at least one.
    eventually("another key signs", async || {
        let mut all = true;
        for _ in 0..2 {
            let mut tokens = refreshed.lock().await;
            *tokens = Tokens::parse(app.refresh(&world.anyone(), &tokens.refresh).await);
            all &= tokens.kid() == kid;
        }
        all
    })
    .await;
    *tokens = refreshed.into_inner();
}

/// Polls the published keys until `holds` is true at each replica.
pub(super) async fn wait_until_published(world: &World, holds: impl Fn(&[String]) -> bool) {
    eventually("the published keys are wrong", async || {
        holds(&published(world).await) && holds(&published(world).await)
    })
    .await;
}
