//! Codes and refresh tokens.

use super::{FapiApp, strict};
use std::time::Duration;
use tests::{CALLBACK, Grant, ProofKey, Shape, Tokens, World, on_every_shape};

const EXPIRED: Duration = Duration::from_secs(62);
const HALF_A_MINUTE: Duration = Duration::from_secs(30);

fn refresh_fields(tokens: &Tokens) -> [(&str, &str); 2] {
    [
        ("grant_type", "refresh_token"),
        ("refresh_token", &tokens.refresh),
    ]
}

/// Refreshes with a new key, because the refresh tokens of a confidential client are not bound to one.
async fn refresh(world: &World, app: &FapiApp, tokens: &Tokens) -> Tokens {
    let key = ProofKey::default();
    let refreshed = Tokens::parse(app.token(world, &key, &refresh_fields(tokens)).await);
    assert_eq!(refreshed.claims()["cnf"]["jkt"], key.thumbprint());
    app.read(world, &key, &refreshed.access).await.expect(200);
    refreshed
}

/// ensure-holder-of-key-required, ensure-pkce-code-verifier-required, incorrect-pkce-code-verifier-rejected,
/// ensure-authorization-code-is-bound-to-client and attempt-reuse-authorization-code-after-one-second.
async fn a_code_needs_its_client_its_verifier_and_a_proof_and_works_once(shape: Shape) {
    let world = strict(shape).start().await;
    let user = world.user().await;
    let app = FapiApp::register(&world, CALLBACK);
    let other = FapiApp::register(&world, CALLBACK);
    let grant = app.authorize(&world, &user, "profile:read").await;
    let fields = app.exchange_fields(&grant);
    let without_proof = app.call(&world, "/token", &fields).await;
    without_proof.expect_token_error(400, "invalid_dpop_proof");
    let wrong = Grant {
        verifier: "v".repeat(43),
        ..grant.clone()
    };
    for (app, fields) in [
        (&app, &fields[..3]),
        (&app, &app.exchange_fields(&wrong)),
        (&other, &fields),
    ] {
        let refused = app.token(&world, &app.proof_key, fields).await;
        refused.expect_token_error(400, "invalid_grant");
    }
    let tokens = Tokens::parse(app.exchange(&world, &grant).await);
    app.read(&world, &app.proof_key, &tokens.access).await.expect(200);
    let again = app.exchange(&world, &grant).await;
    again.expect_token_error(400, "invalid_grant");
    tests::eventually("the token of a replayed code is accepted", async || {
        let refused = app.read(&world, &app.proof_key, &tokens.access).await;
        refused.status == 401
    })
    .await;
}

/// ensure-token-endpoint-fails-with-expired-auth-code and refresh-token. A client whose response was lost
/// repeats its refresh after half a minute.
async fn codes_expire_and_refresh_tokens_need_their_client(shape: Shape) {
    let world = strict(shape).clock().start().await;
    let user = world.user().await;
    let app = FapiApp::register(&world, CALLBACK);
    let other = FapiApp::register(&world, CALLBACK);
    let grant = app.authorize(&world, &user, "profile:read").await;
    world.advance(EXPIRED);
    let expired = app.exchange(&world, &grant).await;
    expired.expect_token_error(400, "invalid_grant");

    let first = app.tokens(&world, &user, "profile:read").await;
    let second = refresh(&world, &app, &first).await;
    assert_ne!(second.refresh, first.refresh);
    world.advance(HALF_A_MINUTE);
    let repeated = refresh(&world, &app, &first).await;
    assert_eq!(repeated.refresh, second.refresh);
    let fields = refresh_fields(&second);
    let key = ProofKey::default();
    let without_client = || world.anyone().post("/token").form(&fields);
    let refused = super::prove(&world, &key, &super::to_token(&world), without_client).await;
    refused.expect_token_error(401, "invalid_client");
    let without_proof = app.call(&world, "/token", &fields).await;
    without_proof.expect_token_error(400, "invalid_dpop_proof");
    let by_other = other.token(&world, &key, &fields).await;
    by_other.expect_token_error(400, "invalid_grant");
    refresh(&world, &app, &second).await;
}

on_every_shape!(
    a_code_needs_its_client_its_verifier_and_a_proof_and_works_once,
    codes_expire_and_refresh_tokens_need_their_client,
);
