//! Resources: the scheme `DPoP` with a proof, at the API, at `/userinfo` and at `/admin/…`, and
//! introspection.

use super::bound_tokens;
use serde_json::{Value, json};
use tests::{ProofKey, Proven, Reply, SharedWorld, World, on_every_shape};

const ALGORITHMS: &str = r#"algs="ES256 RS256 PS256 EdDSA Ed25519""#;

fn request(world: &World, method: &str, path: &str, token: &str) -> Proven {
    Proven::new(method, &format!("{}{path}", world.base())).token(token)
}

/// Expects a 401 with a challenge that has these parts.
fn expect_challenge(reply: Reply, code: &str, parts: &[&str]) {
    let reply = reply.expect_error(401, code);
    let challenge = reply.header("www-authenticate");
    for part in parts.iter().chain(&[ALGORITHMS]) {
        assert!(challenge.contains(part), "{part}: {challenge}");
    }
}

async fn a_bound_token_needs_its_scheme_and_a_proof(world: SharedWorld) {
    let ((user, app), key) = (world.user_and_app().await, ProofKey::default());
    let post = user.publish("A post").await;
    let scope = "profile:read posts:read posts:write openid";
    let token = bound_tokens(&world, &app, &user, &key, scope).await.access;
    let caller = world.anyone().dpop(&token);
    let versioned = format!("/v1{}", post.path);
    let filtered = "/posts?status=published";
    for path in ["/me", "/protected", "/userinfo", filtered, &post.path, &versioned] {
        let request = request(&world, "GET", path, &token);
        key.send(&request, || caller.get(path)).await.expect(200);
        let replicas = match path {
            "/userinfo" => world.at_each_issuer(&world.anyone()),
            _ => world.at_each_api(&world.anyone()),
        };
        for replica in replicas {
            let as_bearer = replica.bearer(&token).get(path).await;
            let as_bearer = as_bearer.expect_error(401, "invalid_token");
            assert!(
                as_bearer.header("www-authenticate").starts_with("Bearer "),
                "{as_bearer}"
            );
            let thief = replica.dpop(&token);
            let missing = "DPoP error=\"invalid_dpop_proof\"";
            expect_challenge(thief.get(path).await, "invalid_dpop_proof", &[missing]);
            let other = ProofKey::default().send(&request, || thief.get(path)).await;
            expect_challenge(other, "invalid_token", &["DPoP error=\"invalid_token\""]);
        }
    }
    let request = request(&world, "POST", "/posts", &token);
    let write = || caller.post("/posts").json(&json!({ "title": "Another" }));
    key.send(&request, write).await.expect(201);
    let form = [("access_token", token.as_str())];
    let in_body = world.anyone().post("/userinfo").form(&form).await;
    in_body.expect_error(401, "invalid_token");
}

async fn a_proof_belongs_to_its_request_and_its_token(world: SharedWorld) {
    let ((user, app), key) = (world.user_and_app().await, ProofKey::default());
    let token = bound_tokens(&world, &app, &user, &key, "profile:read openid")
        .await
        .access;
    let other = bound_tokens(&world, &app, &user, &key, "profile:read openid")
        .await
        .access;
    for (path, url) in [("/me", "/me"), ("/userinfo", "/userinfo")] {
        let caller = world.anyone().dpop(&token);
        let right = request(&world, "GET", url, &token);
        for wrong in [
            request(&world, "POST", url, &token),
            request(&world, "GET", "/posts", &token),
            request(&world, "GET", url, &other),
            Proven::new("GET", &format!("{}{url}", world.base())),
            Proven::new("GET", &format!("https://other.test{url}")).token(&token),
        ] {
            let refused = key.send(&wrong, || caller.get(path)).await;
            expect_challenge(refused, "invalid_dpop_proof", &[]);
        }
        let twice = caller
            .get(path)
            .header("dpop", &key.proof(&right))
            .header("dpop", &key.proof(&right));
        expect_challenge(twice.await, "invalid_dpop_proof", &[]);
        key.send(&right, || caller.get(path)).await.expect(200);
    }
}

