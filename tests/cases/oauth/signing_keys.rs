//! Signing keys: staged, active, retired, deleted; one rotation at a time, and no good token refused.

mod compromised;
mod database_rules;
mod life_cycle;
mod load;
mod races;

use serde_json::Value;
use shared::fetch_one;
use std::process::Output;
use std::time::{Duration, Instant};
use tests::{App, Tokens, World};

/// From the staging of a key until it may sign: the JWKS max-age, and a second until every replica of the
/// issuer publishes it.
const RIPE: Duration = Duration::from_secs(301);
/// From the retirement of a key until its last token is dead, on replicas that learned of it late too.
const DEAD: Duration = Duration::from_secs(660);
/// What a command did takes effect within this.
const SOON: Duration = Duration::from_secs(1);

/// What the issuer does by itself, with a new key to be made on a busy machine, is done within this.
const IN_TIME: Duration = Duration::from_secs(10);

/// Every key, as `keys list` shows it.
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

/// The one key in this state.
fn one(world: &World, state: &str) -> String {
    let mut kids = kids(world, state);
    assert_eq!(kids.len(), 1, "{state}: {:?}", list(world));
    kids.remove(0)
}

/// The kids that are published.
async fn published(world: &World) -> Vec<String> {
    let set = world.anyone().get("/.well-known/jwks.json").await.expect(200);
    let keys = set.json()["keys"].as_array().unwrap().clone();
    let kid = |key: &Value| key["kid"].as_str().unwrap().to_owned();
    keys.iter().map(kid).collect()
}

/// Lets the staged key sign, and says which it is.
fn rotate(world: &World) -> String {
    let rotated = world.cli(&["keys", "rotate", "--json"], "");
    assert_eq!(rotated["done"], "rotated", "{rotated}");
    rotated["active"].as_str().unwrap().to_owned()
}

/// A command that must be refused, and what it says.
#[track_caller]
fn refused(world: &World, args: &[&str]) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = world.run(args, "");
    let says = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(1), "{args:?}: {says}");
    assert!(stdout.is_empty(), "{args:?}");
    says
}

/// Whether the private half of a key is in the database.
async fn has_private_half(world: &World, kid: &str) -> bool {
    let query = "SELECT COUNT(sealed_private_key) FROM signing_keys WHERE kid = $1";
    let (count,) = fetch_one!(world.db().await.reader(), (i64,), query, kid).unwrap();
    count == 1
}

/// Refreshes until tokens are signed by this key; within a second they must be.
async fn until_signed_by(world: &World, app: &App, tokens: &mut Tokens, kid: &str) {
    let began = Instant::now();
    // Each replica of the issuer is asked, or at least several times one.
    let mut in_a_row = 0;
    while in_a_row < 4 {
        *tokens = Tokens::of(app.refresh(&world.anyone(), &tokens.refresh).await);
        in_a_row = if tokens.kid() == kid { in_a_row + 1 } else { 0 };
        assert!(
            in_a_row > 0 || began.elapsed() < SOON,
            "{kid} does not sign a second after it was made to"
        );
    }
}

/// Asks for the published keys until this holds of them; it must `within` this.
async fn until_published(world: &World, within: Duration, holds: impl Fn(&[String]) -> bool) {
    let began = Instant::now();
    let mut in_a_row = 0;
    while in_a_row < 4 {
        let kids = published(world).await;
        in_a_row = if holds(&kids) { in_a_row + 1 } else { 0 };
        assert!(
            in_a_row > 0 || began.elapsed() < within,
            "published after {within:?}: {kids:?}"
        );
    }
}
