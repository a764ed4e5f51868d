//! `clients update`.

use super::clients;
use serde_json::json;
use storage::fetch_all;
use tests::{App, SharedWorld, Tokens, World, eventually, on_every_shape};

async fn an_update_changes_what_it_names_and_nothing_else(world: SharedWorld) {
    let app = world.app().scope("posts:read posts:write").register();
    let mut expected = clients(&world, "show", &app, &[]);
    let mut changes = Vec::new();
    for (options, member, value) in [
        (["--name", "Another Name"], "name", json!("Another Name")),
        (["--first-party", "true"], "first_party", json!(true)),
        (
            ["--scope", "posts:read posts:write profile:read"],
            "scope",
            json!("posts:read posts:write profile:read"),
        ),
        (
            ["--default-scope", "posts:write"],
            "default_scope",
            json!("posts:write"),
        ),
        (
            ["--redirect-uri", "https://new.test/cb"],
            "redirect_uris",
            json!(["https://new.test/cb"]),
        ),
    ] {
        changes.push((format!("{member}: {} → {value}", expected[member]),));
        expected[member] = value;
        assert_eq!(clients(&world, "update", &app, &options), expected, "{options:?}");
    }
    assert_eq!(clients(&world, "show", &app, &[]), expected);
    let query =
        "SELECT detail FROM security_events WHERE client_id = $1 AND name = 'client_updated' ORDER BY id";
    let events = fetch_all!(world.db().await.reader(), (String,), query, app.id.as_str()).unwrap();
    assert_eq!(events, changes);
}

async fn a_changed_redirect_uri_replaces_the_former_one(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    clients(&world, "update", &app, &["--redirect-uri", "https://new.test/cb"]);
    let request = app.authorization().path();
    eventually("the former redirect URI is accepted", async || {
        world.browser().open(&request).await.reply.status == 400
    })
    .await;
    let moved = App {
        redirect_uri: "https://new.test/cb".to_owned(),
        ..app
    };
    moved.tokens(&user, "posts:read").await;
}

async fn a_smaller_scope_ends_the_tokens_of_the_client(world: SharedWorld) {
    let user = world.user().await;
    let app = world.app().scope("posts:read posts:write").register();
    let anyone = world.anyone();
    let first = app.tokens(&user, "posts:read posts:write").await;
    let grant = app
        .authorize(&mut user.browser(), &user, "posts:read posts:write")
        .await;
    // A larger scope, and any other change, ends nothing.
    clients(
        &world,
        "update",
        &app,
        &["--scope", "posts:read posts:write profile:read"],
    );
    clients(&world, "update", &app, &["--name", "Another Name"]);
    let second = Tokens::parse(app.refresh(&anyone, &first.refresh).await);
    world.expect_accepted(&first.access).await;
    let updated = clients(&world, "update", &app, &["--scope", "posts:read profile:read"]);
    assert_eq!(updated["default_scope"], "posts:read");
    for access_token in [&first.access, &second.access] {
        world.expect_revoked_soon(access_token).await;
    }
    app.refresh(&anyone, &second.refresh)
        .await
        .expect_token_error(400, "invalid_grant");
    app.exchange(&anyone, &grant)
        .await
        .expect_token_error(400, "invalid_grant");
    expect_scope_refused_soon(&world, &app).await;
    app.tokens(&user, "posts:read").await;
}

/// Expects that a request for `posts:write` is refused.
async fn expect_scope_refused_soon(world: &World, app: &App) {
    let request = app.authorization().set("scope", "posts:write");
    let location = async || world.browser().open(&request.path()).await.location().unwrap();
    eventually("the former scope is accepted", async || {
        location().await.as_str().starts_with(&app.redirect_uri)
    })
    .await;
    request.expect_error_response(world, &location().await, "invalid_scope");
}

/// An origin of a single-page app may read responses of the API while the app is enabled.
async fn a_disabled_app_has_no_origin(world: SharedWorld) {
    let origin = format!("https://{}.test", foundation::random::uuid());
    let app = world.app().redirect_uri(&format!("{origin}/cb")).register();
    for (command, expected) in [("show", true), ("disable", false), ("enable", true)] {
        clients(&world, command, &app, &[]);
        for api in world.at_each_api(&world.anyone()) {
            eventually(command, async || {
                let reply = api.get("/posts").header("origin", &origin).await;
                reply.has("access-control-allow-origin") == expected
            })
            .await;
        }
    }
}

async fn invalid_updates_are_refused_without_effect(world: SharedWorld) {
    let user = world.user().await;
    let app = world.app().kind("web").scope("posts:read").register();
    let tokens = app.tokens(&user, "posts:read").await;
    // The issuer writes the use of the secret after its response.
    eventually("the use of the secret", async || {
        clients(&world, "show", &app, &[])["secrets"][0]["last_used_at"].is_string()
    })
    .await;
    let before = clients(&world, "show", &app, &[]);
    for (options, reason) in [
        (["--name", " "].as_slice(), "the name must have"),
        (&["--scope", ""], "at least one scope"),
        (&["--scope", "everything"], "unknown scope"),
        (&["--default-scope", "posts:write"], "part of the scope"),
        (&["--redirect-uri", "http://app.test/cb"], "redirect URI"),
        (&["--first-party", "perhaps"], "perhaps"),
        (&[], "required arguments were not provided"),
    ] {
        let refused = world.run(&[&["clients", "update", &app.id], options].concat(), "");
        assert_eq!(refused.status.code(), Some(64), "{options:?}: {refused:?}");
        let message = String::from_utf8(refused.stderr).unwrap();
        assert!(message.contains(reason), "{options:?}: {message}");
    }
    let unknown = world.run(&["clients", "update", "no-such-app", "--name", "A"], "");
    assert_eq!(unknown.status.code(), Some(1), "{unknown:?}");
    assert_eq!(clients(&world, "show", &app, &[]), before);
    app.refresh(&world.anyone(), &tokens.refresh).await.expect(200);
}

on_every_shape!(
    an_update_changes_what_it_names_and_nothing_else,
    a_changed_redirect_uri_replaces_the_former_one,
    a_smaller_scope_ends_the_tokens_of_the_client,
    a_disabled_app_has_no_origin,
    invalid_updates_are_refused_without_effect,
);