async fn an_unbound_token_is_no_dpop_token(world: SharedWorld) {
    let ((user, app), key) = (world.user_and_app().await, ProofKey::default());
    let token = app.tokens(&user, "profile:read openid").await.access;
    let caller = world.anyone().dpop(&token);
    for path in ["/me", "/userinfo"] {
        let refused = key
            .send(&request(&world, "GET", path, &token), || caller.get(path))
            .await;
        expect_challenge(refused, "invalid_token", &["DPoP ", "error=\"invalid_token\""]);
        // A proof beside a bearer token changes nothing.
        let proof = key.proof(&request(&world, "GET", path, &token));
        let bearer = world.anyone().bearer(&token);
        bearer.get(path).header("dpop", &proof).await.expect(200);
    }
}

async fn an_administrator_can_use_a_bound_token(world: SharedWorld) {
    let (admin, app, key) = (
        world.user_with_role("admin").await,
        world.app().register(),
        ProofKey::default(),
    );
    let token = bound_tokens(&world, &app, &admin, &key, "admin").await.access;
    let caller = world.anyone().dpop(&token);
    let request = request(&world, "GET", "/admin/keys", &token);
    key.send(&request, || caller.get("/admin/keys")).await.expect(200);
    caller
        .get("/admin/keys")
        .await
        .expect_error(401, "invalid_dpop_proof");
    world
        .anyone()
        .bearer(&token)
        .get("/admin/keys")
        .await
        .expect_error(401, "invalid_token");
}

async fn errors_have_the_scheme_of_the_request(world: SharedWorld) {
    let ((user, app), key) = (world.user_and_app().await, ProofKey::default());
    let token = bound_tokens(&world, &app, &user, &key, "posts:read").await.access;
    let caller = world.anyone().dpop(&token);
    let refused = key
        .send(&request(&world, "GET", "/me", &token), || caller.get("/me"))
        .await;
    let refused = refused.expect_error(403, "insufficient_scope");
    let challenge = refused.header("www-authenticate");
    assert!(
        challenge.starts_with("DPoP ") && challenge.contains("scope=\"profile:read\""),
        "{challenge}"
    );
    let missing = world.anyone().get("/me").await;
    expect_challenge(
        missing,
        "unauthenticated",
        &["Bearer scope=\"profile:read\", resource_metadata=", ", DPoP "],
    );
}

async fn introspection_shows_the_key(world: SharedWorld) {
    let ((user, app), key) = (world.user_and_app().await, ProofKey::default());
    let server = world.app().kind("web").register();
    let tokens = bound_tokens(&world, &app, &user, &key, "posts:read").await;
    let introspect = async |token: &str| -> Value {
        let call = server.client_call(&world.anyone(), "/introspect", &[("token", token)]);
        call.await.expect(200).json()
    };
    let described = introspect(&tokens.access).await;
    assert_eq!(described["token_type"], "DPoP");
    assert_eq!(described["cnf"], json!({ "jkt": key.thumbprint() }));
}

async fn pages_may_send_proofs_and_read_nonces(world: SharedWorld) {
    const ORIGIN: &str = "https://app.test";
    world.app().redirect_uri(&format!("{ORIGIN}/cb")).register();
    world.expect_origin(ORIGIN).await;
    let from = |call: tests::Call| call.header("origin", ORIGIN);
    for path in ["/posts", "/token", "/par", "/userinfo"] {
        let preflight =
            from(world.anyone().call("OPTIONS", path)).header("access-control-request-method", "POST");
        let preflight = preflight.await.expect(204);
        let allowed = preflight.header("access-control-allow-headers");
        assert!(allowed.split(", ").any(|name| name == "dpop"), "{allowed}");
        let reply = from(world.anyone().get(path)).await;
        let exposed = reply.header("access-control-expose-headers");
        for name in ["dpop-nonce", "www-authenticate"] {
            assert!(exposed.split(", ").any(|exposed| exposed == name), "{exposed}");
        }
    }
}

on_every_shape!(
    a_bound_token_needs_its_scheme_and_a_proof,
    a_proof_belongs_to_its_request_and_its_token,
    an_unbound_token_is_no_dpop_token,
    an_administrator_can_use_a_bound_token,
    errors_have_the_scheme_of_the_request,
    introspection_shows_the_key,
    pages_may_send_proofs_and_read_nonces,
);
