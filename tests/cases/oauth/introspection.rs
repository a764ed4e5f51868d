//! `POST /introspect` (RFC 7662). The answer for an access token is always that of the API.

use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};
use serde_json::{Value, json};
use tests::{
    App, PASSWORD, Reply, SharedWorld, TokenForger, Tokens, World, basic, eventually, on_every_shape,
};

const SIGNED: &str = "application/token-introspection+jwt";

async fn introspect(world: &World, client: &App, token: &str) -> Reply {
    let call = client.client_call(&world.anyone(), "/introspect", &[("token", token)]);
    let reply = call.await.expect(200);
    assert!(reply.header("cache-control").contains("no-store"), "{reply}");
    reply
}

async fn expect_inactive(world: &World, client: &App, token: &str) {
    let reply = introspect(world, client, token).await;
    assert_eq!(reply.json(), json!({ "active": false }));
}

/// Expects that introspection and the API agree on an access token.
async fn expect_agreement(world: &World, client: &App, token: &str, is_active: bool, case: &str) {
    let caller = world.anyone().bearer(token);
    let status = caller.get("/protected").may_fail().await.status;
    let introspection = introspect(world, client, token).await.json();
    assert_eq!(status, if is_active { 200 } else { 401 }, "{case}");
    assert_eq!(introspection["active"], is_active, "{case}");
}

async fn an_active_access_token_is_described(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let server = world.app().kind("web").register();
    let tokens = app.tokens(&user, "posts:read profile:read").await;
    let described = introspect(&world, &server, &tokens.access).await.json();
    let claims = tokens.claims();
    let mut expected = json!({ "active": true, "token_type": "Bearer" });
    for name in ["scope", "client_id", "exp", "iat", "sub", "aud", "iss", "jti"] {
        expected[name] = claims[name].clone();
    }
    assert_eq!(described, expected);
}

async fn the_scope_is_what_the_role_of_the_user_allows(world: SharedWorld) {
    let user = world.user().await;
    let server = world.app().kind("web").register();
    let forger = TokenForger::new(&world, &user).await;
    let token = forger.with_claim("scope", json!("posts:read admin unknown:scope"));
    let described = introspect(&world, &server, &token).await.json();
    assert_eq!(described["scope"], "posts:read");
}

async fn tokens_name_the_scope_that_the_role_allows(world: SharedWorld) {
    let server = world.app().kind("web").register();
    for (role, scope) in [("user", "posts:read"), ("admin", "admin posts:read")] {
        let (user, app) = (world.user_with_role(role).await, world.app().register());
        let first = app.tokens(&user, "posts:read admin").await;
        let second = app.refresh(&world.anyone(), &first.refresh).await;
        for tokens in [&first, &Tokens::parse(second)] {
            assert_eq!(tokens.reply.json()["scope"], scope, "{role}");
            assert_eq!(tokens.claims()["scope"], scope, "{role}");
            let described = introspect(&world, &server, &tokens.access).await.json();
            assert_eq!(described["scope"], scope, "{role}");
        }
    }
}

async fn introspection_agrees_with_the_api_on_invalid_tokens(world: SharedWorld) {
    let user = world.user().await;
    let server = world.app().kind("web").register();
    let forger = TokenForger::new(&world, &user).await;
    let now = world.now().seconds();
    expect_agreement(&world, &server, &forger.good(), true, "good").await;
    let claims: [(&str, Option<Value>); 13] = [
        ("sub", Some(json!("0"))),
        ("sub", Some(json!(format!("0{}", user.id)))),
        ("sub", Some(json!("robot"))),
        ("iss", Some(json!("https://other.test"))),
        ("aud", Some(json!("https://other.test"))),
        ("aud", None),
        ("exp", Some(json!(now - 1))),
        ("exp", None),
        ("iat", Some(json!(now - 700))),
        ("iat", Some(json!(now + 3600))),
        ("nbf", Some(json!(now + 3600))),
        ("jti", None),
        ("scope", None),
    ];
    for (name, value) in claims {
        let case = format!("{name} {value:?}");
        expect_agreement(&world, &server, &forger.with_claim(name, value), false, &case).await;
    }
    for (name, value) in [
        ("alg", "none"),
        ("alg", "HS256"),
        ("typ", "JWT"),
        ("kid", "other"),
    ] {
        let token = forger.with_header(name, json!(value));
        expect_agreement(&world, &server, &token, false, &format!("{name} {value}")).await;
    }
    let token = forger.good();
    expect_agreement(
        &world,
        &server,
        &format!("{}A", &token[..token.len() - 4]),
        false,
        "signature",
    )
    .await;
    for token in ["nonsense", "a.b.c"] {
        expect_agreement(&world, &server, token, false, token).await;
    }
}

