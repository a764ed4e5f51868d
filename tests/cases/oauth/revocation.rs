//! Revoked tokens: each of the five kinds of revocation is a row, and takes effect within a second.

use foundation::clock::Timestamp;
use serde_json::json;
use std::time::{Duration, Instant};
use storage::execute;
use tests::{Shape, TokenForger, World, on_every_shape};

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

/// Expects that every API rejects the token within a second.
pub(crate) async fn expect_rejected_within_a_second(world: &World, token: &str) {
    let began = Instant::now();
    for port in world.api_ports() {
        let base = format!("http://localhost:{port}");
        let caller = world.anyone().at(&base).bearer(token);
        while caller.get("/protected").await.status == 200 {
            assert!(
                began.elapsed() < Duration::from_secs(1),
                "a revoked token was accepted for more than a second"
            );
        }
        caller.get("/protected").await.expect_error(401, "invalid_token");
    }
}

/// Expects that revoking a subject of this kind rejects its token within a second, and that revoking the same
/// name as another kind, or another name of this kind, does not.
async fn expect_revocation_obeyed(world: World, kind: &str, subject: impl Fn(&TokenForger) -> String) {
    let user = world.sign_up().await;
    let forger = TokenForger::new(&world, &user).await;
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
    expect_rejected_within_a_second(&world, &marked).await;
    caller.get("/protected").await.expect(200);
    revoke(&world, kind, &subject).await;
    expect_rejected_within_a_second(&world, &token).await;
    caller.get("/me").await.expect_error(401, "invalid_token");
}

fn claim(forger: &TokenForger, name: &str) -> String {
    forger.claims[name].as_str().unwrap().to_owned()
}

async fn revoking_a_jti_rejects_the_token(world: World) {
    expect_revocation_obeyed(world, "jti", |forger| claim(forger, "jti")).await;
}

async fn revoking_a_user_rejects_all_their_tokens(world: World) {
    expect_revocation_obeyed(world, "user", |forger| claim(forger, "sub")).await;
}

async fn revoking_a_client_rejects_all_its_tokens(world: World) {
    expect_revocation_obeyed(world, "client", |forger| claim(forger, "client_id")).await;
}

async fn revoking_a_grant_rejects_all_its_tokens(world: World) {
    expect_revocation_obeyed(world, "family", |forger| claim(forger, "grant_id")).await;
}

async fn revoking_a_signing_key_rejects_all_its_tokens(world: World) {
    expect_revocation_obeyed(world, "key", |forger| forger.signer.kid.clone()).await;
}

async fn revocations_survive_a_restart(mut world: World) {
    let user = world.sign_up().await;
    let forger = TokenForger::new(&world, &user).await;
    let caller = world.anyone().bearer(&forger.good());
    revoke(&world, "jti", &claim(&forger, "jti")).await;
    world.kill();
    world.restart().await;
    caller.get("/protected").await.expect_error(401, "invalid_token");
}

/// The clock of the API is three minutes ahead of the revoking process.
async fn revocations_hold_despite_clock_skew(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let user = world.sign_up().await;
    let forger = TokenForger::new(&world, &user).await;
    let others = world.now();
    world.advance(Duration::from_secs(200));
    for (n, jti) in ["one", "another"].into_iter().enumerate() {
        let token = forger.with_claim("jti", json!(jti));
        let caller = world.anyone().bearer(&token);
        caller.get("/protected").await.expect(200);
        let at = others.after(Duration::from_secs(20 * n as u64));
        revoke_at(&world, "jti", jti, at).await;
        expect_rejected_within_a_second(&world, &token).await;
    }
}

on_every_shape!(
    revocations_hold_despite_clock_skew,
    revoking_a_jti_rejects_the_token,
    revoking_a_user_rejects_all_their_tokens,
    revoking_a_client_rejects_all_its_tokens,
    revoking_a_grant_rejects_all_its_tokens,
    revoking_a_signing_key_rejects_all_its_tokens,
    revocations_survive_a_restart,
);
