//! Compromised keys are deleted immediately, and their tokens are rejected.

use super::{
    STAGING_TIME, expect_command_error, give_up_keys, has_private_key, key_in_state, list, rotate,
    wait_until_published, wait_until_signed_by,
};
use serde_json::Value;
use std::time::Duration;
use tests::{Caller, Shape, TokenForger, Tokens, World, eventually, on_every_shape};

fn mark_compromised(world: &World, kid: &str) -> Value {
    let change = world.cli(&["keys", "retire", kid, "--compromised", "--json"], "");
    assert_eq!(
        (&change["done"], &change["kid"]),
        (&"discarded".into(), &kid.into()),
        "{change}"
    );
    change
}

/// Expects that the key is deleted, marked as compromised, erased and no longer published.
async fn expect_deleted(world: &World, kid: &str) {
    let keys = list(world);
    let key = keys.iter().find(|key| key["kid"] == kid).unwrap();
    assert_eq!(
        (&key["state"], &key["compromised"]),
        (&"deleted".into(), &true.into()),
        "{key}"
    );
    assert!(!has_private_key(world, kid).await);
    wait_until_published(world, |kids| !kids.iter().any(|one| one == kid)).await;
}

async fn compromising_the_active_key_promotes_the_staged_key(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (ann, app) = world.user_and_app().await;
    let mut tokens = app.tokens(&ann, "posts:read").await;
    let attacker = TokenForger::new(&world, &ann).await;
    let old = tokens.access.clone();
    world.advance(STAGING_TIME);
    let (first, second) = (key_in_state(&world, "active"), key_in_state(&world, "staged"));
    let change = mark_compromised(&world, &first);
    assert_eq!(change["active"], second.as_str());
    assert_eq!(change["staged"], key_in_state(&world, "staged").as_str());
    assert_eq!(change["caches_may_lack_it_until"], Value::Null);
    world.expect_revoked_soon(&old).await;
    wait_until_signed_by(&world, &app, &mut tokens, &second).await;
    world.expect_accepted(&tokens.access).await;
    expect_deleted(&world, &first).await;
    // An attacker keeps signing with the key.
    let forged = attacker.with_claim("iat", Value::from(world.now().seconds()));
    world.expect_revoked_soon(&forged).await;
    assert!(expect_command_error(&world, &["keys", "retire", &first, "--compromised"]).contains("deleted"));
}

/// The runbook for a leaked master key and database: all keys have leaked.
async fn all_keys_are_replaced_without_a_stop(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (ann, app) = world.user_and_app().await;
    let mut tokens = app.tokens(&ann, "posts:read").await;
    let leaked = [key_in_state(&world, "staged"), key_in_state(&world, "active")];
    for kid in &leaked {
        mark_compromised(&world, kid);
        expect_deleted(&world, kid).await;
        tokens = Tokens::parse(app.refresh(&world.anyone(), &tokens.refresh).await);
    }
    for state in ["active", "staged"] {
        assert!(!leaked.contains(&key_in_state(&world, state)), "{state}");
    }
    let successor = key_in_state(&world, "active");
    wait_until_signed_by(&world, &app, &mut tokens, &successor).await;
    world.expect_accepted(&tokens.access).await;
}

/// The first successor was in every key set. The second has been staged for a moment, so that caches may lack
/// it.
async fn two_compromises_of_a_young_installation_do_not_stop_signing(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (ann, app) = world.user_and_app().await;
    let mut tokens = app.tokens(&ann, "posts:read").await;
    for is_early in [false, true] {
        let (compromised, successor) = (key_in_state(&world, "active"), key_in_state(&world, "staged"));
        let old = tokens.access.clone();
        let change = mark_compromised(&world, &compromised);
        assert_eq!(change["active"], successor.as_str());
        assert_eq!(change["staged"], key_in_state(&world, "staged").as_str());
        let keys = list(&world);
        let key = keys.iter().find(|key| key["kid"] == successor.as_str()).unwrap();
        let expected = if is_early {
            &key["sign_after"]
        } else {
            &Value::Null
        };
        assert_eq!(&change["caches_may_lack_it_until"], expected);
        world.expect_revoked_soon(&old).await;
        wait_until_signed_by(&world, &app, &mut tokens, &successor).await;
        world.expect_accepted(&tokens.access).await;
        expect_deleted(&world, &compromised).await;
    }
}