async fn introspection_agrees_with_the_api_on_revoked_tokens(world: SharedWorld) {
    let server = world.app().kind("web").register();
    let anyone = world.anyone();
    for cause in ["/revoke", "refresh token", "reuse", "password", "disconnect"] {
        let (user, app) = world.user_and_app().await;
        let tokens = app.tokens(&user, "posts:read").await;
        expect_agreement(&world, &server, &tokens.access, true, cause).await;
        let revoke = |token: &str| app.client_call(&anyone, "/revoke", &[("token", token)]);
        match cause {
            "/revoke" => drop(revoke(&tokens.access).await.expect(200)),
            "refresh token" => drop(revoke(&tokens.refresh).await.expect(200)),
            "reuse" => {
                app.refresh(&anyone, &tokens.refresh).await.expect(200);
                app.refresh(&anyone, &tokens.refresh).await.expect(400);
            }
            "password" => {
                let body = json!({ "current_password": PASSWORD, "new_password": "another good password" });
                user.call("PUT", "/me/password").json(&body).await.expect(204);
            }
            _ => {
                let grants = user.get("/me/grants").await.expect(200).json();
                let id = grants["items"][0]["id"].as_str().unwrap().to_owned();
                user.delete(&format!("/me/grants/{id}")).await.expect(204);
            }
        }
        world.expect_revoked(&tokens.access).await;
        // The replica of the issuer that answers may be another than the one that revoked.
        eventually("the token is still active", async || {
            introspect(&world, &server, &tokens.access).await.json()["active"] == false
        })
        .await;
        expect_agreement(&world, &server, &tokens.access, false, cause).await;
    }
}

async fn a_refresh_token_is_active_for_its_own_client_until_it_is_used(world: SharedWorld) {
    let user = world.user().await;
    let (web, other) = (
        world.app().kind("web").register(),
        world.app().kind("web").register(),
    );
    let anyone = world.anyone();
    let first = web.tokens(&user, "posts:read").await;
    let described = introspect(&world, &web, &first.refresh).await.json();
    assert_eq!(described["active"], true, "{described}");
    assert_eq!(described["client_id"], web.id.as_str());
    assert_eq!(described["sub"], user.id.to_string());
    assert_eq!(described["scope"], "posts:read");
    assert!(
        described["exp"].as_i64() > described["iat"].as_i64(),
        "{described}"
    );
    assert!(described.get("token_type").is_none(), "{described}");
    expect_inactive(&world, &other, &first.refresh).await;
    let second = Tokens::parse(web.refresh(&anyone, &first.refresh).await);
    expect_inactive(&world, &web, &first.refresh).await;
    assert_eq!(
        introspect(&world, &web, &second.refresh).await.json()["active"],
        true
    );
    web.client_call(&anyone, "/revoke", &[("token", &second.refresh)])
        .await
        .expect(200);
    expect_inactive(&world, &web, &second.refresh).await;
}

/// The answer depends neither on the hint nor on the client authentication nor on the replica.
async fn a_live_refresh_token_is_active_for_its_own_client_in_every_way_of_asking(world: SharedWorld) {
    let user = world.user().await;
    let web = world.app().kind("web").register();
    let secret = web.secret.as_deref().unwrap();
    let first = web.tokens(&user, "posts:read").await;
    let rotated = Tokens::parse(web.refresh(&world.anyone(), &first.refresh).await);
    let fresh = web.tokens(&user, "posts:read").await;
    for token in [&rotated.refresh, &fresh.refresh] {
        for issuer in world.at_each_issuer(&world.anyone()) {
            let in_body = [
                ("token", token.as_str()),
                ("client_id", &web.id),
                ("client_secret", secret),
            ];
            let as_json = json!({ "token": token, "client_id": web.id, "client_secret": secret });
            let hinted = ["refresh_token", "access_token", "unknown"].map(|hint| {
                let fields = [("token", token.as_str()), ("token_type_hint", hint)];
                web.client_call(&issuer, "/introspect", &fields)
            });
            let others = [
                web.client_call(&issuer, "/introspect", &[("token", token)]),
                issuer.post("/introspect").form(&in_body),
                issuer.post("/introspect").json(&as_json),
            ];
            for call in hinted.into_iter().chain(others) {
                let state = call.await.expect(200);
                assert_eq!(state.json()["active"], true, "{state}");
            }
        }
    }
}

