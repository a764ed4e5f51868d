//! The claims of access tokens.

use super::token_check;
use serde_json::json;
use std::time::Duration;
use tests::{Shape, SharedWorld, World, on_every_shape};

async fn tokens_of_other_issuers_are_rejected(world: SharedWorld) {
    let token_check = token_check(&world).await;
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
    token_check.expect_claim_rejected("iss", &values).await;
}

async fn tokens_for_other_audiences_are_rejected(world: SharedWorld) {
    let token_check = token_check(&world).await;
    token_check
        .expect_accepted(&token_check.forger.with_claim("aud", json!([world.base()])))
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
    token_check.expect_claim_rejected("aud", &values).await;
}

async fn expired_tokens_are_rejected_to_the_second(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let token_check = token_check(&world).await;
    let now = world.now().seconds();
    token_check
        .expect_accepted(&token_check.forger.with_claim("exp", json!(now + 1)))
        .await;
    let past = [json!(now), json!(now - 1), json!(0), json!(-1)];
    token_check.expect_claim_rejected("exp", &past).await;
    let wrong = [
        json!((now + 60).to_string()),
        json!("9999999999"),
        json!(1e308),
        json!(null),
        json!(true),
        json!([now + 60]),
    ];
    token_check.expect_claim_rejected("exp", &wrong).await;
}

async fn tokens_older_than_600_seconds_are_rejected(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let token_check = token_check(&world).await;
    let now = world.now().seconds();
    token_check
        .expect_accepted(&token_check.forger.with_claim("iat", json!(now - 600)))
        .await;
    let wrong = [
        json!(now - 601),
        json!(0),
        json!(-1),
        json!(now.to_string()),
        json!(null),
        json!(true),
    ];
    token_check.expect_claim_rejected("iat", &wrong).await;
    let token = token_check.forger.with_claim("exp", json!(now + 86_400));
    world.advance(Duration::from_secs(600));
    token_check.expect_accepted(&token).await;
    world.advance(Duration::from_secs(1));
    token_check.expect_rejected("a second later", &token).await;
}

async fn tokens_issued_more_than_30_seconds_ahead_are_rejected(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let token_check = token_check(&world).await;
    let now = world.now().seconds();
    for name in ["iat", "nbf"] {
        token_check
            .expect_accepted(&token_check.forger.with_claim(name, json!(now + 30)))
            .await;
        token_check
            .expect_rejected(name, &token_check.forger.with_claim(name, json!(now + 31)))
            .await;
        token_check
            .expect_rejected(name, &token_check.forger.with_claim(name, json!(now + 86_400)))
            .await;
    }
    for wrong in [
        json!((now + 60).to_string()),
        json!((now - 60).to_string()),
        json!(null),
        json!(1e308),
    ] {
        token_check
            .expect_rejected(
                &format!("nbf {wrong}"),
                &token_check.forger.with_claim("nbf", wrong),
            )
            .await;
    }
}

async fn tokens_need_a_subject_a_client_and_a_scope(world: SharedWorld) {
    let token_check = token_check(&world).await;
    let wrong = [
        json!(1),
        json!(null),
        json!(["x"]),
        json!({ "x": 1 }),
        json!(true),
    ];
    for claim in ["jti", "sub", "client_id", "scope"] {
        token_check.expect_claim_rejected(claim, &wrong).await;
    }
    for claim in ["jti", "sub", "client_id"] {
        token_check.expect_claim_rejected(claim, &[json!("")]).await;
    }
}

async fn duplicate_members_are_rejected(world: SharedWorld) {
    let token_check = token_check(&world).await;
    let (header, claims) = (
        token_check.forger.header.to_string(),
        token_check.forger.claims.to_string(),
    );
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
        "user_epoch",
        "client_epoch",
    ] {
        let again = format!(
            "{{\"{name}\":{},{}",
            token_check.forger.claims[name],
            &claims[1..]
        );
        token_check
            .expect_rejected(name, &token_check.forger.signer.sign(&header, &again))
            .await;
    }
    let strange = format!("{{\"x\":1,\"x\":1,{}", &claims[1..]);
    token_check
        .expect_rejected(
            "an unknown claim",
            &token_check.forger.signer.sign(&header, &strange),
        )
        .await;
    for name in ["alg", "typ", "kid"] {
        let again = format!(
            "{{\"{name}\":{},{}",
            token_check.forger.header[name],
            &header[1..]
        );
        token_check
            .expect_rejected(name, &token_check.forger.signer.sign(&again, &claims))
            .await;
    }
}

async fn claims_other_than_a_json_object_are_rejected(world: SharedWorld) {
    let token_check = token_check(&world).await;
    let (header, claims) = (
        token_check.forger.header.to_string(),
        token_check.forger.claims.to_string(),
    );
    for text in [
        "",
        "null",
        "[]",
        "\"x\"",
        "{",
        &format!("{claims} x"),
        &"[".repeat(20_000),
    ] {
        token_check
            .expect_rejected("claims", &token_check.forger.signer.sign(&header, text))
            .await;
        token_check
            .expect_rejected("header", &token_check.forger.signer.sign(text, &claims))
            .await;
    }
}

on_every_shape!(
    tokens_of_other_issuers_are_rejected,
    tokens_for_other_audiences_are_rejected,
    expired_tokens_are_rejected_to_the_second,
    tokens_older_than_600_seconds_are_rejected,
    tokens_issued_more_than_30_seconds_ahead_are_rejected,
    tokens_need_a_subject_a_client_and_a_scope,
    duplicate_members_are_rejected,
    claims_other_than_a_json_object_are_rejected,
);