/// Waits until the readiness of each issuer tells whether it can sign.
async fn wait_until_ready_to_sign(world: &World, expected: bool) {
    eventually("the readiness of an issuer is wrong", async || {
        for issuer in world.at_each_issuer(&world.anyone()) {
            let ready = issuer.get("/readyz").may_fail().await.json();
            if (ready["checks"]["token_signing"] == "ok") != expected {
                return false;
            }
            if !expected {
                assert_ne!(ready["status"], "ready", "{ready}");
            }
        }
        true
    })
    .await;
}

async fn readiness_tells_that_no_key_can_sign(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    give_up_keys(&world).await;
    wait_until_ready_to_sign(&world, false).await;
    eventually("no key is staged", async || {
        list(&world).iter().any(|key| key["state"] == "staged")
    })
    .await;
    world.advance(STAGING_TIME);
    wait_until_ready_to_sign(&world, true).await;
}

async fn a_refresh_that_no_key_can_sign_leaves_its_token_unused(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (ann, app) = world.user_and_app().await;
    let mut tokens = app.tokens(&ann, "posts:read").await;
    give_up_keys(&world).await;
    wait_until_ready_to_sign(&world, false).await;
    let retry_after = async |issuer: &Caller| {
        let reply = app.refresh(issuer, &tokens.refresh).may_fail().await;
        let refused = reply.expect_token_error(503, "temporarily_unavailable");
        Duration::from_secs(refused.header("retry-after").parse().unwrap())
    };
    for issuer in world.at_each_issuer(&world.anyone()) {
        // The shorter time of an issuer that does not know the staged key yet.
        assert!(retry_after(&issuer).await >= Duration::from_secs(1));
        eventually("an issuer does not name the time of the staged key", async || {
            retry_after(&issuer).await + Duration::from_secs(1) >= STAGING_TIME
        })
        .await;
    }
    let longest = retry_after(&world.anyone()).await;
    assert!(longest <= STAGING_TIME + Duration::from_secs(1), "{longest:?}");
    world.advance(longest);
    wait_until_ready_to_sign(&world, true).await;
    let active = key_in_state(&world, "active");
    wait_until_signed_by(&world, &app, &mut tokens, &active).await;
}

async fn a_compromised_staged_key_is_replaced(world: World) {
    let (active, staged) = (key_in_state(&world, "active"), key_in_state(&world, "staged"));
    let change = mark_compromised(&world, &staged);
    assert_eq!(change["active"], active.as_str());
    assert_eq!(change["staged"], key_in_state(&world, "staged").as_str());
    expect_deleted(&world, &staged).await;
}

async fn a_compromised_retired_key_is_rejected_immediately(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (ann, app) = world.user_and_app().await;
    let mut tokens = app.tokens(&ann, "posts:read").await;
    let (old, first) = (tokens.access.clone(), key_in_state(&world, "active"));
    world.advance(STAGING_TIME);
    let second = rotate(&world);
    wait_until_signed_by(&world, &app, &mut tokens, &second).await;
    let change = mark_compromised(&world, &first);
    assert_eq!(change["active"], second.as_str());
    world.expect_revoked_soon(&old).await;
    world.expect_accepted(&tokens.access).await;
    expect_deleted(&world, &first).await;
}

/// The tokens of a compromised key stay rejected after the retention time of other revocations.
async fn compromised_keys_stay_rejected(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let ann = world.user().await;
    let attacker = TokenForger::new(&world, &ann).await;
    mark_compromised(&world, &key_in_state(&world, "active"));
    world.advance(Duration::from_secs(365 * 86_400));
    world.user().await;
    let now = world.now().seconds();
    let mut attacker = attacker;
    attacker.claims["iat"] = now.into();
    world
        .expect_revoked_soon(&attacker.with_claim("exp", Value::from(now + 300)))
        .await;
    let query = "SELECT COUNT(*) FROM revocations WHERE kind = 'key' AND subject = $1 AND expires_at > $2";
    let db = world.db().await;
    let kid = attacker.signer.kid.as_str();
    let (kept,) = storage::fetch_one!(db.reader(), (i64,), query, kid, world.now()).unwrap();
    assert_eq!(kept, 1);
}

on_every_shape!(
    compromising_the_active_key_promotes_the_staged_key,
    all_keys_are_replaced_without_a_stop,
    two_compromises_of_a_young_installation_do_not_stop_signing,
    readiness_tells_that_no_key_can_sign,
    a_refresh_that_no_key_can_sign_leaves_its_token_unused,
    a_compromised_staged_key_is_replaced,
    a_compromised_retired_key_is_rejected_immediately,
    compromised_keys_stay_rejected,
);
