//! Fetching of the issuer's key set by the API: caching, refresh for new keys, and protection against request
//! storms.

use serde_json::json;
use tests::{
    FakeIssuer, Shape, Signer, TokenForger, World, WorldBuilder, eventually, on_every_shape, run_concurrently,
};

fn builder_with_issuer(shape: Shape, issuer: &FakeIssuer) -> WorldBuilder {
    World::builder(shape).env("LATCHKEY_JWKS_URL", &issuer.jwks_url)
}

/// A world whose API fetches its keys from the fake issuer.
async fn world_with_issuer(shape: Shape, issuer: &FakeIssuer) -> World {
    builder_with_issuer(shape, issuer).start().await
}

/// Forges tokens with a key other than the issuer's.
async fn forger_with(world: &World, signer: Signer) -> TokenForger {
    let user = world.user().await;
    let mut forger = TokenForger::new(world, &user).await;
    forger.header["kid"] = json!(signer.kid);
    forger.signer = signer;
    forger
}

async fn call_with_unknown_keys(world: &World, forger: &TokenForger) {
    let tokens: Vec<String> = (0..100)
        .map(|n| forger.with_header("kid", json!(format!("random-{n}"))))
        .collect();
    let callers: Vec<_> = tokens.iter().map(|token| world.anyone().bearer(token)).collect();
    let replies = run_concurrently(100, |n| callers[n].get("/protected").into_future()).await;
    assert!(replies.iter().all(|reply| reply.status == 401), "{}", replies[0]);
}

async fn many_unknown_keys_cause_one_fetch_per_replica(shape: Shape) {
    let signer = Signer::unknown("the-key");
    let issuer = FakeIssuer::start(&[&signer]).await;
    let world = world_with_issuer(shape, &issuer).await;
    let forger = forger_with(&world, signer).await;
    let good = world.anyone().bearer(&forger.good());
    good.get("/protected").await.expect(200);
    let before = issuer.fetches();
    call_with_unknown_keys(&world, &forger).await;
    call_with_unknown_keys(&world, &forger).await;
    assert!(
        issuer.fetches() <= before + world.api_ports().len(),
        "{} fetches for unknown kids",
        issuer.fetches() - before
    );
    good.get("/protected").await.expect(200);
}

async fn new_keys_are_fetched_on_first_use(shape: Shape) {
    let (old, new) = (Signer::unknown("old"), Signer::unknown("new"));
    let issuer = FakeIssuer::start(&[&old]).await;
    let world = world_with_issuer(shape, &issuer).await;
    issuer.publish(&[&old, &new]);
    let forger = forger_with(&world, new).await;
    world
        .anyone()
        .bearer(&forger.good())
        .get("/protected")
        .await
        .expect(200);
}

async fn tokens_of_a_key_with_an_empty_kid_are_rejected(shape: Shape) {
    let (named, nameless) = (Signer::unknown("the-key"), Signer::unknown(""));
    let issuer = FakeIssuer::start(&[&named, &nameless]).await;
    let world = world_with_issuer(shape, &issuer).await;
    world
        .expect_accepted(&forger_with(&world, named).await.good())
        .await;
    let token = forger_with(&world, nameless).await.good();
    let refused = world.anyone().bearer(&token).get("/protected").await;
    refused.expect_error(401, "invalid_token");
}

async fn the_last_valid_key_set_survives_failed_fetches(shape: Shape) {
    for (status, body) in [(500, ""), (200, "no json"), (200, "{\"keys\":[]}"), (404, "{}")] {
        let signer = Signer::unknown("the-key");
        let issuer = FakeIssuer::start(&[&signer]).await;
        let world = world_with_issuer(shape, &issuer).await;
        let forger = forger_with(&world, signer).await;
        let good = world.anyone().bearer(&forger.good());
        good.get("/protected").await.expect(200);
        issuer.answer(status, body);
        let before = issuer.fetches();
        call_with_unknown_keys(&world, &forger).await;
        assert!(
            issuer.fetches() <= before + world.api_ports().len(),
            "a failed fetch starts a cool-down too"
        );
        good.get("/protected").await.expect(200);
    }
}

