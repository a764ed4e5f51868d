//! Revoked tokens: each of the five kinds of revocation is a row, and is obeyed within a second.

use serde_json::json;
use shared::clock::Timestamp;
use shared::execute;
use std::time::{Duration, Instant};
use tests::{Forger, Shape, World, on_every_shape};

/// Writes a revocation as another process would.
pub(crate) async fn revoke(world: &World, kind: &str, subject: &str) {
    revoke_at(world, kind, subject, world.now()).await;
}

async fn revoke_at(world: &World, kind: &str, subject: &str, now: Timestamp) {
    let db = world.db().await;
    let insert = "INSERT INTO revocations (kind, subject, revoked_at, expires_at) VALUES ($1, $2, $3, $4)";
    execute!(
        db.writer(),
        insert,
        kind,
        subject,
        now,
        now.after(Duration::from_secs(660))
    )
    .unwrap();
}

/// Calls until every API refuses the token; within a second they must.
pub(crate) async fn dies_within_a_second(world: &World, token: &str) {
    let began = Instant::now();
    for port in world.api_ports() {
        let base = format!("http://localhost:{port}");
        let caller = world.anyone().at(&base).bearer(token);
        while caller.get("/protected").await.status == 200 {
            assert!(
                began.elapsed() < Duration::from_secs(1),
                "a revoked token was accepted for a second"
            );
        }
        caller.get("/protected").await.expect_error(401, "invalid_token");
    }
}

/// A token is good, its subject of this kind is revoked, and within a second it is dead. The same name
/// revoked as another kind, and other names of this kind, did it no harm.
async fn is_obeyed(world: World, kind: &str, subject: impl Fn(&Forger) -> String) {
    let person = world.sign_up().await;
    let forger = Forger::new(&world, &person).await;
    let (token, marked) = (forger.good(), forger.with_claim("jti", json!("a-marker")));
    let caller = world.anyone().bearer(&token);
    caller.get("/protected").await.expect(200);
    let subject = subject(&forger);
    revoke(&world, kind, "somebody-else").await;
    for other in ["jti", "user", "client", "family", "key"]
        .into_iter()
        .filter(|other| *other != kind)
    {
        revoke(&world, other, &subject).await;
    }
    revoke(&world, "jti", "a-marker").await;
    dies_within_a_second(&world, &marked).await;
    caller.get("/protected").await.expect(200);
    revoke(&world, kind, &subject).await;
    dies_within_a_second(&world, &token).await;
    caller.get("/me").await.expect_error(401, "invalid_token");
}

fn claim(forger: &Forger, name: &str) -> String {
    forger.claims[name].as_str().unwrap().to_owned()
}

async fn a_token_by_its_jti(world: World) {
    is_obeyed(world, "jti", |forger| claim(forger, "jti")).await;
}

async fn all_tokens_of_a_user(world: World) {
    is_obeyed(world, "user", |forger| claim(forger, "sub")).await;
}

async fn all_tokens_of_a_client(world: World) {
    is_obeyed(world, "client", |forger| claim(forger, "client_id")).await;
}

async fn all_tokens_of_a_grant(world: World) {
    is_obeyed(world, "family", |forger| claim(forger, "grant_id")).await;
}

async fn all_tokens_of_a_signing_key(world: World) {
    is_obeyed(world, "key", |forger| forger.signer.kid.clone()).await;
}

async fn a_revocation_outlives_a_restart(mut world: World) {
    let person = world.sign_up().await;
    let forger = Forger::new(&world, &person).await;
    let caller = world.anyone().bearer(&forger.good());
    revoke(&world, "jti", &claim(&forger, "jti")).await;
    world.kill();
    world.start_again().await;
    caller.get("/protected").await.expect_error(401, "invalid_token");
}

/// The API's clock is three minutes ahead of that of whoever revokes.
async fn a_revocation_by_a_slower_clock_is_obeyed(shape: Shape) {
    let world = World::of(shape).clock().start().await;
    let person = world.sign_up().await;
    let forger = Forger::new(&world, &person).await;
    let others = world.now();
    world.advance(Duration::from_secs(200));
    for (n, jti) in ["one", "another"].into_iter().enumerate() {
        let token = forger.with_claim("jti", json!(jti));
        let caller = world.anyone().bearer(&token);
        caller.get("/protected").await.expect(200);
        let at = others.after(Duration::from_secs(20 * n as u64));
        revoke_at(&world, "jti", jti, at).await;
        dies_within_a_second(&world, &token).await;
    }
}

on_every_shape!(
    a_revocation_by_a_slower_clock_is_obeyed,
    a_token_by_its_jti,
    all_tokens_of_a_user,
    all_tokens_of_a_client,
    all_tokens_of_a_grant,
    all_tokens_of_a_signing_key,
    a_revocation_outlives_a_restart,
);
