//! The keys that apps publish at their `jwks_uri`.

use super::super::{SECOND, at_each_issuer, clients};
use super::{HOUR, Key, MINUTE, claims, jwks_file, register, request};
use serde_json::{Value, json};
use std::time::Duration;
use tests::{
    App, Caller, Reply, Shape, SharedWorld, StubServer, World, on_every_shape, run_concurrently,
    status_counts,
};

/// The time for which a set is fresh.
const FRESHNESS: Duration = Duration::from_secs(300);
/// The least time between two fetches because of assertions that no key verifies.
const COOLDOWN: Duration = Duration::from_secs(30);

/// Publishes these keys at every URL of the server.
pub(super) fn publish(server: &StubServer, keys: &[&Key]) {
    let keys: Vec<Value> = keys.iter().map(|key| key.jwk()).collect();
    server.answer(200, &json!({ "keys": keys }).to_string());
}

/// Starts the server of an app that publishes these keys, and registers the app.
pub(super) async fn app_with_server(world: &World, keys: &[&Key]) -> (App, StubServer) {
    let server = StubServer::start().await;
    publish(&server, keys);
    let uri = format!("{}/jwks.json", server.url);
    let app = world
        .app()
        .kind("service")
        .scope("posts:read")
        .jwks_uri(&uri)
        .register();
    assert_eq!(app.secret, None);
    (app, server)
}

/// Requests a token with a new assertion, which this key signs.
pub(super) async fn sign_in(world: &World, at: &Caller, app: &App, key: &Key) -> Reply {
    request(at, &key.assertion(&claims(world, app))).await
}

async fn published_keys_are_fetched_once_for_each_issuer(world: SharedWorld) {
    let (rsa, ec) = (Key::rsa("rsa"), Key::ec());
    let (app, server) = app_with_server(&world, &[&rsa, &ec]).await;
    let shown = clients(&world, "show", &app, &[]);
    assert_eq!(shown["jwks_uri"], format!("{}/jwks.json", server.url));
    assert_eq!(shown.get("jwks"), None);
    let issuers = at_each_issuer(&world);
    for (n, issuer) in (1..).zip(&issuers) {
        let assertions: Vec<String> = (0..10).map(|_| rsa.assertion(&claims(&world, &app))).collect();
        let replies = run_concurrently(10, |n| request(issuer, &assertions[n]).into_future()).await;
        assert_eq!(status_counts(&replies), [(200, 10)].into());
        let reply = sign_in(&world, issuer, &app, &ec).await.expect(200);
        world
            .expect_accepted(reply.json()["access_token"].as_str().unwrap())
            .await;
        assert_eq!(server.received().len(), n);
    }
    let accept = server.received()[0].headers["accept"].clone();
    assert_eq!(accept, "application/json, application/jwk-set+json");
    // An assertion works once, whichever issuer gets it.
    let assertion = rsa.assertion(&claims(&world, &app));
    let at = |n: usize| &issuers[n % issuers.len()];
    let replies = run_concurrently(20, |n| request(at(n), &assertion).into_future()).await;
    assert_eq!(status_counts(&replies), [(200, 1), (401, 19)].into());
}

async fn a_new_key_of_the_app_is_used_at_once(world: SharedWorld) {
    let (former, current) = (Key::rsa("former"), Key::rsa("current"));
    let (app, server) = app_with_server(&world, &[&former]).await;
    for issuer in at_each_issuer(&world) {
        publish(&server, &[&former]);
        sign_in(&world, &issuer, &app, &former).await.expect(200);
        publish(&server, &[&current]);
        sign_in(&world, &issuer, &app, &current).await.expect(200);
        sign_in(&world, &issuer, &app, &former)
            .await
            .expect_token_error(401, "invalid_client");
    }
}

