//! Changes of clients and of their secrets.

use super::super::{clients, expect_token_error_soon};
use super::{LIST, expect_authenticated, path, registered};
use foundation::clock::Timestamp;
use serde_json::{Value, json};
use std::time::Duration;
use storage::fetch_all;
use tests::{CALLBACK, Caller, Shape, SharedWorld, World, on_every_shape};

async fn changes_take_effect_in_every_process(world: SharedWorld) {
    let (user, admin) = (world.user().await, world.user_with_role("admin").await);
    let app = world.app().scope("posts:read posts:write").register();
    let tokens = app.tokens(&user, "posts:write").await;
    let mut expected = clients(&world, "show", &app, &[]);
    for (member, value) in [
        ("name", json!("Another Name")),
        ("first_party", json!(true)),
        ("redirect_uris", json!(["https://new.test/cb", CALLBACK])),
        ("default_scope", json!("posts:write")),
    ] {
        expected[member] = value.clone();
        let body = json!({ member: value });
        let changed = admin.patch(&path(&app)).json(&body).await.expect(200);
        assert_eq!(changed.json(), expected, "{member}");
    }
    let unchanged = admin.patch(&path(&app)).json(&json!({})).await.expect(200);
    assert_eq!(unchanged.json(), expected);
    assert_eq!(clients(&world, "show", &app, &[]), expected);
    world.expect_accepted(&tokens.access).await;
    // A smaller scope ends the tokens.
    let smaller = json!({ "scope": "posts:read" });
    admin.patch(&path(&app)).json(&smaller).await.expect(200);
    world.expect_revoked_soon(&tokens.access).await;
    for (body, pointer) in [
        (json!({ "name": " " }), ""),
        (json!({ "scope": "everything" }), "/scope"),
        (json!({ "redirect_uris": [] }), ""),
        (json!({ "jwks": { "keys": [] } }), ""),
        (json!({ "id": "other" }), "/id"),
        (json!({ "type": "web" }), "/type"),
    ] {
        let refused = admin.patch(&path(&app)).json(&body).await;
        refused.expect_validation_errors(&[pointer]);
    }
}

async fn disabling_ends_the_tokens_in_every_process(world: SharedWorld) {
    let ((user, app), admin) = (world.user_and_app().await, world.user_with_role("admin").await);
    let tokens = app.tokens(&user, "posts:read").await;
    let disabled = admin.post(&format!("{}/disablements", path(&app))).await;
    let disabled = disabled.expect(200).json();
    assert!(disabled["disabled_at"].is_string(), "{disabled}");
    world.expect_revoked_soon(&tokens.access).await;
    expect_token_error_soon(&world, 401, "invalid_client", |issuer| {
        app.refresh(issuer, &tokens.refresh)
    })
    .await;
    // Disabling again changes nothing.
    let again = admin.post(&format!("{}/disablements", path(&app))).await;
    assert_eq!(again.expect(200).json(), disabled);
    assert_eq!(clients(&world, "show", &app, &[]), disabled);
    let enabled = admin.post(&format!("{}/enablements", path(&app))).await;
    assert_eq!(enabled.expect(200).json()["disabled_at"], json!(null));
    expect_token_error_soon(&world, 400, "invalid_grant", |issuer| {
        app.refresh(issuer, &tokens.refresh)
    })
    .await;
    app.tokens(&user, "posts:read").await;
}

