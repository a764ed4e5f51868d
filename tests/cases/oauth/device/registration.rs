//! The clients that may use the grant, and the requests that they may make.

use super::{MINUTE, SCOPE, native, user_and_app};
use serde_json::{Value, json};
use std::time::Duration;
use tests::{
    App, Shape, SharedWorld, Tokens, World, basic, eventually, on_every_shape, run_concurrently,
    status_counts,
};

async fn only_registered_native_and_web_clients_have_devices(world: SharedWorld) {
    let (admin, anyone) = (world.user_with_role("admin").await, world.anyone());
    for kind in ["spa", "native", "web", "service"] {
        let app = world.app().kind(kind).scope("posts:read").register();
        let reply = app.device_request(&anyone, &[]).await;
        reply.expect_token_error(400, "unauthorized_client");
        let reply = app.poll(&anyone, "x").await;
        reply.expect_token_error(400, "unauthorized_client");
        let output = world.run(&["clients", "update", &app.id, "--device", "true", "--json"], "");
        assert_eq!(
            output.status.success(),
            ["native", "web"].contains(&kind),
            "{kind}"
        );
    }
    // A device needs no redirect URI, and the flow with a code then has none to return to.
    let create = [
        "clients", "create", "--json", "--id", "tv", "--name", "TV", "--type", "native", "--scope", SCOPE,
    ];
    assert!(!world.run(&create, "").status.success());
    let made = world.cli(&[&create[..], &["--device"]].concat(), "");
    assert_eq!(
        (&made["device_authorization"], &made["redirect_uris"]),
        (&json!(true), &json!([]))
    );
    let tv = App {
        id: "tv".to_owned(),
        secret: None,
        redirect_uri: tests::CALLBACK.to_owned(),
    };
    let user = world.user().await;
    let device = tv.device(&anyone, SCOPE).await;
    device.decide(&user, "allow").await;
    let tokens = Tokens::parse(device.poll(&anyone).await);
    tv.refresh(&anyone, &tokens.refresh).await.expect(200);
    tv.authorization().expect_error_page(&world).await;
    let update = |value| world.run(&["clients", "update", "tv", "--device", value, "--json"], "");
    assert!(!update("false").status.success(), "it would have no flow at all");

    // The same over HTTP.
    let body = |id: &str, kind: &str| {
        json!({ "id": id, "name": "An app", "type": kind, "scope": SCOPE, "device_authorization": true,
                "redirect_uris": [tests::CALLBACK] })
    };
    let refused = admin.post("/admin/clients").json(&body("spa", "spa")).await;
    refused.expect(422);
    let created = admin
        .post("/admin/clients")
        .json(&body("web", "web"))
        .await
        .expect(201)
        .json();
    assert_eq!(created["device_authorization"], true, "{created}");
    let change = async |value: Value| {
        let call = admin
            .patch("/admin/clients/web")
            .json(&json!({ "device_authorization": value }));
        call.await
    };
    change(json!("no"))
        .await
        .expect_validation_errors(&["/device_authorization"]);
    assert_eq!(
        change(json!(false)).await.expect(200).json()["device_authorization"],
        false
    );
}

/// A device that waits, or that was allowed, gets nothing once the client may not use the grant.
async fn a_client_can_lose_the_grant(world: SharedWorld) {
    let (user, app) = user_and_app(&world).await;
    let (waiting, allowed) = (
        app.device(&world.anyone(), SCOPE).await,
        super::decided(&world, &app, &user, "allow").await,
    );
    world.cli(&["clients", "update", &app.id, "--device", "false", "--json"], "");
    for issuer in world.at_each_issuer(&world.anyone()) {
        // Each issuer keeps a client in memory for a second.
        eventually("the client may still use the grant", async || {
            let reply = app.device_request(&issuer, &[]).await;
            reply.status == 400 && reply.json()["error"] == "unauthorized_client"
        })
        .await;
    }
    let page = user.browser().enter_user_code(&waiting.user_code).await;
    assert_eq!(page.reply.status, 422, "{}", page.reply);
    allowed
        .poll(&world.anyone())
        .await
        .expect_token_error(400, "unauthorized_client");
}

