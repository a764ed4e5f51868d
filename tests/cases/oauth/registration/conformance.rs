//! The sequences of those modules of the OpenID Foundation's Dynamic OP profile that no other test goes
//! through. `docs/develop/conformance.md` lists all modules with their tests.

use super::super::openid_connect::verify;
use super::{REGISTER, Registered, expect_metadata_error, open, register, web};
use serde_json::{Value, json};
use tests::{App, Call, Shape, Signer, StubServer, Tokens, World, claims, eventually, on_every_shape};

const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// oidcc-ensure-redirect-uri-in-authorization-request, oidcc-redirect-uri-query-OK,
/// oidcc-redirect-uri-query-mismatch, oidcc-redirect-uri-query-added and oidcc-redirect-uri-regfrag.
async fn redirect_uris_with_a_query_match_exactly(shape: Shape) {
    let world = open(shape).await;
    let user = world.user().await;
    let mut metadata = web();
    metadata["redirect_uris"] = json!(["https://site.test/cb?foo=bar", "https://site.test/plain"]);
    let app = register(&world.anyone(), &metadata).await.app;
    app.tokens(&user, "openid").await;
    let request = app.authorization();
    for uri in [
        "https://site.test/cb?foo=baz",
        "https://site.test/cb",
        "https://site.test/plain?foo=bar",
    ] {
        request
            .clone()
            .set("redirect_uri", uri)
            .expect_error_page(&world)
            .await;
    }
    request.without("redirect_uri").expect_error_page(&world).await;
    metadata["redirect_uris"] = json!(["https://site.test/cb#foobar"]);
    let refused = world.anyone().post(REGISTER).json(&metadata).await;
    expect_metadata_error(refused, "invalid_redirect_uri");
}

/// Adds the authentication by an assertion of the key to the fields of a token request.
fn signed(world: &World, app: &App, key: &Signer, fields: &[(&str, &str)]) -> Call {
    let claims = json!({
        "iss": app.id, "sub": app.id, "aud": world.base(), "jti": foundation::random::id(),
        "exp": world.now().seconds() + 60,
    });
    let header = json!({ "alg": "RS256", "kid": key.kid });
    let assertion = key.sign(&header.to_string(), &claims.to_string());
    let by = [
        ("client_assertion_type", ASSERTION_TYPE),
        ("client_assertion", assertion.as_str()),
    ];
    world
        .anyone()
        .post("/token")
        .form(&[fields, by.as_slice()].concat())
}

fn publish(server: &StubServer, key: &Signer) {
    server.answer(200, &json!({ "keys": [key.jwk()] }).to_string());
}

/// oidcc-registration-jwks-uri, oidcc-refresh-token-rp-key-rotation, oidcc-idtoken-rs256 and
/// oidcc-ensure-client-assertion-with-iss-aud-succeeds.
async fn a_client_rotates_the_keys_at_its_jwks_uri(shape: Shape) {
    let world = open(shape).await;
    let (user, server) = (world.user().await, StubServer::start().await);
    let (former, current) = (Signer::unknown("former"), Signer::unknown("current"));
    publish(&server, &former);
    let mut metadata = web();
    metadata["token_endpoint_auth_method"] = json!("private_key_jwt");
    metadata["jwks_uri"] = json!(format!("{}/keys", server.url));
    metadata["id_token_signed_response_alg"] = json!("RS256");
    let Registered { app, reply, .. } = register(&world.anyone(), &metadata).await;
    let registered = reply.json();
    assert_eq!(registered["jwks_uri"], metadata["jwks_uri"]);
    assert_eq!(
        (&registered["jwks"], &registered["client_secret"]),
        (&Value::Null, &Value::Null)
    );
    let grant = app.authorize(&mut user.browser(), &user, "openid").await;
    let code = [
        ("grant_type", "authorization_code"),
        ("code", grant.code.as_str()),
        ("redirect_uri", app.redirect_uri.as_str()),
        ("code_verifier", grant.verifier.as_str()),
    ];
    let tokens = Tokens::parse(signed(&world, &app, &former, &code).await);
    let id_token = tokens.reply.json()["id_token"].as_str().unwrap().to_owned();
    assert_eq!(claims(&id_token)["aud"], app.id.as_str());
    publish(&server, &current);
    let refresh = [
        ("grant_type", "refresh_token"),
        ("refresh_token", tokens.refresh.as_str()),
    ];
    signed(&world, &app, &current, &refresh).await.expect(200);
}

/// oidcc-userinfo-rs256.
async fn a_client_registers_for_signed_user_info(shape: Shape) {
    const ALG: &str = "userinfo_signed_response_alg";
    let world = open(shape).await;
    let user = world.user().await;
    let mut metadata = web();
    metadata[ALG] = json!("RS256");
    let registered = register(&world.anyone(), &metadata).await;
    let app = &registered.app;
    assert_eq!(registered.reply.json()[ALG], "RS256");
    let tokens = app.tokens(&user, "openid").await;
    let issuers = world.at_each_issuer(&world.anyone().bearer(&tokens.access));
    for issuer in &issuers {
        for accept in ["application/json", "*/*", "application/jwt"] {
            let reply = issuer.get("/userinfo").header("accept", accept).await.expect(200);
            assert_eq!(reply.header("content-type"), "application/jwt", "{accept}");
            let claims = verify(&world, &reply.text(), "JWT", &app.id).await;
            assert_eq!(claims["sub"], user.id.to_string());
        }
    }
    // Without the member, a response is signed only if the request asks for it.
    metadata["client_id"] = json!(app.id);
    metadata[ALG] = Value::Null;
    let manager = registered.manager(&world);
    let changed = manager.call("PUT", &registered.path()).json(&metadata).await;
    assert_eq!(changed.expect(200).json()[ALG], Value::Null);
    for issuer in &issuers {
        eventually("the claims are still signed", async || {
            let reply = issuer.get("/userinfo").await.expect(200);
            reply.header("content-type") == "application/json"
        })
        .await;
    }
    for refused in [json!("none"), json!("ES256"), json!("HS256"), json!(true)] {
        let mut metadata = web();
        metadata[ALG] = refused;
        let refused = world.anyone().post(REGISTER).json(&metadata).await;
        expect_metadata_error(refused, "invalid_client_metadata");
    }
}

on_every_shape!(
    redirect_uris_with_a_query_match_exactly,
    a_client_rotates_the_keys_at_its_jwks_uri,
    a_client_registers_for_signed_user_info,
);
