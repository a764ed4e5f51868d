//! The management of a registration by its client (RFC 7592).

use super::super::consent::follow;
use super::{REGISTER, Registered, SECOND, expect_metadata_error, expect_unknown, open, register, spa, web};
use serde_json::{Value, json};
use std::time::Instant;
use storage::fetch_all;
use tests::{
    App, Browser, Call, Caller, Page, Shape, items, on_every_shape, parameter, run_concurrently,
    status_counts,
};

/// The change that keeps the registration as it is.
fn unchanged(client: &Registered) -> Value {
    client.reply.json()
}

fn put(manager: &Caller, client: &Registered, metadata: &Value) -> Call {
    manager.call("PUT", &client.path()).json(metadata)
}

async fn a_client_reads_and_changes_its_registration(shape: Shape) {
    let world = open(shape).await;
    let client = register(&world.anyone(), &web()).await;
    let manager = client.manager(&world);
    let read = manager.get(&client.path()).await.expect(200);
    assert_eq!(read.header("cache-control"), "no-store");
    // Only the hash of the secret is stored.
    let mut expected = client.reply.json();
    let members = expected.as_object_mut().unwrap();
    let secret = members.remove("client_secret").unwrap();
    members.remove("client_secret_expires_at").unwrap();
    assert_eq!(read.json(), expected);
    // The response to a change repeats a secret that the change has.
    assert_eq!(
        put(&manager, &client, &unchanged(&client))
            .await
            .expect(200)
            .json(),
        client.reply.json()
    );
    // A member that is left out gets its default.
    let smaller = json!({ "client_id": client.app.id, "client_name": "Another name", "scope": "posts:read admin",
                          "redirect_uris": ["https://other.test/cb"], "token_endpoint_auth_method": "client_secret_post" });
    let changed = put(&manager, &client, &smaller).await.expect(200);
    for (member, value) in [
        ("client_name", "Another name"),
        ("scope", "posts:read"),
        ("token_endpoint_auth_method", "client_secret_post"),
    ] {
        expected[member] = json!(value);
    }
    expected["redirect_uris"] = smaller["redirect_uris"].clone();
    assert_eq!(changed.json(), expected);
    assert_eq!(manager.get(&client.path()).await.expect(200).json(), expected);
    // The secret stays.
    let app = App {
        redirect_uri: "https://other.test/cb".to_owned(),
        secret: secret.as_str().map(str::to_owned),
        ..client.app.clone()
    };
    app.tokens(&world.user().await, "posts:read").await;
    // The changes of a minute are counted in one event of each replica.
    let query = "SELECT DISTINCT name FROM security_events WHERE client_id = $1 AND name LIKE 'client%' ORDER BY name";
    let events = fetch_all!(world.db().await.reader(), (String,), query, app.id.as_str()).unwrap();
    let names: Vec<&str> = events.iter().map(|(name,)| name.as_str()).collect();
    assert_eq!(names, ["client_created", "client_updated"]);
    let admin = world.user_with_role("admin").await;
    let page = admin.browser().open(&format!("/admin/clients/{}", app.id)).await;
    assert!(
        page.visible_text().contains("ago · by the app · "),
        "{}",
        page.reply
    );
}

async fn changes_that_break_a_rule_are_refused(shape: Shape) {
    let world = open(shape).await;
    let client = register(&world.anyone(), &web()).await;
    let public = register(&world.anyone(), &spa()).await;
    let (manager, before) = (client.manager(&world), unchanged(&client));
    for (member, value, error) in [
        ("client_id", json!(null), "invalid_client_metadata"),
        ("client_id", json!(public.app.id), "invalid_client_metadata"),
        (
            "client_secret",
            json!("another secret"),
            "invalid_client_metadata",
        ),
        ("redirect_uris", json!([]), "invalid_redirect_uri"),
        (
            "redirect_uris",
            json!(["http://app.test/cb"]),
            "invalid_redirect_uri",
        ),
        ("scope", json!("admin"), "invalid_client_metadata"),
        ("application_type", json!("mobile"), "invalid_client_metadata"),
        // The type of a client and the kind of its credentials stay.
        (
            "token_endpoint_auth_method",
            json!("none"),
            "invalid_client_metadata",
        ),
        (
            "grant_types",
            json!(["client_credentials"]),
            "invalid_client_metadata",
        ),
    ] {
        let mut body = before.clone();
        body[member] = value;
        let reply = put(&manager, &client, &body).await;
        assert_eq!(reply.status, 400, "{member}: {reply}");
        expect_metadata_error(reply, error);
    }
    let keyed = json!({ "client_id": client.app.id, "redirect_uris": ["https://site.test/cb"],
                        "token_endpoint_auth_method": "private_key_jwt", "jwks": { "keys": [tests::Signer::unknown("k").jwk()] } });
    expect_metadata_error(put(&manager, &client, &keyed).await, "invalid_client_metadata");
    let secret = put(&public.manager(&world), &public, &{
        let mut body = unchanged(&public);
        body["token_endpoint_auth_method"] = json!("client_secret_basic");
        body
    });
    expect_metadata_error(secret.await, "invalid_client_metadata");
    let form = manager
        .call("PUT", &client.path())
        .form(&[("client_name", "A form")])
        .await;
    form.expect_error(415, "unsupported_media_type");
    let mut known = before;
    known
        .as_object_mut()
        .unwrap()
        .retain(|name, _| !name.starts_with("client_secret"));
    assert_eq!(manager.get(&client.path()).await.expect(200).json(), known);
}

