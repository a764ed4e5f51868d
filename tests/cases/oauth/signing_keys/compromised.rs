//! Compromised keys are deleted immediately, and their tokens are rejected.

use super::{
    COMMAND_TIMEOUT, ROTATION_TIMEOUT, STAGING_TIME, expect_command_error, has_private_key, key_in_state,
    list, rotate, wait_until_published, wait_until_signed_by,
};
use serde_json::Value;
use std::time::{Duration, Instant};
use tests::{Shape, TokenForger, Tokens, World, on_every_shape};

fn mark_compromised(world: &World, kid: &str) -> Value {
    let change = world.cli(&["keys", "retire", kid, "--compromised", "--json"], "");
    assert_eq!(
        (&change["done"], &change["kid"]),
        (&"discarded".into(), &kid.into()),
        "{change}"
    );
    change
}

/// Expects that every replica rejects the token within a second.
async fn wait_until_rejected(world: &World, token: &str) {
    let (caller, began) = (world.anyone().bearer(token), Instant::now());
    let mut in_a_row = 0;
    while in_a_row < 4 {
        in_a_row = if caller.get("/protected").await.status == 401 {
            in_a_row + 1
        } else {
            0
        };
        assert!(
            in_a_row > 0 || began.elapsed() < COMMAND_TIMEOUT,
            "accepted for more than a second"
        );
    }
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
    wait_until_published(world, COMMAND_TIMEOUT, |kids| !kids.iter().any(|one| one == kid)).await;
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
    wait_until_rejected(&world, &old).await;
    wait_until_signed_by(&world, &app, &mut tokens, &second).await;
    world.expect_accepted(&tokens.access).await;
    expect_deleted(&world, &first).await;
    // An attacker keeps signing with the key.
    let forged = attacker.with_claim("iat", Value::from(world.now().seconds()));
    wait_until_rejected(&world, &forged).await;
    assert!(expect_command_error(&world, &["keys", "retire", &first, "--compromised"]).contains("deleted"));
}

async fn two_compromises_in_a_row_stop_signing_until_the_new_key_may_sign(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (ann, app) = world.user_and_app().await;
    // Before the clock moves: right after that, a replica does not sign until it has read its keys again.
    let mut tokens = app.tokens(&ann, "posts:read").await;
    world.advance(STAGING_TIME);
    let (first, second) = (key_in_state(&world, "active"), key_in_state(&world, "staged"));
    mark_compromised(&world, &first);
    let change = mark_compromised(&world, &second);
    let third = key_in_state(&world, "staged");
    let again = world.now().after(STAGING_TIME).to_string();
    assert_eq!(
        (&change["active"], &change["staged"]),
        (&Value::Null, &third.as_str().into())
    );
    assert_eq!(change["signs_again_at"], again.as_str());
    let began = Instant::now();
    let mut in_a_row = 0;
    while in_a_row < 4 {
        let reply = app.refresh(&world.anyone(), &tokens.refresh).may_fail().await;
        if reply.status == 503 {
            let reply = reply.expect_token_error(503, "temporarily_unavailable");
            let wait: u64 = reply.header("retry-after").parse().unwrap();
            assert!((301..=302).contains(&wait), "{reply}");
            in_a_row += 1;
            continue;
        }
        // Signed before this replica knew, so the next refresh continues from it.
        tokens = Tokens::parse(reply);
        in_a_row = 0;
        assert!(began.elapsed() < COMMAND_TIMEOUT, "a deleted key still signs");
    }
    expect_deleted(&world, &first).await;
    expect_deleted(&world, &second).await;
    // The failed refreshes did not use up the refresh token.
    world.advance(STAGING_TIME);
    let began = Instant::now();
    let mut reply = app.refresh(&world.anyone(), &tokens.refresh).may_fail().await;
    while reply.status == 503 {
        assert!(
            began.elapsed() < ROTATION_TIMEOUT,
            "the staged key does not sign yet"
        );
        reply = app.refresh(&world.anyone(), &tokens.refresh).may_fail().await;
    }
    let mut tokens = Tokens::parse(reply);
    wait_until_signed_by(&world, &app, &mut tokens, &third).await;
    world.expect_accepted(&tokens.access).await;
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
    wait_until_rejected(&world, &old).await;
    world.expect_accepted(&tokens.access).await;
    expect_deleted(&world, &first).await;
}

/// The tokens of a compromised key stay rejected after the retention time of other revocations.
async fn compromised_keys_stay_rejected(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let ann = world.sign_up().await;
    let attacker = TokenForger::new(&world, &ann).await;
    mark_compromised(&world, &key_in_state(&world, "active"));
    world.advance(Duration::from_secs(365 * 86_400));
    world.sign_up().await;
    let now = world.now().seconds();
    let mut attacker = attacker;
    attacker.claims["iat"] = now.into();
    wait_until_rejected(&world, &attacker.with_claim("exp", Value::from(now + 300))).await;
    let query = "SELECT COUNT(*) FROM revocations WHERE kind = 'key' AND subject = $1 AND expires_at > $2";
    let db = world.db().await;
    let kid = attacker.signer.kid.as_str();
    let (kept,) = storage::fetch_one!(db.reader(), (i64,), query, kid, world.now()).unwrap();
    assert_eq!(kept, 1);
}

on_every_shape!(
    compromising_the_active_key_promotes_the_staged_key,
    two_compromises_in_a_row_stop_signing_until_the_new_key_may_sign,
    a_compromised_staged_key_is_replaced,
    a_compromised_retired_key_is_rejected_immediately,
    compromised_keys_stay_rejected,
);