async fn without_keys_bearers_fail_sessions_work_and_the_api_recovers(shape: Shape) {
    let signer = Signer::unknown("the-key");
    let issuer = FakeIssuer::start(&[]).await;
    issuer.answer(503, "");
    let world = builder_with_issuer(shape, &issuer)
        .without_readiness_check()
        .start()
        .await;
    let forger = forger_with(&world, signer).await;
    let good = world.anyone().bearer(&forger.good());
    let refused = good
        .get("/protected")
        .may_fail()
        .await
        .expect_error(503, "dependency_unavailable");
    assert!(refused.has("retry-after"), "{refused}");
    let user = world.user().await;
    user.get("/me").await.expect(200);
    let not_ready = world.anyone().readiness("not ready").await.expect(503);
    // Anybody may read the response, so only the log has the URL.
    assert_eq!(
        not_ready.json()["checks"]["signing_keys"],
        "unavailable",
        "{not_ready}"
    );
    assert!(world.log().contains(&issuer.jwks_url));
    issuer.publish(&[&forger.signer]);
    for good in world.at_each_api(&good) {
        eventually("an API has no keys although the issuer is back", async || {
            good.get("/protected").may_fail().await.status == 200
        })
        .await;
    }
    for api in world.at_each_api(&world.anyone()) {
        api.readiness("ready").await.expect(200);
    }
}

async fn keys_unsuitable_for_rs256_are_not_used(shape: Shape) {
    let signer = Signer::unknown("the-key");
    let issuer = FakeIssuer::start(&[&signer]).await;
    for (member, value) in [("use", "enc"), ("alg", "RS512"), ("kty", "EC")] {
        let mut jwk = signer.jwk();
        jwk[member] = json!(value);
        issuer.answer(
            200,
            &json!({ "keys": [jwk, Signer::unknown("other").jwk()] }).to_string(),
        );
        let world = world_with_issuer(shape, &issuer).await;
        let forger = forger_with(&world, Signer::unknown("the-key")).await;
        let token = signer.sign(&forger.header.to_string(), &forger.claims.to_string());
        world
            .anyone()
            .bearer(&token)
            .get("/protected")
            .await
            .expect_error(401, "invalid_token");
    }
}

async fn keys_that_share_a_kid_are_not_used(shape: Shape) {
    let signer = Signer::unknown("the-key");
    let (twin, other) = (Signer::unknown("the-key"), Signer::unknown("other"));
    for keys in [[&signer, &twin, &other], [&twin, &signer, &other]] {
        let issuer = FakeIssuer::start(&keys).await;
        let world = world_with_issuer(shape, &issuer).await;
        let forger = forger_with(&world, Signer::unknown("the-key")).await;
        let token = signer.sign(&forger.header.to_string(), &forger.claims.to_string());
        let refused = world.anyone().bearer(&token).get("/protected").await;
        refused.expect_error(401, "invalid_token");
    }
}

async fn accepted_tokens_are_rejected_once_their_key_is_replaced_or_unpublished(shape: Shape) {
    for kid_of_new_key in ["the-key", "another-key"] {
        let signer = Signer::unknown("the-key");
        let issuer = FakeIssuer::start(&[&signer]).await;
        let world = world_with_issuer(shape, &issuer).await;
        let forger = forger_with(&world, signer).await;
        let old = world.anyone().bearer(&forger.good());
        let unknown_kid = world
            .anyone()
            .bearer(&forger.with_header("kid", json!("unknown")));
        let apis: Vec<String> = world
            .api_ports()
            .iter()
            .map(|port| format!("http://localhost:{port}"))
            .collect();
        for api in &apis {
            old.at(api).get("/protected").await.expect(200);
            old.at(api).get("/protected").await.expect(200);
        }
        issuer.publish(&[&Signer::unknown(kid_of_new_key)]);
        for api in &apis {
            // The unknown kid makes the API fetch the set again.
            unknown_kid.at(api).get("/protected").await.expect(401);
            let refused = old.at(api).get("/protected").await;
            refused.expect_error(401, "invalid_token");
        }
    }
}

on_every_shape!(
    accepted_tokens_are_rejected_once_their_key_is_replaced_or_unpublished,
    keys_that_share_a_kid_are_not_used,
    many_unknown_keys_cause_one_fetch_per_replica,
    new_keys_are_fetched_on_first_use,
    tokens_of_a_key_with_an_empty_kid_are_rejected,
    the_last_valid_key_set_survives_failed_fetches,
    without_keys_bearers_fail_sessions_work_and_the_api_recovers,
    keys_unsuitable_for_rs256_are_not_used,
);
