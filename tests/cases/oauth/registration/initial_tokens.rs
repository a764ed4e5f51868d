//! Initial access tokens (RFC 7591 §3), from the shell and over HTTP.

use super::{REGISTER, Registered, expect_metadata_error, register, spa};
use serde_json::{Value, json};
use std::time::Duration;
use storage::fetch_all;
use tests::{Caller, Shape, World, items, on_every_shape, run_concurrently, status_counts};

const TOKENS: &str = "/admin/registration-tokens";
const DAY: Duration = Duration::from_secs(24 * 3600);

async fn start(shape: Shape) -> World {
    let setup = World::builder(shape).flag("--client-registration", "token");
    setup.clock().start().await
}

fn tokens(world: &World, args: &[&str]) -> Value {
    world.cli(
        &[&["clients", "registration-tokens"], args, &["--json"]].concat(),
        "",
    )
}

fn create(world: &World, options: &[&str]) -> (String, Caller) {
    let made = tokens(world, &[&["create"], options].concat());
    let caller = world.anyone().bearer(made["token"].as_str().unwrap());
    (made["id"].as_str().unwrap().to_owned(), caller)
}

async fn registration_needs_a_valid_token(shape: Shape) {
    let world = start(shape).await;
    let anyone = world.anyone();
    let metadata = anyone.get("/.well-known/oauth-authorization-server").await;
    assert!(metadata.expect(200).json()["registration_endpoint"].is_string());
    // The token is checked before the body.
    let missing = anyone.post(REGISTER).json(&json!([])).await;
    let missing = missing.expect_error(401, "unauthenticated");
    assert_eq!(missing.header("www-authenticate"), "Bearer");
    let unknown = anyone
        .bearer("unknown")
        .post(REGISTER)
        .body("text/plain", "x")
        .await;
    let unknown = unknown.expect_error(401, "invalid_token");
    assert_eq!(
        unknown.header("www-authenticate"),
        r#"Bearer error="invalid_token""#
    );
    let (id, holder) = create(&world, &[]);
    let token = holder
        .headers()
        .next()
        .unwrap()
        .1
        .strip_prefix("Bearer ")
        .unwrap()
        .to_owned();
    let dpop = anyone.dpop(&token).post(REGISTER).json(&spa()).await;
    dpop.expect_error(401, "invalid_token");
    // A refused registration does not use the token up.
    expect_metadata_error(
        holder.post(REGISTER).json(&json!({})).await,
        "invalid_redirect_uri",
    );
    let client = register(&holder, &spa()).await;
    let again = holder.post(REGISTER).json(&spa()).await;
    again.expect_error(401, "invalid_token");
    let query = "SELECT detail FROM security_events WHERE client_id = $1 AND name = 'client_created'";
    let events = fetch_all!(
        world.db().await.reader(),
        (String,),
        query,
        client.app.id.as_str()
    )
    .unwrap();
    assert_eq!(events, [(format!("with the initial access token {id}"),)]);
    // Its holder may register a service.
    let (_, holder) = create(&world, &["--uses", "2"]);
    let service = json!({ "grant_types": ["client_credentials"], "client_name": "A job", "scope": "openid posts:read" });
    let service = register(&holder, &service).await;
    let body = service.reply.json();
    assert_eq!(
        (&body["grant_types"], &body["response_types"], &body["scope"]),
        (&json!(["client_credentials"]), &json!([]), &json!("posts:read"))
    );
    let tokens = service
        .app
        .token(&anyone, &[("grant_type", "client_credentials")])
        .await;
    let access = tokens.expect(200).json()["access_token"]
        .as_str()
        .unwrap()
        .to_owned();
    world.expect_accepted(&access).await;
    let shown = world.cli(&["clients", "show", &service.app.id, "--json"], "");
    assert!(shown.get("unused_until").is_none(), "{shown}");
    // The registration access token is another one.
    let manager = service.manager(&world);
    manager
        .post(REGISTER)
        .json(&spa())
        .await
        .expect_error(401, "invalid_token");
    world.advance(DAY);
    holder
        .post(REGISTER)
        .json(&spa())
        .await
        .expect_error(401, "invalid_token");
}

async fn each_use_counts_once(shape: Shape) {
    let world = start(shape).await;
    for round in 0..10 {
        let uses = round % 3 + 1;
        let (id, holder) = create(&world, &["--uses", &uses.to_string()]);
        let holders = world.at_each_issuer(&holder);
        let replies = run_concurrently(8, |n| {
            let call = holders[n % holders.len()].post(REGISTER).json(&spa());
            async move { call.await }
        })
        .await;
        assert_eq!(status_counts(&replies), [(201, uses), (401, 8 - uses)].into());
        let listed = tokens(&world, &["list"]);
        let listed = listed
            .as_array()
            .unwrap()
            .iter()
            .find(|token| token["id"] == id.as_str());
        assert_eq!(listed.unwrap()["uses_left"], 0);
    }
}

