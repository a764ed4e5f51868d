//! Malformed requests to `POST /token`.

use serde_json::json;
use tests::{SharedWorld, basic, on_every_shape};

const FORM: &str = "application/x-www-form-urlencoded";

async fn token_requests_must_be_post(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    for method in ["GET", "HEAD", "PUT", "DELETE", "PATCH"] {
        let reply = world.anyone().call(method, "/token").await.expect(405);
        assert!(reply.header("allow").contains("POST"), "{reply}");
    }
    let grant = app.authorize(&mut user.browser(), &user, "posts:read").await;
    let query = format!(
        "/token?grant_type=authorization_code&client_id={}&code={}&code_verifier={}",
        app.id, grant.code, grant.verifier
    );
    let unnamed = world.anyone().post(&query).body(FORM, "").await;
    assert!(
        [400, 401].contains(&unnamed.status),
        "query parameters are ignored: {unnamed}"
    );
    let named = app.token(&world.anyone(), &[]).await;
    named.expect_token_error(400, "invalid_request");
    app.exchange(&world.anyone(), &grant).await.expect(200);
}

async fn token_requests_must_be_a_form_or_json(world: SharedWorld) {
    let fields = "grant_type=refresh_token&refresh_token=x&client_id=y";
    let types = [
        "text/plain",
        "multipart/form-data; boundary=x",
        "application/xml",
        "application/x-www-form-urlencoded; charset=utf-16",
    ];
    for content_type in types {
        let reply = world.anyone().post("/token").body(content_type, fields).await;
        assert!([400, 415].contains(&reply.status), "{reply}");
    }
    let reply = world
        .anyone()
        .post("/token")
        .body(FORM, fields)
        .without("content-type")
        .await;
    assert!([400, 415].contains(&reply.status), "{reply}");
    for text in [
        "",
        "{",
        "[]",
        "\"x\"",
        "{\"grant_type\":1}",
        "{\"grant_type\":\"refresh_token\",\"grant_type\":\"refresh_token\"}",
    ] {
        world
            .anyone()
            .post("/token")
            .body("application/json", text)
            .await
            .expect_token_error(400, "invalid_request");
    }
}

async fn repeated_parameters_are_rejected(world: SharedWorld) {
    let app = world.app().register();
    for name in ["grant_type", "refresh_token", "client_id", "scope"] {
        let mut fields = vec![
            ("grant_type", "refresh_token"),
            ("refresh_token", "x"),
            ("scope", "posts:read"),
        ];
        fields.push((name, "again"));
        app.token(&world.anyone(), &fields)
            .await
            .expect_token_error(400, "invalid_request");
    }
}

async fn unsupported_grant_types_are_rejected(world: SharedWorld) {
    let app = world.app().register();
    let anyone = world.anyone();
    for grant_type in [
        "password",
        "implicit",
        "urn:ietf:params:oauth:grant-type:jwt-bearer",
        "AUTHORIZATION_CODE",
    ] {
        let fields = [("grant_type", grant_type), ("username", "a"), ("password", "b")];
        app.token(&anyone, &fields)
            .await
            .expect_token_error(400, "unsupported_grant_type");
    }
    app.token(&anyone, &[])
        .await
        .expect_token_error(400, "invalid_request");
    app.token(&anyone, &[("grant_type", "client_credentials")])
        .await
        .expect_token_error(400, "unauthorized_client");
}

async fn unknown_clients_are_rejected(world: SharedWorld) {
    let fields = [
        ("grant_type", "refresh_token"),
        ("refresh_token", "x"),
        ("client_id", "nobody"),
    ];
    world
        .anyone()
        .post("/token")
        .form(&fields)
        .await
        .expect_token_error(401, "invalid_client");
    let nameless = [("grant_type", "refresh_token"), ("refresh_token", "x")];
    let reply = world.anyone().post("/token").form(&nameless).await;
    assert!([400, 401].contains(&reply.status), "{reply}");
}

async fn oversized_token_requests_are_rejected(world: SharedWorld) {
    let body = format!("grant_type=refresh_token&refresh_token={}", "x".repeat(70_000));
    let reply = world.anyone().post("/token").body(FORM, body).await;
    assert!([400, 413].contains(&reply.status), "{reply}");
}

async fn clients_can_only_register_known_scopes(world: SharedWorld) {
    let args = [
        "clients", "create", "--id", "bad", "--name", "Bad", "--type", "spa",
    ];
    let redirect = ["--redirect-uri", "https://app.test/cb", "--json"];
    let output = world.run(
        &[&args[..], &redirect, &["--scope", "posts:everything"]].concat(),
        "",
    );
    assert!(!output.status.success(), "{output:?}");
    let app = world.app().scope("posts:read").register();
    let shown = world.cli(&["clients", "show", &app.id, "--json"], "");
    assert_eq!(
        (&shown["id"], &shown["type"], &shown["scope"]),
        (&json!(app.id), &json!("spa"), &json!("posts:read"))
    );
    assert_eq!(shown["client_secret"], json!(null), "{shown}");
}

async fn nul_characters_in_parameters_are_rejected(world: SharedWorld) {
    let anyone = world.anyone();
    let page = anyone.get("/authorize?client_id=a%00b").await.expect(400);
    assert!(page.header("content-type").starts_with("text/html"), "{page}");
    let nul = [("grant_type", "authorization_code"), ("client_id", "a\0b")];
    let reply = anyone.post("/token").form(&nul).await;
    reply.expect_token_error(400, "invalid_request");
    let named = anyone.with("authorization", &basic("a\0b", "x"));
    let reply = named
        .post("/token")
        .form(&[("grant_type", "refresh_token")])
        .await;
    reply.expect_token_error(401, "invalid_client");
}

async fn too_many_parameters_are_rejected(world: SharedWorld) {
    let fields: Vec<(String, &str)> = (0..5_000).map(|n| (n.to_string(), "")).collect();
    let reply = world.anyone().post("/token").form(&fields).await;
    reply.expect_token_error(400, "invalid_request");
}

on_every_shape!(
    too_many_parameters_are_rejected,
    nul_characters_in_parameters_are_rejected,
    token_requests_must_be_post,
    token_requests_must_be_a_form_or_json,
    repeated_parameters_are_rejected,
    unsupported_grant_types_are_rejected,
    unknown_clients_are_rejected,
    oversized_token_requests_are_rejected,
    clients_can_only_register_known_scopes,
);
