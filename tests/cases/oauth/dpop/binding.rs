//! The token endpoint: access tokens, refresh tokens and codes are bound to the key of a proof.

use super::super::pushed_requests::{push, reference, request_uri};
use super::{bound_tokens, exchange, refresh, token_request};
use serde_json::{Value, json};
use tests::{App, Grant, ProofKey, Proven, SharedWorld, Tokens, World, on_every_shape};

/// Expects that every issuer refuses the refresh token to a client with another key, and to one without a
/// key.
async fn expect_useless_without_key(world: &World, app: &App, refresh_token: &str) {
    let thief = ProofKey::default();
    for issuer in world.at_each_issuer(&world.anyone()) {
        let stolen = || app.refresh(&issuer, refresh_token);
        stolen().await.expect_token_error(400, "invalid_grant");
        let with_other_key = thief.send(&token_request(world), stolen).await;
        with_other_key.expect_token_error(400, "invalid_grant");
    }
}

async fn a_public_client_gets_bound_tokens(world: SharedWorld) {
    let ((user, app), key) = (world.user_and_app().await, ProofKey::default());
    let mut tokens = bound_tokens(&world, &app, &user, &key, "posts:read openid").await;
    for _ in 0..2 {
        // The thief changes nothing for the owner.
        expect_useless_without_key(&world, &app, &tokens.refresh).await;
        tokens = refresh(&world, &app, &key, &tokens.refresh).await;
    }
}

async fn refresh_tokens_of_a_confidential_client_are_not_bound(world: SharedWorld) {
    let (user, app) = (world.user().await, world.app().kind("web").register());
    let (key, other) = (ProofKey::default(), ProofKey::default());
    let first = bound_tokens(&world, &app, &user, &key, "posts:read").await;
    let second = refresh(&world, &app, &other, &first.refresh).await;
    let third = Tokens::parse(app.refresh(&world.anyone(), &second.refresh).await);
    assert_eq!(third.reply.json()["token_type"], "Bearer");
    assert_eq!(third.claims()["cnf"], Value::Null);
    world.expect_accepted(&third.access).await;
}

async fn a_refresh_with_a_proof_binds_the_next_tokens(world: SharedWorld) {
    let ((user, app), key) = (world.user_and_app().await, ProofKey::default());
    let unbound = app.tokens(&user, "posts:read").await;
    let bound = refresh(&world, &app, &key, &unbound.refresh).await;
    expect_useless_without_key(&world, &app, &bound.refresh).await;
    let next = refresh(&world, &app, &key, &bound.refresh).await;
    // A used token still tells that it was copied, whoever presents it.
    let replayed = app.refresh(&world.anyone(), &unbound.refresh).await;
    replayed.expect_token_error(400, "invalid_grant");
    let (request, anyone) = (token_request(&world), world.anyone());
    let ended = key.send(&request, || app.refresh(&anyone, &next.refresh));
    ended.await.expect_token_error(400, "invalid_grant");
}

async fn a_service_gets_bound_tokens(world: SharedWorld) {
    let (service, key) = (
        world.app().kind("service").scope("posts:read").register(),
        ProofKey::default(),
    );
    let anyone = world.anyone();
    let call = || service.token(&anyone, &[("grant_type", "client_credentials")]);
    let reply = key.send(&token_request(&world), call).await.expect(200).json();
    assert_eq!(reply["token_type"], "DPoP");
    let claims = tests::claims(reply["access_token"].as_str().unwrap());
    assert_eq!(claims["cnf"]["jkt"], key.thumbprint());
}

async fn a_code_is_bound_by_dpop_jkt(world: SharedWorld) {
    let ((user, app), key) = (world.user_and_app().await, ProofKey::default());
    for malformed in ["x", &format!("{}=", key.thumbprint()), &"A".repeat(44)] {
        let request = app.authorization().set("dpop_jkt", malformed);
        request.expect_error_redirect(&world, "invalid_request").await;
    }
    for kind in ["spa", "web"] {
        let app = world.app().kind(kind).register();
        let request = app
            .authorization()
            .set("scope", "posts:read")
            .set("dpop_jkt", &key.thumbprint());
        let grant = request.allow(&mut user.browser(), &user).await;
        let anyone = world.anyone();
        let stolen = || app.exchange(&anyone, &grant);
        stolen().await.expect_token_error(400, "invalid_grant");
        let with_other_key = ProofKey::default().send(&token_request(&world), stolen).await;
        with_other_key.expect_token_error(400, "invalid_grant");
        let tokens = exchange(&world, &app, &key, &grant).await;
        // The thief's replay is no second valid exchange, so the tokens stay valid.
        stolen().await.expect_token_error(400, "invalid_grant");
        refresh(&world, &app, &key, &tokens.refresh).await;
    }
}