async fn administrators_manage_the_tokens(shape: Shape) {
    let world = start(shape).await;
    let admin = world.user_with_role("admin").await;
    let reply = admin
        .post(TOKENS)
        .json(&json!({ "uses": 3, "lifetime": 60 }))
        .await
        .expect(201);
    assert_eq!(reply.header("cache-control"), "no-store");
    let made = reply.json();
    assert_eq!(made["uses_left"], 3);
    let holder = world.anyone().bearer(made["token"].as_str().unwrap());
    Registered::parse(holder.post(REGISTER).json(&spa()).await);
    let by_default = admin.post(TOKENS).await.expect(201).json();
    assert_eq!(by_default["uses_left"], 1);
    let list = items(&admin.get(TOKENS).await.expect(200));
    assert_eq!(Value::from(list.clone()), tokens(&world, &["list"]));
    assert_eq!((&list[0]["id"], &list[0]["uses_left"]), (&made["id"], &json!(2)));
    assert_eq!(list[1]["id"], by_default["id"]);
    assert!(list.iter().all(|token| token.get("token").is_none()), "{list:?}");
    // A revoked token ends at once; its clients stay.
    let path = format!("{TOKENS}/{}", made["id"].as_str().unwrap());
    admin.delete(&path).await.expect(204);
    admin.delete(&path).await.expect_error(404, "not_found");
    holder
        .post(REGISTER)
        .json(&spa())
        .await
        .expect_error(401, "invalid_token");
    let revoked = tokens(&world, &["revoke", by_default["id"].as_str().unwrap()]);
    assert_eq!(revoked["id"], by_default["id"]);
    assert_eq!(items(&admin.get(TOKENS).await.expect(200)), Vec::<Value>::new());
    let unknown = world.run(&["clients", "registration-tokens", "revoke", "unknown"], "");
    assert!(!unknown.status.success());
    for (body, pointer) in [
        (json!({ "uses": 0 }), "/uses"),
        (json!({ "uses": 1_000_001 }), "/uses"),
        (json!({ "uses": "1" }), "/uses"),
        (json!({ "lifetime": 0 }), "/lifetime"),
        (json!({ "lifetime": 31_536_001 }), "/lifetime"),
        (json!({ "token": "of my own choice" }), "/token"),
    ] {
        admin
            .post(TOKENS)
            .json(&body)
            .await
            .expect_validation_errors(&[pointer]);
    }
    for option in [["--uses", "0"], ["--lifetime", "0"], ["--lifetime", "366d"]] {
        let args = [&["clients", "registration-tokens", "create"], option.as_slice()].concat();
        assert!(!world.run(&args, "").status.success(), "{option:?}");
    }
    let query = "SELECT name, administrator_id FROM security_events
                 WHERE name IN ('authn_token_created', 'authn_token_revoked') ORDER BY id";
    let events = fetch_all!(world.db().await.reader(), (String, Option<i64>), query).unwrap();
    let by = |name: &str, administrator| (format!("authn_token_{name}"), administrator);
    assert_eq!(
        events,
        [
            by("created", Some(admin.id)),
            by("created", Some(admin.id)),
            by("revoked", Some(admin.id)),
            by("revoked", None),
        ]
    );
}

async fn the_list_has_a_filter_and_an_order(shape: Shape) {
    let world = start(shape).await;
    let admin = world.user_with_role("admin").await;
    let (used_up, holder) = create(&world, &["--lifetime", "10m"]);
    let (usable, _) = create(&world, &["--lifetime", "20m"]);
    register(&holder, &spa()).await;
    let listed = async |query: &str| -> Vec<String> {
        let tokens = items(&admin.get(&format!("{TOKENS}{query}")).await.expect(200));
        let ids = tokens
            .iter()
            .map(|token| token["id"].as_str().unwrap().to_owned());
        ids.collect()
    };
    for (query, expected) in [
        ("?used_up=true", vec![&used_up]),
        ("?used_up=false", vec![&usable]),
        ("?order=desc", vec![&usable, &used_up]),
        ("", vec![&used_up, &usable]),
        // Invalid values are ignored.
        ("?used_up=yes", vec![&used_up, &usable]),
        ("?cursor=none", vec![&used_up, &usable]),
        ("?cursor=-1.none", vec![&used_up, &usable]),
    ] {
        assert_eq!(
            listed(query).await.iter().collect::<Vec<_>>(),
            expected,
            "{query}"
        );
    }
    world.advance(Duration::from_secs(600));
    assert_eq!(listed("").await, [usable]);
}

on_every_shape!(
    registration_needs_a_valid_token,
    each_use_counts_once,
    administrators_manage_the_tokens,
    the_list_has_a_filter_and_an_order,
);
