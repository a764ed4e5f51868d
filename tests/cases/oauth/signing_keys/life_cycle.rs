//! The life cycle of a key from staged to deleted.

use super::{
    RETIREMENT_TIME, STAGING_TIME, expect_command_error, give_up_keys, has_private_key, key_in_state, kids,
    list, published, rotate, wait_until_published, wait_until_signed_by,
};
use foundation::sealing::SealingKey;
use serde_json::json;
use std::time::Duration;
use tests::{Shape, TokenForger, World, eventually, on_every_shape};

const SECOND: Duration = Duration::from_secs(1);

async fn a_staged_key_is_published_and_does_not_sign(world: World) {
    let (active, staged) = (key_in_state(&world, "active"), key_in_state(&world, "staged"));
    assert_eq!(published(&world).await, [active.clone(), staged]);
    let (ann, app) = world.user_and_app().await;
    assert_eq!(app.tokens(&ann, "posts:read").await.kid(), active);
}

/// No verifier can have cached a key set without the key that is staged at the first start. Caches may lack
/// the next one.
async fn a_young_installation_rotates_its_keys_at_once(shape: Shape) {
    let world = World::builder(shape).empty().start().await;
    let (ann, app) = world.user_and_app().await;
    let mut tokens = app.tokens(&ann, "posts:read").await;
    let first = tokens.access.clone();
    let (active, staged) = (key_in_state(&world, "active"), key_in_state(&world, "staged"));
    let rotated = world.cli(&["keys", "retire", &active, "--yes", "--json"], "");
    assert_eq!(
        (
            &rotated["done"],
            &rotated["active"],
            &rotated["caches_may_lack_it_until"]
        ),
        (&json!("rotated"), &json!(staged), &json!(null))
    );
    wait_until_signed_by(&world, &app, &mut tokens, &staged).await;
    for token in [&first, &tokens.access] {
        world.expect_accepted(token).await;
    }
    assert!(expect_command_error(&world, &["keys", "rotate", "--yes"]).contains("may not sign"));
}

async fn early_rotations_fail_and_name_the_earliest_time(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (ann, app) = world.user_and_app().await;
    let mut tokens = app.tokens(&ann, "posts:read").await;
    let second = key_in_state(&world, "staged");
    assert_eq!(rotate(&world), second);
    wait_until_signed_by(&world, &app, &mut tokens, &second).await;
    world.expect_accepted(&tokens.access).await;

    let (before, active) = (list(&world), key_in_state(&world, "active"));
    let until = before[2]["sign_after"].as_str().unwrap();
    assert_eq!(until, world.now().after(STAGING_TIME).to_string());
    for args in [vec!["keys", "rotate", "--yes"], vec!["keys", "retire", &active]] {
        assert!(expect_command_error(&world, &args).contains(until), "{args:?}");
    }
    world.advance(STAGING_TIME - SECOND);
    assert!(expect_command_error(&world, &["keys", "rotate", "--yes"]).contains(until));
    assert_eq!(list(&world), before);
    world.advance(SECOND);
    rotate(&world);
}

async fn rotation_changes_the_signing_key_and_keeps_old_tokens_valid(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (ann, app) = world.user_and_app().await;
    let old = app.tokens(&ann, "posts:read").await;
    let before = world.anyone().get("/.well-known/jwks.json").await.expect(200);
    world.advance(STAGING_TIME);
    let (first, second) = (key_in_state(&world, "active"), key_in_state(&world, "staged"));
    assert_eq!(rotate(&world), second);
    assert_eq!(
        (key_in_state(&world, "retired"), key_in_state(&world, "active")),
        (first.clone(), second.clone())
    );
    let mut new = old.clone();
    wait_until_signed_by(&world, &app, &mut new, &second).await;
    for token in [&old.access, &new.access] {
        world.expect_accepted(token).await;
    }
    let third = key_in_state(&world, "staged");
    wait_until_published(&world, |kids| {
        *kids == [first.clone(), second.clone(), third.clone()]
    })
    .await;
    let jwks = || world.anyone().get("/.well-known/jwks.json");
    let after = jwks()
        .header("if-none-match", before.header("etag"))
        .await
        .expect(200);
    assert_ne!(after.header("etag"), before.header("etag"));
    assert_eq!(after.header("cache-control"), "public, max-age=300");
    let unchanged = jwks()
        .header("if-none-match", after.header("etag"))
        .await
        .expect(304);
    assert_eq!(unchanged.header("etag"), after.header("etag"));
    assert_eq!(unchanged.header("cache-control"), "public, max-age=300");
}

async fn the_active_key_can_be_retired_by_kid(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    world.advance(STAGING_TIME);
    let (first, second) = (key_in_state(&world, "active"), key_in_state(&world, "staged"));
    let retired = world.cli(&["keys", "retire", &first, "--json"], "");
    assert_eq!(
        (&retired["done"], &retired["active"]),
        (&json!("rotated"), &json!(second))
    );
    assert_eq!(key_in_state(&world, "retired"), first);
}

