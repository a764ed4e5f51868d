//! From staged to deleted, each in its time.

use super::{
    DEAD, IN_TIME, RIPE, SOON, has_private_half, kids, list, one, published, refused, rotate,
    until_published, until_signed_by,
};
use serde_json::json;
use std::time::{Duration, Instant};
use tests::{Forger, Shape, World, on_every_shape};

const SECOND: Duration = Duration::from_secs(1);

async fn a_staged_key_is_published_and_does_not_sign(world: World) {
    let (active, staged) = (one(&world, "active"), one(&world, "staged"));
    assert_eq!(published(&world).await, [active.clone(), staged]);
    let (ann, app) = world.person_and_app().await;
    assert_eq!(app.tokens(&ann, "posts:read").await.kid(), active);
}

async fn a_rotation_too_early_is_refused_and_the_refusal_says_until_when(shape: Shape) {
    let world = World::of(shape).clock().start().await;
    let (before, active) = (list(&world), one(&world, "active"));
    let until = before[1]["sign_after"].as_str().unwrap();
    assert_eq!(until, world.now().after(RIPE).to_string());
    for args in [vec!["keys", "rotate"], vec!["keys", "retire", &active]] {
        assert!(refused(&world, &args).contains(until), "{args:?}");
    }
    world.advance(RIPE - SECOND);
    assert!(refused(&world, &["keys", "rotate"]).contains(until));
    assert_eq!(list(&world), before);
    world.advance(SECOND);
    rotate(&world);
}

