//! Revoked tokens: each of the five kinds of revocation is a row, and takes effect within a second.

use foundation::clock::Timestamp;
use serde_json::json;
use std::time::Duration;
use storage::execute;
use tests::{TokenForger, World, on_every_shape, on_many_processes, on_postgresql};

const INSERT: &str =
    "INSERT INTO revocations (kind, subject, revoked_at, expires_at) VALUES ($1, $2, $3, $4)";

/// Inserts a revocation, as another process would.
pub(crate) async fn revoke(world: &World, kind: &str, subject: &str) {
    revoke_at(world, kind, subject, world.now()).await;
}

async fn revoke_at(world: &World, kind: &str, subject: &str, now: Timestamp) {
    let db = world.db().await;
    execute!(
        db.writer(),
        INSERT,
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
    let user = world.user().await;
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
    world.expect_revoked_soon(&marked).await;
    caller.get("/protected").await.expect(200);
    revoke(&world, kind, &subject).await;
    world.expect_revoked_soon(&token).await;
    caller.get("/me").await.expect_error(401, "invalid_token");
}

fn claim(forger: &TokenForger, name: &str) -> String {
    forger.claims[name].as_str().unwrap().to_owned()
}

fn epoch(forger: &TokenForger, id: &str, epoch: &str) -> String {
    format!("{}.{}", claim(forger, id), forger.claims[epoch])
}

async fn revoking_a_jti_rejects_the_token(world: World) {
    expect_revocation_obeyed(world, "jti", |forger| claim(forger, "jti")).await;
}

async fn revoking_a_user_rejects_all_their_tokens(world: World) {
    expect_revocation_obeyed(world, "user", |forger| epoch(forger, "sub", "user_epoch")).await;
}

async fn revoking_a_client_rejects_all_its_tokens(world: World) {
    expect_revocation_obeyed(world, "client", |forger| {
        epoch(forger, "client_id", "client_epoch")
    })
    .await;
}

async fn revoking_a_grant_rejects_all_its_tokens(world: World) {
    expect_revocation_obeyed(world, "family", |forger| claim(forger, "grant_id")).await;
}

async fn revoking_a_signing_key_rejects_all_its_tokens(world: World) {
    expect_revocation_obeyed(world, "key", |forger| forger.signer.kid.clone()).await;
}

async fn revocations_survive_a_restart(mut world: World) {
    let user = world.user().await;
    let forger = TokenForger::new(&world, &user).await;
    let caller = world.anyone().bearer(&forger.good());
    revoke(&world, "jti", &claim(&forger, "jti")).await;
    world.kill();
    world.restart().await;
    caller.get("/protected").await.expect_error(401, "invalid_token");
}

/// The clocks of the revoking processes are an hour ahead and an hour behind.
async fn revocations_hold_despite_clock_skew(world: World) {
    let user = world.user().await;
    let forger = TokenForger::new(&world, &user).await;
    let (now, hour) = (world.now(), Duration::from_secs(3600));
    for (jti, at) in [
        ("ahead", now.after(hour)),
        ("behind", now.before(hour)),
        ("right", now),
    ] {
        let token = forger.with_claim("jti", json!(jti));
        let caller = world.anyone().bearer(&token);
        caller.get("/protected").await.expect(200);
        revoke_at(&world, "jti", jti, at).await;
        world.expect_revoked_soon(&token).await;
    }
}

/// Transactions on PostgreSQL may be committed in another order than that in which they began.
async fn revocations_that_are_committed_late_hold(world: World) {
    let user = world.user().await;
    let forger = TokenForger::new(&world, &user).await;
    let token = |jti: &str| forger.with_claim("jti", json!(jti));
    let db = world.db().await;
    let mut late = db.begin().await.unwrap();
    let (now, expiry) = (world.now(), world.now().after(Duration::from_secs(660)));
    execute!(late.on(), INSERT, "jti", "late", now, expiry).unwrap();
    for jti in ["first", "second"] {
        revoke(&world, "jti", jti).await;
        world.expect_revoked_soon(&token(jti)).await;
    }
    world.expect_accepted(&token("late")).await;
    late.commit().await.unwrap();
    world.expect_revoked_soon(&token("late")).await;
}

/// A read of the revocations finds the new ones only, however many are known.
async fn a_burst_of_revocations_is_read_once(world: World) {
    let user = world.user().await;
    let forger = TokenForger::new(&world, &user).await;
    let db = world.db().await;
    let burst = "INSERT INTO revocations (kind, subject, revoked_at, expires_at)
                 SELECT 'jti', 'burst-' || n, $1, $1 + 660000000 FROM generate_series(1, 5000) AS n";
    execute!(db.writer(), burst, world.now()).unwrap();
    let token = forger.with_claim("jti", json!("burst-5000"));
    world.expect_revoked_soon(&token).await;
    world.expect_idle_mirrors().await;
}

/// A dump that is restored into a new cluster has the transaction numbers of the former one, which the new
/// one reaches years later.
async fn the_rows_of_a_restored_dump_are_read_once(mut world: World) {
    let user = world.user().await;
    let forger = TokenForger::new(&world, &user).await;
    world.stop().await;
    let restore = "INSERT INTO revocations (transaction_id, kind, subject, revoked_at, expires_at)
                   SELECT '900000000000', 'jti', 'restored-' || n, $1, $1 + 660000000 FROM generate_series(1, 5000) AS n";
    execute!(world.db().await.writer(), restore, world.now()).unwrap();
    world.restart().await;
    let restored = forger.with_claim("jti", json!("restored-5000"));
    world.expect_revoked_soon(&restored).await;
    world.expect_idle_mirrors().await;
    // New rows are found beside them.
    revoke(&world, "jti", "new").await;
    world
        .expect_revoked_soon(&forger.with_claim("jti", json!("new")))
        .await;
}

on_many_processes!(revocations_that_are_committed_late_hold);
on_every_shape!(
    revocations_hold_despite_clock_skew,
    revoking_a_jti_rejects_the_token,
    revoking_a_user_rejects_all_their_tokens,
    revoking_a_client_rejects_all_its_tokens,
    revoking_a_grant_rejects_all_its_tokens,
    revoking_a_signing_key_rejects_all_its_tokens,
    revocations_survive_a_restart,
);
on_postgresql!(
    a_burst_of_revocations_is_read_once,
    the_rows_of_a_restored_dump_are_read_once
);
