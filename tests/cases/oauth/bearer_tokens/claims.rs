//! The claims.

use super::gate;
use serde_json::json;
use std::time::Duration;
use tests::{Shape, World, on_every_shape};

async fn the_issuer_is_ours(world: World) {
    let gate = gate(&world).await;
    let slash = format!("{}/", world.base());
    let shouted = world.base().to_uppercase();
    let values = [
        json!("https://evil.test"),
        json!(slash),
        json!(shouted),
        json!(""),
        json!(1),
        json!(null),
        json!([world.base()]),
    ];
    gate.refuses_claim("iss", &values).await;
}

async fn the_audience_is_exactly_ours(world: World) {
    let gate = gate(&world).await;
    gate.passes(&gate.forger.with_claim("aud", json!([world.base()])))
        .await;
    let (ours, slash) = (world.base(), format!("{}/", world.base()));
    let values = [
        json!("https://other.test"),
        json!(slash),
        json!(""),
        json!([]),
        json!([ours, "https://other.test"]),
        json!(["https://other.test", ours]),
        json!([ours, ours]),
        json!([[ours]]),
        json!(1),
        json!(null),
        json!({ "aud": ours }),
    ];
    gate.refuses_claim("aud", &values).await;
}

async fn it_has_not_expired_not_by_a_second(shape: Shape) {
    let world = World::of(shape).clock().start().await;
    let gate = gate(&world).await;
    let now = world.now().seconds();
    gate.passes(&gate.forger.with_claim("exp", json!(now + 1))).await;
    let past = [json!(now), json!(now - 1), json!(0), json!(-1)];
    gate.refuses_claim("exp", &past).await;
    let wrong = [
        json!((now + 60).to_string()),
        json!("9999999999"),
        json!(1e308),
        json!(null),
        json!(true),
        json!([now + 60]),
    ];
    gate.refuses_claim("exp", &wrong).await;
}

async fn it_is_not_older_than_600_seconds(shape: Shape) {
    let world = World::of(shape).clock().start().await;
    let gate = gate(&world).await;
    let now = world.now().seconds();
    gate.passes(&gate.forger.with_claim("iat", json!(now - 600)))
        .await;
    let wrong = [
        json!(now - 601),
        json!(0),
        json!(-1),
        json!(now.to_string()),
        json!(null),
        json!(true),
    ];
    gate.refuses_claim("iat", &wrong).await;
    let token = gate.forger.with_claim("exp", json!(now + 86_400));
    world.advance(Duration::from_secs(600));
    gate.passes(&token).await;
    world.advance(Duration::from_secs(1));
    gate.refuses("a second later", &token).await;
}

async fn it_is_from_30_seconds_ahead_at_most(shape: Shape) {
    let world = World::of(shape).clock().start().await;
    let gate = gate(&world).await;
    let now = world.now().seconds();
    for name in ["iat", "nbf"] {
        gate.passes(&gate.forger.with_claim(name, json!(now + 30))).await;
        gate.refuses(name, &gate.forger.with_claim(name, json!(now + 31)))
            .await;
        gate.refuses(name, &gate.forger.with_claim(name, json!(now + 86_400)))
            .await;
    }
    for wrong in [
        json!((now + 60).to_string()),
        json!((now - 60).to_string()),
        json!(null),
        json!(1e308),
    ] {
        gate.refuses(&format!("nbf {wrong}"), &gate.forger.with_claim("nbf", wrong))
            .await;
    }
}

async fn it_says_who_for_whom_and_what(world: World) {
    let gate = gate(&world).await;
    let wrong = [
        json!(1),
        json!(null),
        json!(["x"]),
        json!({ "x": 1 }),
        json!(true),
    ];
    for claim in ["jti", "sub", "client_id", "scope"] {
        gate.refuses_claim(claim, &wrong).await;
    }
}

async fn no_member_is_there_twice(world: World) {
    let gate = gate(&world).await;
    let (header, claims) = (gate.forger.header.to_string(), gate.forger.claims.to_string());
    for name in [
        "iss",
        "aud",
        "exp",
        "iat",
        "jti",
        "sub",
        "client_id",
        "scope",
        "grant_id",
    ] {
        let again = format!("{{\"{name}\":{},{}", gate.forger.claims[name], &claims[1..]);
        gate.refuses(name, &gate.forger.signer.sign(&header, &again))
            .await;
    }
    let strange = format!("{{\"x\":1,\"x\":1,{}", &claims[1..]);
    gate.refuses(
        "a claim of no meaning",
        &gate.forger.signer.sign(&header, &strange),
    )
    .await;
    for name in ["alg", "typ", "kid"] {
        let again = format!("{{\"{name}\":{},{}", gate.forger.header[name], &header[1..]);
        gate.refuses(name, &gate.forger.signer.sign(&again, &claims))
            .await;
    }
}

async fn claims_that_are_no_json_object_are_refused(world: World) {
    let gate = gate(&world).await;
    let (header, claims) = (gate.forger.header.to_string(), gate.forger.claims.to_string());
    for text in [
        "",
        "null",
        "[]",
        "\"x\"",
        "{",
        &format!("{claims} x"),
        &"[".repeat(20_000),
    ] {
        gate.refuses("claims", &gate.forger.signer.sign(&header, text))
            .await;
        gate.refuses("header", &gate.forger.signer.sign(text, &claims))
            .await;
    }
}

on_every_shape!(
    the_issuer_is_ours,
    the_audience_is_exactly_ours,
    it_has_not_expired_not_by_a_second,
    it_is_not_older_than_600_seconds,
    it_is_from_30_seconds_ahead_at_most,
    it_says_who_for_whom_and_what,
    no_member_is_there_twice,
    claims_that_are_no_json_object_are_refused,
);