async fn retired_keys_stay_published_until_their_last_token_expires(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let first = key_in_state(&world, "active");
    world.advance(STAGING_TIME);
    rotate(&world);
    let until = world.now().after(RETIREMENT_TIME).to_string();
    assert_eq!(list(&world)[0]["dead_after"], until.as_str());
    world.advance(RETIREMENT_TIME - SECOND);
    assert!(expect_command_error(&world, &["keys", "retire", &first]).contains(&until));
    assert!(published(&world).await.contains(&first) && has_private_key(&world, &first).await);
    world.advance(SECOND);
    wait_until_published(&world, |kids| !kids.contains(&first)).await;
    assert!(!has_private_key(&world, &first).await);
    let deleted = &list(&world)[0];
    assert_eq!(
        (&deleted["state"], &deleted["compromised"]),
        (&json!("deleted"), &json!(false))
    );
    assert!(expect_command_error(&world, &["keys", "retire", &first]).contains("deleted"));
}

async fn keys_rotate_automatically_after_their_lifetime(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (first, second) = (key_in_state(&world, "active"), key_in_state(&world, "staged"));
    world.advance(Duration::from_secs(30 * 86_400));
    wait_until_published(&world, |kids| kids.len() == 3).await;
    assert_eq!(
        (key_in_state(&world, "retired"), key_in_state(&world, "active")),
        (first, second.clone())
    );
    assert_ne!(key_in_state(&world, "staged"), second);
    let (ann, app) = world.user_and_app().await;
    let tokens = app.tokens(&ann, "posts:read").await;
    assert_eq!(tokens.kid(), second);
    world.expect_accepted(&tokens.access).await;
}

async fn staged_and_unknown_keys_cannot_be_retired(shape: Shape) {
    let world = World::builder(shape).start().await;
    let (before, staged) = (list(&world), key_in_state(&world, "staged"));
    assert!(expect_command_error(&world, &["keys", "retire", &staged]).contains("staged"));
    assert!(expect_command_error(&world, &["keys", "retire", "nobody"]).contains("nobody"));
    assert!(expect_command_error(&world, &["keys", "retire", "nobody", "--compromised"]).contains("nobody"));
    assert_eq!(list(&world), before);
}

/// The issuer could not unseal a key that was sealed with another master key.
async fn commands_with_another_master_key_change_nothing(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    world.advance(STAGING_TIME);
    let (before, active) = (list(&world), key_in_state(&world, "active"));
    // One key in 64 begins with a hyphen, as an option does.
    let mut keys = std::iter::repeat_with(|| SealingKey::generate().to_text());
    let other = keys.find(|key| key.starts_with('-')).unwrap();
    for args in [
        vec!["keys", "rotate", "--yes"],
        vec!["keys", "retire", &active, "--compromised"],
    ] {
        let refused = world.run(&[&args[..], &["--master-key", &other]].concat(), "");
        let message = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(64), "{args:?}: {message}");
        assert!(message.contains("MASTER_KEY"), "{message}");
    }
    assert_eq!(list(&world), before);
}

async fn the_api_learns_of_new_keys_by_notification(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (ann, app) = world.user_and_app().await;
    let mut tokens = app.tokens(&ann, "posts:read").await;
    world.advance(STAGING_TIME);
    let second = rotate(&world);
    let third = key_in_state(&world, "staged");
    wait_until_published(&world, |kids| kids.contains(&third)).await;
    // From here on unknown kids do not cause a fetch.
    let forger = TokenForger::new(&world, &ann).await;
    for n in 0..4 {
        let token = forger.with_header("kid", json!(format!("unknown-{n}")));
        let refused = world.anyone().bearer(&token).get("/protected").await;
        refused.expect_error(401, "invalid_token");
    }
    // This key is staged after the cool-down began, so the API can only know it by notification.
    world.advance(STAGING_TIME);
    assert_eq!(rotate(&world), third);
    let fourth = key_in_state(&world, "staged");
    wait_until_published(&world, |kids| kids.contains(&fourth)).await;
    world.advance(STAGING_TIME);
    assert_eq!(rotate(&world), fourth);
    wait_until_signed_by(&world, &app, &mut tokens, &fourth).await;
    world.expect_accepted(&tokens.access).await;
    assert_eq!(kids(&world, "deleted"), [] as [String; 0]);
    assert!(kids(&world, "retired").contains(&second));
}

/// After the loss of the master key no key is active, and the issuer must still start.
async fn the_issuer_starts_while_no_key_may_sign(shape: Shape) {
    let mut world = World::builder(shape).clock().start().await;
    world.stop().await;
    give_up_keys(&world).await;
    world.restart().await;
    let staged = key_in_state(&world, "staged");
    assert!(kids(&world, "active").is_empty());
    world.advance(STAGING_TIME);
    eventually("the staged key does not become active", async || {
        kids(&world, "active") == [staged.clone()]
    })
    .await;
}

on_every_shape!(
    a_staged_key_is_published_and_does_not_sign,
    a_young_installation_rotates_its_keys_at_once,
    early_rotations_fail_and_name_the_earliest_time,
    rotation_changes_the_signing_key_and_keeps_old_tokens_valid,
    the_active_key_can_be_retired_by_kid,
    retired_keys_stay_published_until_their_last_token_expires,
    keys_rotate_automatically_after_their_lifetime,
    staged_and_unknown_keys_cannot_be_retired,
    commands_with_another_master_key_change_nothing,
    the_api_learns_of_new_keys_by_notification,
    the_issuer_starts_while_no_key_may_sign,
);