async fn requests_are_checked_as_those_of_other_grants(world: SharedWorld) {
    let anyone = world.anyone();
    let app = world
        .app()
        .kind("native")
        .scope("posts:read posts:write")
        .default_scope("posts:read")
        .option(&["--device"])
        .register();
    for (fields, error) in [
        (vec![("scope", "payments:read")], "invalid_scope"),
        (vec![("scope", "nonsense")], "invalid_scope"),
        (vec![("scope", " ")], "invalid_scope"),
        (vec![("resource", "https://other.test")], "invalid_target"),
        (
            vec![("scope", "posts:read"), ("scope", "posts:read")],
            "invalid_request",
        ),
        (vec![("scope", "\0")], "invalid_request"),
    ] {
        let reply = app.device_request(&anyone, &fields).await;
        reply.expect_token_error(400, error);
    }
    let user = world.user().await;
    let slash = format!("{}/", world.base());
    let request = app.device_request(&anyone, &[("resource", world.base()), ("resource", &slash)]);
    let body = request.await.expect(200).json();
    let page = user
        .browser()
        .enter_user_code(body["user_code"].as_str().unwrap())
        .await;
    let words = page.visible_text();
    assert!(
        words.contains("posts:read") && !words.contains("posts:write"),
        "{words}"
    );

    // Clients authenticate as at the token endpoint, and send a form or JSON.
    let web = world.app().kind("web").option(&["--device"]).register();
    let secret = web.secret.as_deref().unwrap();
    let post = || anyone.post("/device_authorization");
    let (id, wrong) = (web.id.as_str(), basic(&web.id, "wrong"));
    post()
        .form(&[("client_id", id), ("client_secret", secret)])
        .await
        .expect(200);
    post()
        .json(&json!({ "client_id": id, "client_secret": secret, "scope": "posts:read" }))
        .await
        .expect(200);
    for refused in [
        post().form(&[("client_id", id)]),
        post().form(&[("client_id", "nobody")]),
        post().form(&[("scope", SCOPE)]),
        post().form(&[("scope", SCOPE)]).header("authorization", &wrong),
    ] {
        refused.await.expect_token_error(401, "invalid_client");
    }
    anyone.get("/device_authorization").await.expect(405);
    let metadata = anyone.get("/.well-known/openid-configuration").await.json();
    let endpoint = format!("{}/device_authorization", world.base());
    assert_eq!(metadata["device_authorization_endpoint"], json!(endpoint));
    let grants = metadata["grant_types_supported"].as_array().unwrap();
    assert!(grants.contains(&json!(tests::DEVICE_CODE)), "{metadata}");
}

async fn a_network_has_a_bounded_number_of_waiting_devices(shape: Shape) {
    let world = World::builder(shape)
        .flag("--trusted-proxies", "127.0.0.1")
        .clock()
        .start()
        .await;
    let (app, anyone) = (native(&world), world.anyone());
    // Concurrent requests may be refused although there is room for them.
    let flood = run_concurrently(120, |_| app.device_request(&anyone, &[]).into_future()).await;
    let counts = status_counts(&flood);
    assert!(
        counts.keys().all(|status| [200, 429].contains(status)),
        "{counts:?}"
    );
    let accepted = counts.get(&200).copied().unwrap_or_default();
    for _ in accepted..100 {
        app.device(&anyone, SCOPE).await;
    }
    let refused = app
        .device_request(&anyone, &[])
        .await
        .expect_error(429, "rate_limited");
    let seconds: u64 = refused.header("retry-after").parse().unwrap();
    assert!((1..=600).contains(&seconds), "{refused}");
    native(&world).device(&anyone, SCOPE).await;
    app.device(&anyone.with("x-forwarded-for", "203.0.113.9"), SCOPE)
        .await;
    world.advance(10 * MINUTE + Duration::from_secs(1));
    app.device(&anyone, SCOPE).await;
}

on_every_shape!(
    only_registered_native_and_web_clients_have_devices,
    a_client_can_lose_the_grant,
    requests_are_checked_as_those_of_other_grants,
    a_network_has_a_bounded_number_of_waiting_devices,
);
