//! DPoP proofs at each endpoint (RFC 9449 §4.3).

use super::{FapiApp, ProofParts, proof_parts, strict, to_resource, to_token};
use serde_json::{Value, json};
use tests::{
    CALLBACK, Call, Caller, ProofKey, Proven, RawConnection, Reply, Shape, World, asks_for_nonce, base64url,
    eventually, on_every_shape, send_with_proof,
};

/// A change of the parts of a proof.
type Change = Box<dyn Fn(&mut ProofParts)>;

fn header(name: &'static str, value: Value) -> Change {
    Box::new(move |parts| parts.header[name] = value.clone())
}

fn claim(name: &'static str, value: Value) -> Change {
    Box::new(move |parts| parts.claims[name] = value.clone())
}

/// Changes `iat` by this number of seconds.
fn made(seconds: i64) -> Change {
    Box::new(move |parts| parts.claims["iat"] = json!(parts.claims["iat"].as_i64().unwrap() + seconds))
}

/// Changes `htu`.
fn target(change: impl Fn(&str) -> String + 'static) -> Change {
    Box::new(move |parts| parts.claims["htu"] = json!(change(parts.claims["htu"].as_str().unwrap())))
}

fn without(name: &'static str) -> Change {
    Box::new(move |parts| {
        for object in [&mut parts.header, &mut parts.claims] {
            object.as_object_mut().unwrap().remove(name);
        }
    })
}

fn with_private_key(parts: &mut ProofParts) {
    parts.header["jwk"]["d"] = json!("AAAA");
}

fn valid_changes(world: &World) -> Vec<(&'static str, Change)> {
    let now = world.now().seconds();
    let normal = |htu: &str| htu.replace("http://localhost", "HTTP://LOCALHOST");
    vec![
        ("made 10 s ago", made(-10)),
        ("made in 10 s", made(10)),
        ("nbf", claim("nbf", json!(now))),
        ("exp", claim("exp", json!(now + 300))),
        ("a further header", header("other", json!({ "a": 1 }))),
        ("a further claim", claim("other", json!([1]))),
        ("a query and a fragment", target(|htu| format!("{htu}?a=b#c"))),
        ("scheme and host in upper case", target(normal)),
    ]
}

fn invalid_changes() -> Vec<(&'static str, Change)> {
    vec![
        ("no typ", without("typ")),
        ("no alg", without("alg")),
        ("no jwk", without("jwk")),
        ("no jti", without("jti")),
        ("no htm", without("htm")),
        ("no htu", without("htu")),
        ("no iat", without("iat")),
        ("another typ", header("typ", json!("JWT"))),
        ("no algorithm", header("alg", json!("none"))),
        ("a symmetric algorithm", header("alg", json!("HS256"))),
        ("a private key", Box::new(with_private_key)),
        ("another key", header("jwk", ProofKey::default().jwk())),
        ("another method", claim("htm", json!("PUT"))),
        ("another URL", target(|htu| format!("{htu}/other"))),
        ("made an hour ago", made(-3600)),
        ("made in an hour", made(3600)),
    ]
}

/// Sends a request with a proof that has these changes.
async fn send_changed(
    world: &World,
    key: &ProofKey,
    request: &Proven,
    change: &Change,
    call: impl Fn() -> Call,
) -> Reply {
    let prove = |request: &Proven| {
        let mut parts = proof_parts(world, key, request);
        change(&mut parts);
        key.sign(&parts.header, &parts.claims)
    };
    send_with_proof(request, prove, call).await
}

/// Waits until a proof that is ten seconds old is accepted: a Redis that has just started does not know which
/// older ones were used.
async fn wait_for_redis(world: &World, key: &ProofKey, request: &Proven, call: impl Fn() -> Call) {
    eventually("older proofs are refused", async || {
        let reply = send_changed(world, key, request, &made(-10), &call).await;
        reply.status < 400
    })
    .await;
}

/// Returns a proof with a nonce if the resource asks for one.
async fn fresh_proof(key: &ProofKey, request: &Proven, caller: &Caller) -> String {
    let reply = caller.get("/me").header("dpop", &key.proof(request)).await;
    match asks_for_nonce(&reply) {
        Some(nonce) => key.proof(&request.nonce(&nonce)),
        None => key.proof(request),
    }
}