async fn a_rotation_changes_who_signs_and_what_was_signed_stays_good(shape: Shape) {
    let world = World::of(shape).clock().start().await;
    let (ann, app) = world.person_and_app().await;
    let old = app.tokens(&ann, "posts:read").await;
    let before = world.anyone().get("/.well-known/jwks.json").await.expect(200);
    world.advance(RIPE);
    let (first, second) = (one(&world, "active"), one(&world, "staged"));
    assert_eq!(rotate(&world), second);
    assert_eq!(
        (one(&world, "retired"), one(&world, "active")),
        (first.clone(), second.clone())
    );
    let mut new = old.clone();
    until_signed_by(&world, &app, &mut new, &second).await;
    for token in [&old.access, &new.access] {
        world.anyone().bearer(token).get("/protected").await.expect(200);
    }
    let third = one(&world, "staged");
    until_published(&world, SOON, |kids| {
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

async fn the_active_key_retires_by_name_too(shape: Shape) {
    let world = World::of(shape).clock().start().await;
    world.advance(RIPE);
    let (first, second) = (one(&world, "active"), one(&world, "staged"));
    let retired = world.cli(&["keys", "retire", &first, "--json"], "");
    assert_eq!(
        (&retired["done"], &retired["active"]),
        (&json!("rotated"), &json!(second))
    );
    assert_eq!(one(&world, "retired"), first);
}

async fn a_retired_key_stays_until_its_last_token_is_dead_and_no_longer(shape: Shape) {
    let world = World::of(shape).clock().start().await;
    let first = one(&world, "active");
    world.advance(RIPE);
    rotate(&world);
    let until = world.now().after(DEAD).to_string();
    assert_eq!(list(&world)[0]["dead_after"], until.as_str());
    world.advance(DEAD - SECOND);
    assert!(refused(&world, &["keys", "retire", &first]).contains(&until));
    assert!(published(&world).await.contains(&first) && has_private_half(&world, &first).await);
    world.advance(SECOND);
    until_published(&world, IN_TIME, |kids| !kids.contains(&first)).await;
    assert!(!has_private_half(&world, &first).await);
    let deleted = &list(&world)[0];
    assert_eq!(
        (&deleted["state"], &deleted["compromised"]),
        (&json!("deleted"), &json!(false))
    );
    assert!(refused(&world, &["keys", "retire", &first]).contains("deleted"));
}

async fn a_key_that_has_signed_for_its_lifetime_gives_way_by_itself(shape: Shape) {
    let world = World::of(shape).clock().start().await;
    let (first, second) = (one(&world, "active"), one(&world, "staged"));
    world.advance(Duration::from_secs(30 * 86_400));
    until_published(&world, IN_TIME, |kids| kids.len() == 3).await;
    assert_eq!(
        (one(&world, "retired"), one(&world, "active")),
        (first, second.clone())
    );
    assert_ne!(one(&world, "staged"), second);
    let (ann, app) = world.person_and_app().await;
    let tokens = app.tokens(&ann, "posts:read").await;
    assert_eq!(tokens.kid(), second);
    world
        .anyone()
        .bearer(&tokens.access)
        .get("/protected")
        .await
        .expect(200);
}

async fn what_cannot_be_retired_is_refused(shape: Shape) {
    let world = World::of(shape).start().await;
    let (before, staged) = (list(&world), one(&world, "staged"));
    assert!(refused(&world, &["keys", "retire", &staged]).contains("staged"));
    assert!(refused(&world, &["keys", "retire", "nobody"]).contains("nobody"));
    assert!(refused(&world, &["keys", "retire", "nobody", "--compromised"]).contains("nobody"));
    assert_eq!(list(&world), before);
}

/// A key that was sealed under another master key would be of no use to the issuer.
async fn a_command_with_another_master_key_changes_nothing(shape: Shape) {
    let world = World::of(shape).clock().start().await;
    world.advance(RIPE);
    let (before, active) = (list(&world), one(&world, "active"));
    let other = shared::seal::SealingKey::generate().to_text();
    for args in [
        vec!["keys", "rotate"],
        vec!["keys", "retire", &active, "--compromised"],
    ] {
        let refused = world.run(&[&args[..], &["--master-key", &other]].concat(), "");
        let says = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(64), "{args:?}: {says}");
        assert!(says.contains("MASTER_KEY"), "{says}");
    }
    assert_eq!(list(&world), before);
}

async fn the_api_learns_of_a_new_key_from_the_feed(shape: Shape) {
    let world = World::of(shape).clock().start().await;
    let (ann, app) = world.person_and_app().await;
    let mut tokens = app.tokens(&ann, "posts:read").await;
    world.advance(RIPE);
    let second = rotate(&world);
    let third = one(&world, "staged");
    until_published(&world, SOON, |kids| kids.contains(&third)).await;
    // From here on no unknown kid leads to a fetch.
    let forger = Forger::new(&world, &ann).await;
    for n in 0..4 {
        let token = forger.with_header("kid", json!(format!("unknown-{n}")));
        let refused = world.anyone().bearer(&token).get("/protected").await;
        refused.expect_error(401, "invalid_token");
    }
    // The first one after the cool-down began is staged here, and known by the feed alone.
    world.advance(RIPE);
    assert_eq!(rotate(&world), third);
    let fourth = one(&world, "staged");
    until_published(&world, SOON, |kids| kids.contains(&fourth)).await;
    world.advance(RIPE);
    assert_eq!(rotate(&world), fourth);
    until_signed_by(&world, &app, &mut tokens, &fourth).await;
    world
        .anyone()
        .bearer(&tokens.access)
        .get("/protected")
        .await
        .expect(200);
    assert_eq!(kids(&world, "deleted"), [] as [String; 0]);
    assert!(kids(&world, "retired").contains(&second));
}

/// A start that finds no key active, since two emergencies came in a row, is a start all the same.
async fn an_issuer_starts_while_no_key_may_sign(shape: Shape) {
    let mut world = World::of(shape).clock().start().await;
    let active = one(&world, "active");
    world.cli(&["keys", "retire", &active, "--compromised", "--json"], "");
    world.stop().await;
    world.start_again().await;
    let staged = one(&world, "staged");
    let began = Instant::now();
    world.advance(RIPE);
    while kids(&world, "active") != [staged.clone()] {
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", list(&world));
    }
}

on_every_shape!(
    a_staged_key_is_published_and_does_not_sign,
    a_rotation_too_early_is_refused_and_the_refusal_says_until_when,
    a_rotation_changes_who_signs_and_what_was_signed_stays_good,
    the_active_key_retires_by_name_too,
    a_retired_key_stays_until_its_last_token_is_dead_and_no_longer,
    a_key_that_has_signed_for_its_lifetime_gives_way_by_itself,
    what_cannot_be_retired_is_refused,
    a_command_with_another_master_key_changes_nothing,
    the_api_learns_of_a_new_key_from_the_feed,
    an_issuer_starts_while_no_key_may_sign,
);
