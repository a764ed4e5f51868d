//! Revoked tokens: each of the five kinds of revocation is a row, and takes effect within a second.

use foundation::clock::Timestamp;
use serde_json::json;
use std::time::Duration;
use storage::execute;
use tests::{Shape, TokenForger, World, on_every_shape};

const SECOND: Duration = Duration::from_secs(1);

/// Inserts a revocation, as another process would.
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

/// Expects that a revocation of this kind and subject rejects the token within a second, and that a
/// revocation of the same subject with another kind, or of another subject, does not.
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
    // Once the API has read this last row, it has read the others too.
    revoke(&world, "jti", "a-marker").await;
    world.expect_revoked_within(SECOND, &marked).await;
    caller.get("/protected").await.expect(200);
    revoke(&world, kind, &subject).await;
    world.expect_revoked_within(SECOND, &token).await;
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

/// The clock of the API is more than three minutes ahead of the clock of the revoking process.
async fn revocations_hold_despite_clock_skew(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let user = world.sign_up().await;
    let forger = TokenForger::new(&world, &user).await;
    let behind = world.now();
    world.advance(Duration::from_secs(200));
    for (n, jti) in ["one", "another"].into_iter().enumerate() {
        let token = forger.with_claim("jti", json!(jti));
        let caller = world.anyone().bearer(&token);
        caller.get("/protected").await.expect(200);
        let at = behind.after(Duration::from_secs(20 * n as u64));
        revoke_at(&world, "jti", jti, at).await;
        world.expect_revoked_within(SECOND, &token).await;
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
