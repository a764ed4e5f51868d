//! `POST /token`: codes work once, for their client, before they expire.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;
use tests::{App, Shape, SharedWorld, Tokens, World, basic, on_every_shape};

async fn token_responses_follow_the_rfc(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let tokens = app.tokens(&user, "posts:read profile:read").await;
    let body = tokens.reply.json();
    assert_eq!(body["token_type"], "Bearer");
    assert_eq!(body["expires_in"], 600);
    assert_eq!(body["scope"], "posts:read profile:read");
    assert_eq!(body.as_object().unwrap().len(), 5, "{body}");
    assert_eq!(tokens.reply.header("cache-control"), "no-store");
    assert_eq!(tokens.reply.header("content-type"), "application/json");
    let claims = tokens.claims();
    assert_eq!(claims["sub"], json!(user.id.to_string()));
    assert_eq!(
        (&claims["iss"], &claims["aud"]),
        (&json!(world.base()), &json!(world.base()))
    );
    assert_eq!(claims["client_id"], json!(app.id));
    assert_eq!(
        claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(),
        600
    );
}

async fn token_requests_may_be_json(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let grant = app.authorize(&mut user.browser(), &user, "posts:read").await;
    let body = json!({
        "grant_type": "authorization_code", "client_id": app.id, "code": grant.code,
        "redirect_uri": app.redirect_uri, "code_verifier": grant.verifier,
    });
    Tokens::parse(world.anyone().post("/token").json(&body).await);
}

async fn reusing_a_code_revokes_its_tokens(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let grant = app.authorize(&mut user.browser(), &user, "posts:read").await;
    let tokens = Tokens::parse(app.exchange(&world.anyone(), &grant).await);
    let rotated = Tokens::parse(app.refresh(&world.anyone(), &tokens.refresh).await);
    app.exchange(&world.anyone(), &grant)
        .await
        .expect_token_error(400, "invalid_grant");
    rotated.expect_revoked(&world, &app).await;
    tokens.expect_revoked(&world, &app).await;
}

async fn an_invalid_reuse_of_a_code_revokes_nothing(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let other = App {
        redirect_uri: app.redirect_uri.clone(),
        ..world.app().kind("native").register()
    };
    let grant = app.authorize(&mut user.browser(), &user, "posts:read").await;
    let tokens = Tokens::parse(app.exchange(&world.anyone(), &grant).await);
    other
        .exchange(&world.anyone(), &grant)
        .await
        .expect_token_error(400, "invalid_grant");
    let with_other_redirect_uri = App {
        redirect_uri: "https://app.test/elsewhere".to_owned(),
        ..app.clone()
    };
    let refused = with_other_redirect_uri.exchange(&world.anyone(), &grant).await;
    refused.expect_token_error(400, "invalid_grant");
    let mut guessed = grant.clone();
    guessed.verifier = "v".repeat(43);
    app.exchange(&world.anyone(), &guessed)
        .await
        .expect_token_error(400, "invalid_grant");
    world.expect_accepted(&tokens.access).await;
    app.refresh(&world.anyone(), &tokens.refresh).await.expect(200);
}

async fn codes_are_bound_to_their_client(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let other = world.app().register();
    let grant = app.authorize(&mut user.browser(), &user, "posts:read").await;
    other
        .exchange(&world.anyone(), &grant)
        .await
        .expect_token_error(400, "invalid_grant");
    app.exchange(&world.anyone(), &grant).await.expect(200);
}

async fn unknown_codes_are_an_invalid_grant(world: SharedWorld) {
    let app = world.app().register();
    let verifier = "v".repeat(43);
    for code in ["x", "' OR 1=1 --", "é", &"x".repeat(5_000)] {
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", app.redirect_uri.as_str()),
            ("code_verifier", &verifier),
        ];
        app.token(&world.anyone(), &fields)
            .await
            .expect_token_error(400, "invalid_grant");
    }
}

async fn token_errors_have_the_members_of_the_rfc(world: SharedWorld) {
    let app = world.app().register();
    let reply = app.refresh(&world.anyone(), "unknown").await;
    let body = reply.expect_token_error(400, "invalid_grant").json();
    let members: BTreeSet<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, ["correlationId", "error", "error_description"].into());
}

async fn codes_expire_after_a_minute(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (user, app) = world.user_and_app().await;
    for (seconds, status) in [(59, 200), (61, 400)] {
        let grant = app.authorize(&mut user.browser(), &user, "posts:read").await;
        world.advance(Duration::from_secs(seconds));
        app.exchange(&world.anyone(), &grant).await.expect(status);
    }
}

