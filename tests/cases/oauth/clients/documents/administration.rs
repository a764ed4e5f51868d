//! Administrators see apps that describe themselves, and can disable them.

use super::{DescribedApp, consent_page, expect_refused, start};
use serde_json::json;
use tests::{Shape, eventually, items, on_every_shape};

async fn administrators_see_and_disable_apps_that_describe_themselves(shape: Shape) {
    let world = start(shape).await;
    let (user, admin) = (world.user().await, world.user_with_role("admin").await);
    let described = DescribedApp::start(json!({})).await;
    let app = &described.app;
    let tokens = app.tokens(&user, "posts:read").await;
    let shown = world.cli(&["clients", "show", &app.id, "--json"], "");
    assert_eq!(
        (&shown["origin"], &shown["type"]),
        (&json!("document"), &json!("spa"))
    );
    let path = format!("/admin/clients/{}", described.encoded_id());
    let read = admin.get(&path).await.expect(200).json();
    assert_eq!(
        (&read["id"], &read["origin"], &read["first_party"]),
        (&json!(app.id), &json!("document"), &json!(false))
    );
    let registered = world.app().register();
    let listed = world.cli(&["clients", "show", &registered.id, "--json"], "");
    assert_eq!(listed["origin"], "administrator");
    // The document is the only place to change it.
    let changed = admin.patch(&path).json(&json!({ "first_party": true })).await;
    changed.expect_validation_errors(&[""]);
    let updated = world.run(&["clients", "update", &app.id, "--first-party", "true"], "");
    let message = String::from_utf8_lossy(&updated.stderr);
    assert!(
        updated.status.code() == Some(64) && message.contains("document"),
        "{message}"
    );
    let consents = admin
        .get(&format!("/admin/consents?client_id={}", described.encoded_id()))
        .await
        .expect(200);
    assert_eq!(items(&consents)[0]["client_id"], app.id);

    admin.post(&format!("{path}/disablements")).await.expect(200);
    world.expect_revoked(&tokens.access).await;
    eventually("a disabled app refreshes", async || {
        app.refresh(&world.anyone(), &tokens.refresh).await.status == 401
    })
    .await;
    // A disabled app stays so, whatever its document says.
    let fetches = described.fetches();
    expect_refused(&user, app, "disabled").await;
    assert_eq!(described.fetches(), fetches);
    world.cli(&["clients", "enable", &app.id, "--json"], "");
    consent_page(&user, app).await;
}

/// The ids of apps are the cursors of the list.
async fn the_list_of_clients_has_pages_with_urls(shape: Shape) {
    let world = start(shape).await;
    let (user, admin) = (world.user().await, world.user_with_role("admin").await);
    let described = DescribedApp::start(json!({})).await;
    let mut expected = Vec::new();
    for n in 0..22 {
        let id = format!("{}/{n}/{}", described.server.url, "a".repeat(1_000));
        let document = super::document(&id, json!({})).to_string();
        described.server.answer(200, &document);
        consent_page(&user, &super::app_at(&id)).await;
        expected.push(id);
    }
    expected.sort_unstable();
    let mut found = Vec::new();
    let mut path = "/admin/clients?type=spa".to_owned();
    loop {
        let page = admin.get(&path).await.expect(200);
        found.extend(
            items(&page)
                .iter()
                .map(|client| client["id"].as_str().unwrap().to_owned()),
        );
        match page.json()["links"]["next"].as_str() {
            Some(next) => path = next.to_owned(),
            None => break,
        }
    }
    found.retain(|id| id.starts_with("http"));
    assert_eq!(found, expected);
}

on_every_shape!(
    administrators_see_and_disable_apps_that_describe_themselves,
    the_list_of_clients_has_pages_with_urls,
);
