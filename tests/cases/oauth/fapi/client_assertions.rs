//! The authentication of clients by signed assertions.

use super::{FapiApp, call_with_assertion, parameters, prove, strict, to_token};
use serde_json::{Value, json};
use tests::{CALLBACK, Shape, Signer, World, on_every_shape};

/// Assertions that are refused, each with the reason.
fn invalid_assertions(world: &World, app: &FapiApp, other: &FapiApp) -> Vec<(String, String)> {
    let (base, now) = (world.base(), world.now().seconds());
    let changed = |changes: Value| {
        let mut claims = app.assertion_claims(world);
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        claims
    };
    let mut refused: Vec<(String, String)> = [
        json!({ "aud": [base, "https://other.test"] }),
        json!({ "aud": [base] }),
        json!({ "aud": format!("{base}/par") }),
        json!({ "aud": format!("{base}/token") }),
        json!({ "aud": format!("{base}/") }),
        json!({ "aud": "https://other.test" }),
        json!({ "sub": null }),
        json!({ "exp": now - 300 }),
        json!({ "iat": now + 62, "nbf": now + 62, "exp": now + 122 }),
        json!({ "nbf": now + 62 }),
    ]
    .into_iter()
    .map(|changes| (changes.to_string(), app.assertion(&changed(changes.clone()))))
    .collect();
    let claims = app.assertion_claims(world);
    refused.push(("the key of another client".to_owned(), other.assertion(&claims)));
    let rsa = Signer::unknown("rsa").sign(r#"{"alg":"RS256"}"#, &claims.to_string());
    refused.push(("RS256, for which the client has no key".to_owned(), rsa));
    refused
}

/// The modules about assertions at `/par`.
async fn pushed_requests_need_an_assertion_for_the_issuer(shape: Shape) {
    let world = strict(shape).start().await;
    let app = FapiApp::register(&world, CALLBACK);
    let other = FapiApp::register(&world, CALLBACK);
    let request = app.app.authorization();
    let push = |assertion: &str| call_with_assertion(&world, "/par", &parameters(&request), assertion);
    for (case, assertion) in invalid_assertions(&world, &app, &other) {
        let reply = push(&assertion).await;
        assert_eq!(reply.status, 401, "{case}: {reply}");
        reply.expect_token_error(401, "invalid_client");
    }
    for ahead in [0, 8] {
        let mut claims = app.assertion_claims(&world);
        for name in ["iat", "nbf"] {
            claims[name] = json!(claims[name].as_i64().unwrap() + ahead);
        }
        push(&app.assertion(&claims)).await.expect(201);
    }
}

/// ensure-client-assertion-in-token-endpoint, ensure-client-id-in-token-endpoint and the other modules about
/// assertions at `/token`. The code is not used up.
async fn token_requests_need_an_assertion_for_the_issuer(shape: Shape) {
    let world = strict(shape).start().await;
    let user = world.user().await;
    let app = FapiApp::register(&world, CALLBACK);
    let other = FapiApp::register(&world, CALLBACK);
    let grant = app.authorize(&world, &user, "profile:read").await;
    let fields = app.exchange_fields(&grant);
    for (case, assertion) in invalid_assertions(&world, &app, &other) {
        let exchange = || call_with_assertion(&world, "/token", &fields, &assertion);
        let reply = prove(&world, &app.proof_key, &to_token(&world), exchange).await;
        assert_eq!(reply.status, 401, "{case}: {reply}");
        reply.expect_token_error(401, "invalid_client");
    }
    let own_id = [fields.as_slice(), &[("client_id", &app.app.id)]].concat();
    let other_id = [fields.as_slice(), &[("client_id", &other.app.id)]].concat();
    let without_assertion = || world.anyone().post("/token").form(&own_id);
    let reply = prove(&world, &app.proof_key, &to_token(&world), without_assertion).await;
    reply.expect_token_error(401, "invalid_client");
    // The assertion names the other client, and so does client_id, but the key is not the other client's.
    let forged = || {
        let assertion = app.assertion(&other.assertion_claims(&world));
        call_with_assertion(&world, "/token", &other_id, &assertion)
    };
    let reply = prove(&world, &app.proof_key, &to_token(&world), forged).await;
    reply.expect_token_error(401, "invalid_client");
    app.exchange(&world, &grant).await.expect(200);
}

on_every_shape!(
    pushed_requests_need_an_assertion_for_the_issuer,
    token_requests_need_an_assertion_for_the_issuer,
);