async fn forged_assertions_cause_one_fetch_in_thirty_seconds(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (key, stranger) = (Key::rsa("rsa"), Key::rsa("unknown"));
    let (app, server) = app_with_server(&world, &[&key]).await;
    let issuer = &at_each_issuer(&world)[0];
    sign_in(&world, issuer, &app, &key).await.expect(200);
    for fetches in 2..5 {
        let assertions: Vec<String> = (0..10)
            .map(|_| stranger.assertion(&claims(&world, &app)))
            .collect();
        let replies = run_concurrently(10, |n| request(issuer, &assertions[n]).into_future()).await;
        assert_eq!(status_counts(&replies), [(401, 10)].into());
        sign_in(&world, issuer, &app, &stranger).await.expect(401);
        assert_eq!(server.received().len(), fetches);
        world.advance(COOLDOWN);
    }
    // Nothing is fetched for a client that is unknown, or for an assertion that is invalid whatever its key
    // is.
    for (name, value) in [("aud", "https://other.test"), ("sub", "another")] {
        let mut claims = claims(&world, &app);
        claims[name] = json!(value);
        request(issuer, &stranger.assertion(&claims)).await.expect(401);
    }
    let other_algorithm = stranger.sign(&json!({ "alg": "RS512" }), &claims(&world, &app));
    request(issuer, &other_algorithm).await.expect(401);
    assert_eq!(server.received().len(), 4);
    sign_in(&world, issuer, &app, &key).await.expect(200);
}

async fn keys_stay_in_use_for_an_hour_while_the_server_of_the_app_fails(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let key = Key::rsa("rsa");
    let (app, server) = app_with_server(&world, &[&key]).await;
    let issuer = &at_each_issuer(&world)[0];
    sign_in(&world, issuer, &app, &key).await.expect(200);
    server.answer(503, "");
    for (pause, fetches) in [
        (FRESHNESS - SECOND, 1),
        (SECOND, 2),
        (COOLDOWN - SECOND, 2),
        (SECOND, 3),
        (HOUR - COOLDOWN - SECOND, 4),
    ] {
        world.advance(pause);
        sign_in(&world, issuer, &app, &key).await.expect(200);
        assert_eq!(server.received().len(), fetches, "{pause:?}");
    }
    world.advance(SECOND);
    let refused = sign_in(&world, issuer, &app, &key).await;
    let refused = refused.expect_token_error(401, "invalid_client").json();
    let description = refused["error_description"].as_str().unwrap();
    assert!(description.contains("another status than 200"), "{description}");
    let log = world.log();
    let logged = |line: &&str| line.contains("cannot fetch the keys of a client") && line.contains("503");
    let line = log.lines().rfind(logged).unwrap_or_else(|| panic!("{log}"));
    assert!(line.contains(&app.id), "{line}");
    publish(&server, &[&key]);
    world.advance(MINUTE);
    sign_in(&world, issuer, &app, &key).await.expect(200);
}

async fn keys_move_from_a_file_to_a_url_and_back(world: SharedWorld) {
    let (former, current) = (Key::rsa("former"), Key::rsa("current"));
    let server = StubServer::start().await;
    publish(&server, &[&current]);
    let app = register(&world, &[&former]);
    let updated = clients(&world, "update", &app, &["--jwks-uri", &server.url]);
    assert_eq!(updated["jwks_uri"], format!("{}/", server.url));
    assert_eq!(updated.get("jwks"), None);
    sign_in(&world, &world.anyone(), &app, &current).await.expect(200);
    let file = jwks_file(&world, &json!({ "keys": [former.jwk()] }));
    let updated = clients(&world, "update", &app, &["--jwks", &file]);
    assert_eq!(updated["jwks"], json!({ "keys": [former.jwk()] }));
    assert_eq!(updated.get("jwks_uri"), None);
    let other = clients(&world, "update", &app, &["--name", "Another name"]);
    assert_eq!(other["jwks"], updated["jwks"]);
    let refused = world.run(&["clients", "rotate-secret", &app.id], "");
    assert_eq!(refused.status.code(), Some(64), "{refused:?}");
}

on_every_shape!(
    published_keys_are_fetched_once_for_each_issuer,
    a_new_key_of_the_app_is_used_at_once,
    forged_assertions_cause_one_fetch_in_thirty_seconds,
    keys_stay_in_use_for_an_hour_while_the_server_of_the_app_fails,
    keys_move_from_a_file_to_a_url_and_back,
);