/// A browser opens a password box for a challenge of the scheme Basic, and only a client that used this
/// header can answer it.
async fn only_clients_that_used_the_authorization_header_get_a_challenge(world: SharedWorld) {
    let (anyone, public) = (world.anyone(), world.app().register());
    for path in [
        "/token",
        "/revoke",
        "/introspect",
        "/par",
        "/device_authorization",
    ] {
        for fields in [
            vec![("client_id", "nobody")],
            vec![("client_id", public.id.as_str()), ("client_secret", "none")],
            Vec::new(),
        ] {
            let refused = anyone.post(path).form(&fields).await;
            let refused = refused.expect_token_error(401, "invalid_client");
            assert!(!refused.has("www-authenticate"), "{path}: {refused}");
        }
        let with_header = anyone.with("authorization", &basic("nobody", "secret"));
        let refused = with_header.post(path).form::<&str, &str>(&[]).await;
        let refused = refused.expect_token_error(401, "invalid_client");
        assert!(
            refused.header("www-authenticate").starts_with("Basic "),
            "{path}: {refused}"
        );
    }
}

async fn confidential_clients_authenticate_with_their_secret(world: SharedWorld) {
    let user = world.user().await;
    let web = world.app().kind("web").register();
    let (anyone, secret) = (world.anyone(), web.secret.clone().unwrap());
    let tokens = web.tokens(&user, "posts:read").await;
    let fields = [
        ("grant_type", "refresh_token"),
        ("refresh_token", tokens.refresh.as_str()),
    ];
    let wrong = [
        basic(&web.id, "wrong"),
        basic(&web.id, ""),
        basic("nobody", &secret),
        "Basic !!!".to_owned(),
    ];
    for authorization in wrong {
        let call = anyone
            .post("/token")
            .form(&fields)
            .header("authorization", &authorization);
        let reply = call.await.expect_token_error(401, "invalid_client");
        assert!(reply.header("www-authenticate").starts_with("Basic"), "{reply}");
    }
    let id = ("client_id", web.id.as_str());
    for in_body in [
        vec![id],
        vec![id, ("client_secret", "wrong")],
        vec![id, ("client_secret", "")],
        vec![("client_id", "nobody"), ("client_secret", &secret)],
        vec![("client_secret", &secret)],
    ] {
        let call = anyone.post("/token").form(&[&fields, &in_body[..]].concat());
        let reply = call.await.expect_token_error(401, "invalid_client");
        assert!(!reply.has("www-authenticate"), "{reply}");
    }
    let in_body = [fields[0], fields[1], id, ("client_secret", secret.as_str())];
    let twice = anyone.with("authorization", &basic(&web.id, &secret));
    let reply = twice.post("/token").form(&in_body).await;
    reply.expect_token_error(400, "invalid_request");
    let next = Tokens::parse(anyone.post("/token").form(&in_body).await);
    web.refresh(&anyone, &next.refresh).await.expect(200);
    let grant = web.authorize(&mut user.browser(), &user, "posts:read").await;
    let with_code = [
        ("grant_type", "authorization_code"),
        ("code", grant.code.as_str()),
        ("redirect_uri", web.redirect_uri.as_str()),
        ("code_verifier", grant.verifier.as_str()),
        id,
        ("client_secret", secret.as_str()),
    ];
    let tokens = Tokens::parse(anyone.post("/token").form(&with_code).await);
    world.expect_accepted(&tokens.access).await;
}

async fn http_basic_is_form_decoded(world: SharedWorld) {
    let user = world.user().await;
    let web = world.app().kind("web").register();
    let tokens = web.tokens(&user, "posts:read").await;
    // The encoding of a character that needs none is valid too.
    let encode = |text: &str| -> String { text.bytes().map(|byte| format!("%{byte:02X}")).collect() };
    let pair = format!("{}:{}", encode(&web.id), encode(web.secret.as_deref().unwrap()));
    let caller = world
        .anyone()
        .with("authorization", &format!("Basic {}", STANDARD.encode(pair)));
    let fields = [
        ("grant_type", "refresh_token"),
        ("refresh_token", tokens.refresh.as_str()),
    ];
    Tokens::parse(caller.post("/token").form(&fields).await);
}

async fn public_clients_that_send_a_secret_are_rejected(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let tokens = app.tokens(&user, "posts:read").await;
    let fields = [
        ("grant_type", "refresh_token"),
        ("refresh_token", tokens.refresh.as_str()),
    ];
    let call = world
        .anyone()
        .post("/token")
        .form(&fields)
        .header("authorization", &basic(&app.id, "bogus"));
    call.await.expect_token_error(401, "invalid_client");
    app.refresh(&world.anyone(), &tokens.refresh).await.expect(200);
}

on_every_shape!(
    token_responses_follow_the_rfc,
    token_requests_may_be_json,
    reusing_a_code_revokes_its_tokens,
    an_invalid_reuse_of_a_code_revokes_nothing,
    codes_are_bound_to_their_client,
    unknown_codes_are_an_invalid_grant,
    token_errors_have_the_members_of_the_rfc,
    codes_expire_after_a_minute,
    only_clients_that_used_the_authorization_header_get_a_challenge,
    confidential_clients_authenticate_with_their_secret,
    http_basic_is_form_decoded,
    public_clients_that_send_a_secret_are_rejected,
);