async fn a_new_secret_is_shown_once_and_the_former_one_ends(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let admin = world.user_with_role("admin").await;
    let app = world.app().kind("web").register();
    let rotations = format!("{}/secrets", path(&app));
    for (body, overlap) in [
        (None, 86_400),
        (Some(json!({})), 86_400),
        (Some(json!({ "overlap": 7200 })), 7200),
    ] {
        let call = admin.post(&rotations);
        let call = match &body {
            Some(body) => call.json(body),
            None => call,
        };
        let reply = call.await.expect(201);
        assert_eq!(reply.header("cache-control"), "no-store");
        let shown = clients(&world, "show", &app, &[]);
        assert_eq!(reply.json()["secrets"], shown["secrets"]);
        let time = |value: &Value| Timestamp::parse(value.as_str().unwrap()).unwrap();
        let end = time(&shown["secrets"][0]["created_at"]).after(Duration::from_secs(overlap));
        assert_eq!(time(&shown["secrets"][1]["expires_at"]), end, "{body:?}");
    }
    let former = registered(&admin.post(&rotations).await.expect(201));
    expect_authenticated(&world, &former).await;
    let at_once = json!({ "overlap": 0 });
    let current = registered(&admin.post(&rotations).json(&at_once).await.expect(201));
    expect_authenticated(&world, &current).await;
    expect_token_error_soon(&world, 401, "invalid_client", |issuer| {
        former.client_call(issuer, "/introspect", &[("token", "unknown")])
    })
    .await;
    for body in [
        json!({ "overlap": -1 }),
        json!({ "overlap": 2_592_001 }),
        json!({ "overlap": "1h" }),
    ] {
        let refused = admin.post(&rotations).json(&body).await;
        refused.expect_validation_errors(&["/overlap"]);
    }
    let public = format!("{}/secrets", path(&world.app().register()));
    admin.post(&public).await.expect_validation_errors(&[""]);
    expect_authenticated(&world, &current).await;
}

async fn changes_are_recorded_with_their_administrator(world: SharedWorld) {
    let (admin, app) = (world.user_with_role("admin").await, world.app().register());
    let token = app.tokens(&admin, "admin").await.access;
    for caller in [Caller::clone(&admin), world.anyone().bearer(&token)] {
        let id = foundation::random::uuid();
        let client = format!("{LIST}/{id}");
        let body = json!({ "id": id, "name": "A job", "type": "service", "scope": "posts:read" });
        caller.post(LIST).json(&body).await.expect(201);
        let name = json!({ "name": "Another" });
        caller.patch(&client).json(&name).await.expect(200);
        caller.post(&format!("{client}/secrets")).await.expect(201);
        caller.post(&format!("{client}/disablements")).await.expect(200);
        caller.post(&format!("{client}/enablements")).await.expect(200);
        let query =
            "SELECT name, administrator_id, address FROM security_events WHERE client_id = $1 ORDER BY id";
        type Event = (String, Option<i64>, Option<String>);
        let events = fetch_all!(world.db().await.reader(), Event, query, id.as_str()).unwrap();
        let by_admin = |name: &str| {
            (
                format!("client_{name}"),
                Some(admin.id),
                Some(admin.address().to_string()),
            )
        };
        let names = ["created", "updated", "secret_rotated", "disabled", "enabled"];
        assert_eq!(events, names.map(by_admin));
    }
}

async fn unknown_clients_are_not_found(world: SharedWorld) {
    let admin = world.user_with_role("admin").await;
    for id in ["no-such-app", "%00", "%FF", "a%20b", &"a".repeat(300)] {
        let client = format!("{LIST}/{id}");
        admin.get(&client).await.expect_error(404, "not_found");
        // Even with a body that is not valid.
        let change = admin.patch(&client).json(&json!([])).await;
        change.expect_error(404, "not_found");
        let rotation = admin.post(&format!("{client}/secrets")).json(&json!([])).await;
        rotation.expect_error(404, "not_found");
        for change in ["disablements", "enablements"] {
            let reply = admin.post(&format!("{client}/{change}")).await;
            reply.expect_error(404, "not_found");
        }
    }
}

on_every_shape!(
    changes_take_effect_in_every_process,
    disabling_ends_the_tokens_in_every_process,
    a_new_secret_is_shown_once_and_the_former_one_ends,
    changes_are_recorded_with_their_administrator,
    unknown_clients_are_not_found,
);