/// dpop-negative-tests, check-dpop-proof-nbf-exp, both modules about `iat`, and
/// access-token-type-header-case-sensitivity.
async fn a_resource_checks_each_part_of_a_proof(shape: Shape) {
    let world = strict(shape).start().await;
    let (user, app) = (world.user().await, FapiApp::register(&world, CALLBACK));
    let (token, key) = (
        app.tokens(&world, &user, "profile:read").await.access,
        &app.proof_key,
    );
    let (request, caller) = (to_resource(&world, &token), world.anyone().dpop(&token));
    let read = || caller.get("/me");
    wait_for_redis(&world, key, &request, read).await;
    for (case, change) in valid_changes(&world) {
        let reply = send_changed(&world, key, &request, &change, read).await;
        assert_eq!(reply.status, 200, "{case}: {reply}");
    }
    let mut invalid = invalid_changes();
    invalid.push(("no ath", without("ath")));
    invalid.push(("another ath", claim("ath", json!(base64url([0; 32])))));
    for (case, change) in invalid {
        let reply = send_changed(&world, key, &request, &change, read).await;
        assert_eq!(reply.status, 401, "{case}: {reply}");
        reply.expect_error(401, "invalid_dpop_proof");
    }
    let proof = fresh_proof(key, &request, &caller).await;
    let (message, signature) = proof.rsplit_once('.').unwrap();
    let flipped = signature.chars().rev().collect::<String>();
    for malformed in [
        "nonsense".to_owned(),
        format!("{message}."),
        format!("{message}.{flipped}"),
        format!("{proof}.{proof}"),
    ] {
        let reply = read().header("dpop", &malformed).await;
        reply.expect_error(401, "invalid_dpop_proof");
    }
    let twice = read().header("dpop", &proof).header("dpop", &proof).await;
    twice.expect_error(401, "invalid_dpop_proof");
    read().await.expect_error(401, "invalid_dpop_proof");
    let as_bearer = world.anyone().bearer(&token).get("/me").await;
    as_bearer.expect_error(401, "invalid_token");
    let with_other_key = app.read(&world, &ProofKey::default(), &token).await;
    with_other_key.expect_error(401, "invalid_token");
    // None of these used the proof up.
    read().header("dpop", &proof).await.expect(200);
    expect_header_names_in_any_case(&world, key, &token).await;
}

/// Expects that neither the name of the header `DPoP` nor the scheme depends on upper and lower case, and
/// that the proof then works once.
async fn expect_header_names_in_any_case(world: &World, key: &ProofKey, token: &str) {
    let at_api = &world.at_each_api(&world.anyone().dpop(token))[0];
    let proof = fresh_proof(key, &to_resource(world, token), at_api).await;
    for status in ["200", "401"] {
        let mut raw = RawConnection::connect(world.api_ports()[0]).await;
        raw.send(format!(
            "GET /me HTTP/1.1\r\nHost: localhost\r\nAUTHORIZATION: dPoP {token}\r\nDPOP: {proof}\r\nConnection: close\r\n\r\n"
        ))
        .await;
        let answer = raw.read_to_end().await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
}

/// The same checks at `/par` and at `/token`, where proofs have no `ath`.
async fn the_issuer_checks_each_part_of_a_proof(shape: Shape) {
    let world = strict(shape).start().await;
    let (user, app) = (world.user().await, FapiApp::register(&world, CALLBACK));
    let (key, to_par) = (
        &app.proof_key,
        Proven::new("POST", &format!("{}/par", world.base())),
    );
    let request = app.app.authorization();
    let grant = app.authorize(&world, &user, "profile:read").await;
    let fields = app.exchange_fields(&grant);
    let (push, exchange) = (
        || app.push(&world, &request),
        || app.call(&world, "/token", &fields),
    );
    for (case, change) in invalid_changes() {
        let at_par = send_changed(&world, key, &to_par, &change, push).await;
        let at_token = send_changed(&world, key, &to_token(&world), &change, exchange).await;
        for reply in [at_par, at_token] {
            assert_eq!(reply.status, 400, "{case}: {reply}");
            reply.expect_token_error(400, "invalid_dpop_proof");
        }
    }
    app.exchange(&world, &grant).await.expect(200);
    wait_for_redis(&world, key, &to_par, push).await;
    for (case, change) in valid_changes(&world) {
        let at_par = send_changed(&world, key, &to_par, &change, push).await;
        assert_eq!(at_par.status, 201, "{case}: {at_par}");
        let grant = app.authorize(&world, &user, "profile:read").await;
        let fields = app.exchange_fields(&grant);
        let exchange = || app.call(&world, "/token", &fields);
        let at_token = send_changed(&world, key, &to_token(&world), &change, exchange).await;
        assert_eq!(at_token.status, 200, "{case}: {at_token}");
    }
}

on_every_shape!(
    a_resource_checks_each_part_of_a_proof,
    the_issuer_checks_each_part_of_a_proof,
);