async fn only_the_client_manages_its_registration(shape: Shape) {
    let world = open(shape).await;
    let (user, admin) = (world.user().await, world.user_with_role("admin").await);
    let (client, other) = (
        register(&world.anyone(), &web()).await,
        register(&world.anyone(), &web()).await,
    );
    let by_administrator = world.app().kind("web").register();
    let access = client.app.tokens(&user, "posts:read").await.access;
    let initial = world.cli(&["clients", "registration-tokens", "create", "--json"], "");
    let (missing, of_administrator) = (
        format!("{REGISTER}/missing"),
        format!("{REGISTER}/{}", by_administrator.id),
    );
    let mut refusals = Vec::new();
    for (token, path) in [
        (&other.access_token, &client.path()),
        (&access, &client.path()),
        (&client.app.secret.clone().unwrap(), &client.path()),
        (&initial["token"].as_str().unwrap().to_owned(), &client.path()),
        (&String::new(), &client.path()),
        (&client.access_token, &missing),
        (&client.access_token, &of_administrator),
        (&client.access_token, &format!("{REGISTER}/%00")),
    ] {
        let caller = world.anyone().bearer(token);
        for method in ["GET", "PUT", "DELETE"] {
            let call = caller.call(method, path).json(&unchanged(&client));
            let reply = call.await.expect_error(401, "invalid_token");
            refusals.push(reply.comparable_parts());
        }
    }
    refusals.dedup();
    assert_eq!(refusals.len(), 1, "refusals tell clients apart: {refusals:?}");
    for caller in [world.anyone(), Caller::clone(&admin)] {
        caller
            .get(&client.path())
            .await
            .expect_error(401, "unauthenticated");
    }
    // A disabled client is not managed.
    let manager = client.manager(&world);
    world.cli(&["clients", "disable", &client.app.id, "--json"], "");
    for method in ["GET", "PUT", "DELETE"] {
        let call = manager.call(method, &client.path()).json(&unchanged(&client));
        call.await.expect_error(403, "forbidden");
    }
    world.cli(&["clients", "enable", &client.app.id, "--json"], "");
    manager.get(&client.path()).await.expect(200);
}

/// Opens the authorization request and returns the page that follows, which asks for consent or not.
async fn next_page(browser: &mut Browser, app: &App) -> Page {
    follow(browser, &app.authorization().set("scope", "posts:read").path()).await
}

async fn users_consent_anew_to_a_changed_client(shape: Shape) {
    let world = open(shape).await;
    let (user, client) = (world.user().await, register(&world.anyone(), &web()).await);
    let (manager, mut browser) = (client.manager(&world), user.browser());
    let mut app = client.app.clone();
    let mut body = unchanged(&client);
    app.authorize(&mut browser, &user, "posts:read posts:write").await;
    for (member, value, asks) in [
        (
            "post_logout_redirect_uris",
            json!(["https://site.test/bye"]),
            false,
        ),
        ("client_name", json!("Another name"), true),
        ("redirect_uris", json!(["https://other.test/cb"]), true),
    ] {
        world.advance(SECOND);
        body[member] = value;
        put(&manager, &client, &body).await.expect(200);
        app.redirect_uri = body["redirect_uris"][0].as_str().unwrap().to_owned();
        let began = Instant::now();
        // Every process knows the change within a second. They take turns, and a page takes two requests: the
        // third one lets another process give the next page.
        let mut agreed = 0;
        let page = loop {
            let page = next_page(&mut browser, &app).await;
            let is_known = page.asks_for("decision") == asks && page.reply.status < 400;
            agreed = if is_known { agreed + 1 } else { 0 };
            if agreed == 2 || began.elapsed() > 2 * SECOND {
                break page;
            }
            world.anyone().get("/livez").await.expect(200);
        };
        assert_eq!(page.asks_for("decision"), asks, "{member}: {}", page.reply);
        if asks {
            assert!(!page.visible_text().contains("before"), "{}", page.reply);
            world.advance(SECOND);
            let page = browser.submit(&page, &[("decision", "allow")]).await;
            assert!(
                parameter(&page.location().unwrap(), "code").is_some(),
                "{}",
                page.reply
            );
            // The former consent to more does not come back.
            let request = app.authorization().set("scope", "posts:write");
            let page = follow(&mut browser, &request.path()).await;
            assert!(page.asks_for("decision"), "{member}: {}", page.reply);
        }
    }
}