/// A pushed request binds the code by its parameter `dpop_jkt` or by a proof (RFC 9449 §10.1).
async fn a_pushed_request_binds_the_code(world: SharedWorld) {
    let ((user, app), key) = (world.user_and_app().await, ProofKey::default());
    let to_par = Proven::new("POST", &format!("{}/par", world.base()));
    let request = app.authorization().set("scope", "posts:read");
    let with_jkt = request.clone().set("dpop_jkt", &key.thumbprint());
    let anyone = world.anyone();
    for pushed in [
        key.send(&to_par, || push(&world, &app, &request)).await,
        key.send(&to_par, || push(&world, &app, &with_jkt)).await,
        push(&world, &app, &with_jkt).await,
    ] {
        let path = reference(&app.id, &request_uri(&pushed.expect(201)));
        let redirect = user.browser().complete_flow(&path, &user, "allow").await;
        let redirect = redirect.unwrap_or_else(|page| panic!("{}", page.reply));
        let grant = Grant::parse(redirect, request.verifier.clone());
        let stolen = || app.exchange(&anyone, &grant);
        stolen().await.expect_token_error(400, "invalid_grant");
        let with_other_key = ProofKey::default().send(&token_request(&world), stolen).await;
        with_other_key.expect_token_error(400, "invalid_grant");
        exchange(&world, &app, &key, &grant).await;
    }
    let other = ProofKey::default();
    let mismatched = other.send(&to_par, || push(&world, &app, &with_jkt)).await;
    mismatched.expect_token_error(400, "invalid_request");
    let to_token = token_request(&world);
    let elsewhere = key.send(&to_token, || push(&world, &app, &request));
    elsewhere.await.expect_token_error(400, "invalid_dpop_proof");
}

async fn a_client_can_require_proofs(world: SharedWorld) {
    let user = world.user().await;
    let (app, key) = (
        world.app().option(&["--dpop-bound"]).register(),
        ProofKey::default(),
    );
    let grant = app.authorize(&mut user.browser(), &user, "posts:read").await;
    let refused = app.exchange(&world.anyone(), &grant).await;
    refused.expect_token_error(400, "invalid_dpop_proof");
    exchange(&world, &app, &key, &grant).await;
    let shown = || world.cli(&["clients", "show", &app.id, "--json"], "")["dpop_bound_access_tokens"].clone();
    assert_eq!(shown(), true);
    world.cli(
        &["clients", "update", &app.id, "--json", "--dpop-bound", "false"],
        "",
    );
    assert_eq!(shown(), false);
    let admin = world.user_with_role("admin").await;
    let path = format!("/admin/clients/{}", app.id);
    let changed = admin
        .patch(&path)
        .json(&json!({ "dpop_bound_access_tokens": true }))
        .await;
    assert_eq!(changed.expect(200).json()["dpop_bound_access_tokens"], true);
    let created = json!({
        "id": foundation::random::uuid(), "name": "A service", "type": "service", "scope": "posts:read",
        "dpop_bound_access_tokens": true,
    });
    let created = admin
        .post("/admin/clients")
        .json(&created)
        .await
        .expect(201)
        .json();
    assert_eq!(created["dpop_bound_access_tokens"], true);
}

async fn an_invalid_proof_uses_nothing_up(world: SharedWorld) {
    let ((user, app), key) = (world.user_and_app().await, ProofKey::default());
    let anyone = world.anyone();
    let grant = app.authorize(&mut user.browser(), &user, "posts:read").await;
    let request = token_request(&world);
    let valid = request.claims();
    let with = |object: &Value, name: &str, value: Value| {
        let mut object = object.clone();
        object[name] = value;
        object
    };
    let mut private = key.header();
    private["jwk"]["d"] = json!("AAAA");
    let now = world.now().seconds();
    let proofs = [
        "nonsense".to_owned(),
        String::new(),
        key.sign(&with(&key.header(), "typ", json!("JWT")), &valid),
        key.sign(&with(&key.header(), "alg", json!("none")), &valid),
        key.sign(&with(&key.header(), "jwk", ProofKey::default().jwk()), &valid),
        key.sign(&private, &valid),
        key.sign(&key.header(), &with(&valid, "htm", json!("GET"))),
        key.sign(
            &key.header(),
            &with(&valid, "htu", json!("https://other.test/token")),
        ),
        key.sign(
            &key.header(),
            &with(&valid, "htu", json!(format!("{}/revoke", world.base()))),
        ),
        key.sign(&key.header(), &with(&valid, "iat", json!(now - 3600))),
        key.sign(&key.header(), &with(&valid, "iat", json!(now + 3600))),
        key.sign(&key.header(), &with(&valid, "jti", Value::Null)),
        key.sign(&key.header(), &with(&valid, "padding", json!("x".repeat(4096)))),
    ];
    for proof in &proofs {
        let refused = app.exchange(&anyone, &grant).header("dpop", proof).await;
        refused.expect_token_error(400, "invalid_dpop_proof");
    }
    let twice = app
        .exchange(&anyone, &grant)
        .header("dpop", &key.proof(&request))
        .header("dpop", &key.proof(&request));
    twice.await.expect_token_error(400, "invalid_dpop_proof");
    let forged_nonce = key.proof(&request.nonce("AAAA"));
    let refused = app.exchange(&anyone, &grant).header("dpop", &forged_nonce).await;
    refused.expect_token_error(400, "use_dpop_nonce");
    exchange(&world, &app, &key, &grant).await;
}

