//! The issuer's keys as the API fetches them: once, again for what is new, and never in a storm.

use serde_json::json;
use std::time::{Duration, Instant};
use tests::{FakeIssuer, Forger, Setup, Shape, Signer, World, all_at_once, on_every_shape};

fn setup_of(shape: Shape, issuer: &FakeIssuer) -> Setup {
    World::of(shape).env("LATCHKEY_JWKS_URL", &issuer.jwks_url)
}

/// A world whose API takes its keys from the fake issuer.
async fn world_of(shape: Shape, issuer: &FakeIssuer) -> World {
    setup_of(shape, issuer).start().await
}

/// A forger who signs with another key than the world's own.
async fn forger_with(world: &World, signer: Signer) -> Forger {
    let person = world.sign_up().await;
    let mut forger = Forger::new(world, &person).await;
    forger.header["kid"] = json!(signer.kid);
    forger.signer = signer;
    forger
}

async fn storm(world: &World, forger: &Forger) {
    let tokens: Vec<String> = (0..100)
        .map(|n| forger.with_header("kid", json!(format!("random-{n}"))))
        .collect();
    let callers: Vec<_> = tokens.iter().map(|token| world.anyone().bearer(token)).collect();
    let replies = all_at_once(100, |n| callers[n].get("/protected").into_future()).await;
    assert!(replies.iter().all(|reply| reply.status == 401), "{}", replies[0]);
}

async fn a_storm_of_unknown_keys_causes_one_fetch_each(shape: Shape) {
    let signer = Signer::stranger("the-key");
    let issuer = FakeIssuer::start(&[&signer]).await;
    let world = world_of(shape, &issuer).await;
    let forger = forger_with(&world, signer).await;
    let good = world.anyone().bearer(&forger.good());
    good.get("/protected").await.expect(200);
    let before = issuer.fetches();
    storm(&world, &forger).await;
    storm(&world, &forger).await;
    assert!(
        issuer.fetches() <= before + world.api_ports().len(),
        "{} fetches for unknown kids",
        issuer.fetches() - before
    );
    good.get("/protected").await.expect(200);
}

async fn a_key_published_since_is_fetched_when_it_is_first_seen(shape: Shape) {
    let (old, new) = (Signer::stranger("old"), Signer::stranger("new"));
    let issuer = FakeIssuer::start(&[&old]).await;
    let world = world_of(shape, &issuer).await;
    issuer.publish(&[&old, &new]);
    let forger = forger_with(&world, new).await;
    world
        .anyone()
        .bearer(&forger.good())
        .get("/protected")
        .await
        .expect(200);
}

async fn the_last_good_set_is_kept_when_a_fetch_goes_wrong(shape: Shape) {
    for (status, body) in [(500, ""), (200, "no json"), (200, "{\"keys\":[]}"), (404, "{}")] {
        let signer = Signer::stranger("the-key");
        let issuer = FakeIssuer::start(&[&signer]).await;
        let world = world_of(shape, &issuer).await;
        let forger = forger_with(&world, signer).await;
        let good = world.anyone().bearer(&forger.good());
        good.get("/protected").await.expect(200);
        issuer.answer(status, body);
        let before = issuer.fetches();
        storm(&world, &forger).await;
        assert!(
            issuer.fetches() <= before + world.api_ports().len(),
            "a failed fetch has its cool-down too"
        );
        good.get("/protected").await.expect(200);
    }
}

async fn without_keys_bearers_wait_sessions_work_and_the_api_recovers(shape: Shape) {
    let signer = Signer::stranger("the-key");
    let issuer = FakeIssuer::start(&[]).await;
    issuer.answer(503, "");
    let world = setup_of(shape, &issuer).unready().start().await;
    let forger = forger_with(&world, signer).await;
    let good = world.anyone().bearer(&forger.good());
    let refused = good
        .get("/protected")
        .may_fail()
        .await
        .expect_error(503, "dependency_unavailable");
    assert!(refused.has("retry-after"), "{refused}");
    let person = world.sign_up().await;
    person.get("/me").await.expect(200);
    let unready = world.anyone().get("/readyz").may_fail().await.expect(503);
    assert!(
        unready.text().to_lowercase().contains("jwks") || unready.text().contains("key"),
        "{unready}"
    );
    issuer.publish(&[&forger.signer]);
    let began = Instant::now();
    for port in world.api_ports() {
        let good = good.at(&format!("http://localhost:{port}"));
        while good.get("/protected").may_fail().await.status != 200 {
            assert!(
                began.elapsed() < Duration::from_secs(5),
                "no keys 5 s after they are back"
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    world.anyone().get("/readyz").await.expect(200);
}

async fn a_key_that_is_not_for_rs256_signatures_is_not_used(shape: Shape) {
    let signer = Signer::stranger("the-key");
    let issuer = FakeIssuer::start(&[&signer]).await;
    for (member, value) in [("use", "enc"), ("alg", "RS512"), ("kty", "EC")] {
        let mut jwk = signer.jwk();
        jwk[member] = json!(value);
        issuer.answer(
            200,
            &json!({ "keys": [jwk, Signer::stranger("other").jwk()] }).to_string(),
        );
        let world = world_of(shape, &issuer).await;
        let forger = forger_with(&world, Signer::stranger("the-key")).await;
        let token = signer.sign(&forger.header.to_string(), &forger.claims.to_string());
        world
            .anyone()
            .bearer(&token)
            .get("/protected")
            .await
            .expect_error(401, "invalid_token");
    }
}

async fn of_two_keys_with_one_name_neither_is_used(shape: Shape) {
    let signer = Signer::stranger("the-key");
    let (twin, other) = (Signer::stranger("the-key"), Signer::stranger("other"));
    for keys in [[&signer, &twin, &other], [&twin, &signer, &other]] {
        let issuer = FakeIssuer::start(&keys).await;
        let world = world_of(shape, &issuer).await;
        let forger = forger_with(&world, Signer::stranger("the-key")).await;
        let token = signer.sign(&forger.header.to_string(), &forger.claims.to_string());
        let refused = world.anyone().bearer(&token).get("/protected").await;
        refused.expect_error(401, "invalid_token");
    }
}

on_every_shape!(
    of_two_keys_with_one_name_neither_is_used,
    a_storm_of_unknown_keys_causes_one_fetch_each,
    a_key_published_since_is_fetched_when_it_is_first_seen,
    the_last_good_set_is_kept_when_a_fetch_goes_wrong,
    without_keys_bearers_wait_sessions_work_and_the_api_recovers,
    a_key_that_is_not_for_rs256_signatures_is_not_used,
);