async fn a_smaller_scope_ends_the_tokens(shape: Shape) {
    let world = open(shape).await;
    let (user, client) = (world.user().await, register(&world.anyone(), &spa()).await);
    let tokens = client.app.tokens(&user, "posts:read posts:write").await;
    let mut body = unchanged(&client);
    body["scope"] = json!("posts:read");
    put(&client.manager(&world), &client, &body).await.expect(200);
    world.expect_revoked_soon(&tokens.access).await;
    let refused = client.app.refresh(&world.anyone(), &tokens.refresh).await;
    refused.expect_token_error(400, "invalid_grant");
    client.app.tokens(&user, "posts:read").await;
}

async fn a_deleted_client_ends_with_its_tokens_codes_and_consents(shape: Shape) {
    let world = open(shape).await;
    let user = world.user().await;
    for metadata in [spa(), web()] {
        let client = register(&world.anyone(), &metadata).await;
        let (app, manager) = (&client.app, client.manager(&world));
        let tokens = app.tokens(&user, "posts:read").await;
        let grant = app.authorize(&mut user.browser(), &user, "posts:read").await;
        let refused_use = app.exchange(&world.anyone(), &grant);
        manager.delete(&client.path()).await.expect(204);
        world.expect_revoked_soon(&tokens.access).await;
        expect_unknown(&world, &client, &user).await;
        refused_use.await.expect_token_error(401, "invalid_client");
        for issuer in world.at_each_issuer(&world.anyone()) {
            let refused = app.refresh(&issuer, &tokens.refresh).await;
            refused.expect_token_error(401, "invalid_client");
        }
        assert_eq!(
            items(&user.get("/me/grants").await.expect(200)),
            Vec::<Value>::new()
        );
        manager
            .get(&client.path())
            .await
            .expect_error(401, "invalid_token");
        let shown = world.run(&["clients", "show", &app.id], "");
        assert!(!shown.status.success());
        let query = "SELECT name, detail FROM security_events WHERE client_id = $1
                     AND name IN ('client_deleted', 'authn_token_revoked') ORDER BY id";
        let events = fetch_all!(
            world.db().await.reader(),
            (String, Option<String>),
            query,
            app.id.as_str()
        )
        .unwrap();
        assert_eq!(
            events,
            [
                ("authn_token_revoked".to_owned(), Some("all grants".to_owned())),
                ("client_deleted".to_owned(), None),
            ]
        );
    }
}

/// A consent that is under way does not bring a deleted client back, and one deletion wins.
async fn deletions_race_with_codes_and_with_each_other(shape: Shape) {
    let world = open(shape).await;
    let user = world.user().await;
    for _ in 0..8 {
        let client = register(&world.anyone(), &spa()).await;
        let mut browser = user.browser();
        let page = next_page(&mut browser, &client.app).await;
        let managers = world.at_each_issuer(&client.manager(&world));
        let (submit, path) = (
            browser.submit_call(&page, &[("decision", "allow")]),
            client.path(),
        );
        let submit = std::sync::Mutex::new(Some(submit));
        let replies = run_concurrently(4, |n| {
            let call = match n {
                0 => submit.lock().unwrap().take().unwrap(),
                _ => managers[n % managers.len()].delete(&path),
            };
            async move { call.may_fail().await }
        })
        .await;
        assert_eq!(status_counts(&replies[1..]), [(204, 1), (401, 2)].into());
        assert_eq!(
            items(&user.get("/me/grants").await.expect(200)),
            Vec::<Value>::new()
        );
    }
}

on_every_shape!(
    a_client_reads_and_changes_its_registration,
    changes_that_break_a_rule_are_refused,
    only_the_client_manages_its_registration,
    users_consent_anew_to_a_changed_client,
    a_smaller_scope_ends_the_tokens,
    a_deleted_client_ends_with_its_tokens_codes_and_consents,
    deletions_race_with_codes_and_with_each_other,
);