/// Asks for the state of a token with this `Accept` header.
async fn accept(world: &World, client: &App, token: &str, media_types: &str) -> Reply {
    let call = client.client_call(&world.anyone(), "/introspect", &[("token", token)]);
    call.header("accept", media_types).await.expect(200)
}

async fn a_signed_answer_has_the_same_content_for_one_client(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let server = world.app().kind("service").scope("posts:read").register();
    let tokens = app.tokens(&user, "posts:read").await;
    let keys = world.anyone().get("/.well-known/jwks.json").await.json();
    let keys: JwkSet = serde_json::from_value(keys).unwrap();
    for (token, is_active) in [(tokens.access.as_str(), true), ("unknown", false)] {
        let plain = introspect(&world, &server, token).await.json();
        let reply = accept(&world, &server, token, SIGNED).await;
        assert_eq!(reply.header("content-type"), SIGNED);
        assert!(reply.header("cache-control").contains("no-store"), "{reply}");
        let jwt = reply.text();
        let header = jsonwebtoken::decode_header(&jwt).unwrap();
        assert_eq!(header.typ.as_deref(), Some("token-introspection+jwt"));
        let key = keys.find(header.kid.as_deref().unwrap()).unwrap();
        let mut validation = Validation::new(Algorithm::RS256);
        validation.set_required_spec_claims(&["iss", "aud"]);
        validation.set_issuer(&[world.base()]);
        validation.set_audience(&[&server.id]);
        let claims = decode::<Value>(&jwt, &DecodingKey::from_jwk(key).unwrap(), &validation)
            .unwrap()
            .claims;
        assert_eq!(claims["token_introspection"], plain);
        assert_eq!(claims["token_introspection"]["active"], is_active);
        let names: Vec<&String> = claims.as_object().unwrap().keys().collect();
        assert_eq!(names, ["aud", "iat", "iss", "token_introspection"]);
        let age = world.now().seconds() - claims["iat"].as_i64().unwrap();
        assert!((0..10).contains(&age), "{claims}");
        // It is no access token.
        let caller = world.anyone().bearer(&jwt);
        caller.get("/protected").await.expect_error(401, "invalid_token");
        expect_inactive(&world, &server, &jwt).await;
    }
}

async fn an_answer_is_signed_only_on_request(world: SharedWorld) {
    let server = world.app().kind("service").scope("posts:read").register();
    for (media_types, is_signed) in [
        ("*/*", false),
        ("application/json", false),
        (
            "application/json, application/token-introspection+jwt;q=0.5",
            false,
        ),
        ("application/token-introspection+jwt;q=0", false),
        ("application/token-introspection+jwt, */*;q=0.1", true),
        (
            "application/json;q=0.5, application/token-introspection+jwt",
            true,
        ),
    ] {
        let reply = accept(&world, &server, "unknown", media_types).await;
        let expected = if is_signed { SIGNED } else { "application/json" };
        assert_eq!(reply.header("content-type"), expected, "{media_types}");
    }
    let metadata = world
        .anyone()
        .get("/.well-known/oauth-authorization-server")
        .await;
    assert_eq!(
        metadata.json()["introspection_signing_alg_values_supported"],
        json!(["RS256"])
    );
}

async fn only_confidential_clients_introspect(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let web = world.app().kind("web").register();
    let tokens = app.tokens(&user, "posts:read").await;
    let anyone = world.anyone();
    let token = [("token", tokens.access.as_str())];
    app.client_call(&anyone, "/introspect", &token)
        .await
        .expect_token_error(401, "invalid_client");
    for caller in [
        anyone.clone(),
        user.anonymous().bearer(&tokens.access),
        anyone.with("authorization", &basic(&web.id, "wrong")),
    ] {
        let reply = caller.post("/introspect").form(&token).await;
        reply.expect_token_error(401, "invalid_client");
    }
    web.client_call(&anyone, "/introspect", &[])
        .await
        .expect_token_error(400, "invalid_request");
}

on_every_shape!(
    an_active_access_token_is_described,
    the_scope_is_what_the_role_of_the_user_allows,
    tokens_name_the_scope_that_the_role_allows,
    introspection_agrees_with_the_api_on_invalid_tokens,
    introspection_agrees_with_the_api_on_revoked_tokens,
    a_refresh_token_is_active_for_its_own_client_until_it_is_used,
    a_live_refresh_token_is_active_for_its_own_client_in_every_way_of_asking,
    a_signed_answer_has_the_same_content_for_one_client,
    an_answer_is_signed_only_on_request,
    only_confidential_clients_introspect,
);