async fn a_refresh_is_repeated_with_a_fresh_proof_of_the_same_key(world: SharedWorld) {
    let user = world.user().await;
    let app = world.app().option(&["--refresh-retry-window", "10s"]).register();
    let key = ProofKey::default();
    let first = bound_tokens(&world, &app, &user, &key, "posts:read").await;
    let second = refresh(&world, &app, &key, &first.refresh).await;
    let again = refresh(&world, &app, &key, &first.refresh).await;
    assert_eq!(again.refresh, second.refresh);
    assert_ne!(again.access, second.access);
    // Only the key gives the same successor. A used token without its key was copied.
    expect_useless_without_key(&world, &app, &first.refresh).await;
    let (request, anyone) = (token_request(&world), world.anyone());
    let ended = key.send(&request, || app.refresh(&anyone, &second.refresh));
    ended.await.expect_token_error(400, "invalid_grant");
}

/// The algorithms of proofs in the metadata of both servers.
async fn named_algorithms(world: &World) -> Vec<Option<Value>> {
    let mut named = Vec::new();
    for path in [
        "oauth-authorization-server",
        "openid-configuration",
        "oauth-protected-resource",
    ] {
        let metadata = world.anyone().get(&format!("/.well-known/{path}")).await;
        let metadata = metadata.expect(200).json();
        named.push(metadata.get("dpop_signing_alg_values_supported").cloned());
    }
    named
}

async fn the_metadata_names_the_algorithms(world: SharedWorld) {
    let algorithms = json!(["ES256", "RS256", "PS256", "EdDSA", "Ed25519"]);
    assert_eq!(named_algorithms(&world).await, vec![Some(algorithms); 3]);
    let resource = world
        .anyone()
        .get("/.well-known/oauth-protected-resource")
        .await
        .json();
    assert_eq!(resource["dpop_bound_access_tokens_required"], false);
}

/// A server without DPoP ignores proofs and accepts no token that is bound to a key.
async fn proofs_can_be_switched_off(shape: tests::Shape) {
    let mut world = World::builder(shape).start().await;
    let ((user, app), key) = (world.user_and_app().await, ProofKey::default());
    let bound = bound_tokens(&world, &app, &user, &key, "profile:read").await;
    let requiring = world.app().option(&["--dpop-bound"]).register();
    world.stop().await;
    world.set_flags(&[("--dpop", Some("off"))]);
    world.restart().await;
    assert_eq!(named_algorithms(&world).await, vec![None; 3]);
    let missing = world.anyone().get("/me").await.expect(401);
    assert!(!missing.header("www-authenticate").contains("DPoP"), "{missing}");
    let proof =
        |method: &str, path: &str| key.proof(&Proven::new(method, &format!("{}{path}", world.base())));
    for caller in [
        world.anyone().dpop(&bound.access),
        world.anyone().bearer(&bound.access),
    ] {
        let refused = caller.get("/me").header("dpop", &proof("GET", "/me")).await;
        refused.expect_error(401, "invalid_token");
    }
    let refused = app
        .refresh(&world.anyone(), &bound.refresh)
        .header("dpop", &proof("POST", "/token"))
        .await;
    refused.expect_token_error(400, "invalid_grant");
    let request = app.authorization().set("dpop_jkt", &key.thumbprint());
    let grant = request.allow(&mut user.browser(), &user).await;
    let exchanged = app
        .exchange(&world.anyone(), &grant)
        .header("dpop", &proof("POST", "/token"));
    let tokens = Tokens::parse(exchanged.await);
    assert_eq!(tokens.reply.json()["token_type"], "Bearer");
    world.expect_accepted(&tokens.access).await;
    // An app that may have bound tokens only gets none.
    let grant = requiring
        .authorize(&mut user.browser(), &user, "posts:read")
        .await;
    let exchange = || requiring.exchange(&world.anyone(), &grant);
    let with_proof = exchange().header("dpop", &proof("POST", "/token"));
    for refused in [exchange().await, with_proof.await] {
        refused.expect_token_error(400, "invalid_dpop_proof");
    }
}

on_every_shape!(
    a_public_client_gets_bound_tokens,
    refresh_tokens_of_a_confidential_client_are_not_bound,
    a_refresh_with_a_proof_binds_the_next_tokens,
    a_service_gets_bound_tokens,
    a_code_is_bound_by_dpop_jkt,
    a_pushed_request_binds_the_code,
    a_client_can_require_proofs,
    an_invalid_proof_uses_nothing_up,
    a_refresh_is_repeated_with_a_fresh_proof_of_the_same_key,
    the_metadata_names_the_algorithms,
    proofs_can_be_switched_off,
);
