//! Emergencies: a key that somebody else may have is gone at once, and so is all that it signed.

use super::{
    IN_TIME, RIPE, SOON, has_private_half, list, one, refused, rotate, until_published, until_signed_by,
};
use serde_json::Value;
use std::time::{Duration, Instant};
use tests::{Forger, Shape, Tokens, World, on_every_shape};

fn throw_away(world: &World, kid: &str) -> Value {
    let change = world.cli(&["keys", "retire", kid, "--compromised", "--json"], "");
    assert_eq!(
        (&change["done"], &change["kid"]),
        (&"discarded".into(), &kid.into()),
        "{change}"
    );
    change
}

/// Calls until the token is refused; within a second it must be, by every replica.
async fn until_refused(world: &World, token: &str) {
    let (caller, began) = (world.anyone().bearer(token), Instant::now());
    let mut in_a_row = 0;
    while in_a_row < 4 {
        in_a_row = if caller.get("/protected").await.status == 401 {
            in_a_row + 1
        } else {
            0
        };
        assert!(in_a_row > 0 || began.elapsed() < SOON, "accepted for a second");
    }
}

/// The key is deleted, marked, erased, and published no more.
async fn expect_gone(world: &World, kid: &str) {
    let keys = list(world);
    let key = keys.iter().find(|key| key["kid"] == kid).unwrap();
    assert_eq!(
        (&key["state"], &key["compromised"]),
        (&"deleted".into(), &true.into()),
        "{key}"
    );
    assert!(!has_private_half(world, kid).await);
    until_published(world, SOON, |kids| !kids.iter().any(|one| one == kid)).await;
}

async fn a_compromised_active_key_is_dead_and_the_staged_one_signs(shape: Shape) {
    let world = World::of(shape).clock().start().await;
    let (ann, app) = world.person_and_app().await;
    let mut tokens = app.tokens(&ann, "posts:read").await;
    let thief = Forger::new(&world, &ann).await;
    let old = tokens.access.clone();
    world.advance(RIPE);
    let (first, second) = (one(&world, "active"), one(&world, "staged"));
    let change = throw_away(&world, &first);
    assert_eq!(change["active"], second.as_str());
    assert_eq!(change["staged"], one(&world, "staged").as_str());
    until_refused(&world, &old).await;
    until_signed_by(&world, &app, &mut tokens, &second).await;
    world
        .anyone()
        .bearer(&tokens.access)
        .get("/protected")
        .await
        .expect(200);
    expect_gone(&world, &first).await;
    // The thief goes on signing, for as long as they like.
    let forged = thief.with_claim("iat", Value::from(world.now().seconds()));
    until_refused(&world, &forged).await;
    assert!(refused(&world, &["keys", "retire", &first, "--compromised"]).contains("deleted"));
}

async fn two_emergencies_in_a_row_leave_no_key_until_one_may_sign(shape: Shape) {
    let world = World::of(shape).clock().start().await;
    let (ann, app) = world.person_and_app().await;
    world.advance(RIPE);
    let mut tokens = app.tokens(&ann, "posts:read").await;
    let (first, second) = (one(&world, "active"), one(&world, "staged"));
    throw_away(&world, &first);
    let change = throw_away(&world, &second);
    let third = one(&world, "staged");
    let again = world.now().after(RIPE).to_string();
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
        // Signed before this replica knew: the next refresh goes on from it.
        tokens = Tokens::of(reply);
        in_a_row = 0;
        assert!(began.elapsed() < SOON, "a deleted key signs");
    }
    expect_gone(&world, &first).await;
    expect_gone(&world, &second).await;
    // The refusals did not use the refresh token up.
    world.advance(RIPE);
    let began = Instant::now();
    let mut reply = app.refresh(&world.anyone(), &tokens.refresh).may_fail().await;
    while reply.status == 503 {
        assert!(
            began.elapsed() < IN_TIME,
            "the staged key does not sign though it may"
        );
        reply = app.refresh(&world.anyone(), &tokens.refresh).may_fail().await;
    }
    let mut tokens = Tokens::of(reply);
    until_signed_by(&world, &app, &mut tokens, &third).await;
    world
        .anyone()
        .bearer(&tokens.access)
        .get("/protected")
        .await
        .expect(200);
}

async fn a_compromised_staged_key_is_replaced(world: World) {
    let (active, staged) = (one(&world, "active"), one(&world, "staged"));
    let change = throw_away(&world, &staged);
    assert_eq!(change["active"], active.as_str());
    assert_eq!(change["staged"], one(&world, "staged").as_str());
    expect_gone(&world, &staged).await;
}

async fn a_compromised_retired_key_is_dead_at_once(shape: Shape) {
    let world = World::of(shape).clock().start().await;
    let (ann, app) = world.person_and_app().await;
    let mut tokens = app.tokens(&ann, "posts:read").await;
    let (old, first) = (tokens.access.clone(), one(&world, "active"));
    world.advance(RIPE);
    let second = rotate(&world);
    until_signed_by(&world, &app, &mut tokens, &second).await;
    let change = throw_away(&world, &first);
    assert_eq!(change["active"], second.as_str());
    until_refused(&world, &old).await;
    world
        .anyone()
        .bearer(&tokens.access)
        .get("/protected")
        .await
        .expect(200);
    expect_gone(&world, &first).await;
}

/// Its tokens stay refused when the row of any other revocation would long be forgotten.
async fn a_compromised_key_is_refused_for_good(shape: Shape) {
    let world = World::of(shape).clock().start().await;
    let ann = world.sign_up().await;
    let thief = Forger::new(&world, &ann).await;
    throw_away(&world, &one(&world, "active"));
    world.advance(Duration::from_secs(365 * 86_400));
    world.sign_up().await;
    let now = world.now().seconds();
    let mut thief = thief;
    thief.claims["iat"] = now.into();
    until_refused(&world, &thief.with_claim("exp", Value::from(now + 300))).await;
    let query = "SELECT COUNT(*) FROM revocations WHERE kind = 'key' AND subject = $1 AND expires_at > $2";
    let db = world.db().await;
    let kid = thief.signer.kid.as_str();
    let (kept,) = shared::fetch_one!(db.reader(), (i64,), query, kid, world.now()).unwrap();
    assert_eq!(kept, 1);
}

on_every_shape!(
    a_compromised_active_key_is_dead_and_the_staged_one_signs,
    two_emergencies_in_a_row_leave_no_key_until_one_may_sign,
    a_compromised_staged_key_is_replaced,
    a_compromised_retired_key_is_dead_at_once,
    a_compromised_key_is_refused_for_good,
);
