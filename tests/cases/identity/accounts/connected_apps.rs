//! Connected apps: listing and disconnecting.

use serde_json::Value;
use storage::fetch_all;
use tests::{App, SharedWorld, Tokens, User, on_every_shape, run_concurrently};

async fn listed(user: &User) -> Vec<Value> {
    let list = user.get("/me/grants").await.expect(200).json();
    list["items"].as_array().unwrap().clone()
}

fn path(app: &App) -> String {
    format!("/me/grants/{}", app.id)
}

async fn connected_apps_are_listed_with_their_scopes(world: SharedWorld) {
    let (ann, app) = world.user_and_app().await;
    let bob = world.user().await;
    assert_eq!(listed(&ann).await, Vec::<Value>::new());
    let grant = app.authorize(&mut ann.browser(), &ann, "posts:read").await;
    let [connected] = listed(&ann).await.try_into().unwrap();
    assert_eq!(connected["id"], app.id.as_str());
    assert_eq!(connected["client_name"], "Some App");
    assert_eq!(connected["scope"], "posts:read");
    assert!(connected["granted_at"].is_string());
    assert!(connected["last_used_at"].is_null(), "{connected}");
    app.exchange(&world.anyone(), &grant).await.expect(200);
    app.tokens(&ann, "profile:read").await;
    let [connected] = listed(&ann).await.try_into().unwrap();
    assert_eq!(connected["scope"], "posts:read profile:read");
    assert!(connected["last_used_at"].is_string(), "{connected}");
    assert_eq!(listed(&bob).await, Vec::<Value>::new());
}

async fn disconnecting_an_app_revokes_its_tokens(world: SharedWorld) {
    let (ann, app) = world.user_and_app().await;
    let (bob, other) = (world.user().await, world.app().register());
    let (first, second) = (
        app.tokens(&ann, "posts:read").await,
        app.tokens(&ann, "profile:read").await,
    );
    let (of_bob, of_other) = (
        app.tokens(&bob, "posts:read").await,
        other.tokens(&ann, "posts:read").await,
    );
    bob.delete(&path(&other)).await.expect_error(404, "not_found");
    let done = ann.delete(&path(&app)).await.expect(204);
    first.expect_revoked(&world, &app).await;
    second.expect_revoked(&world, &app).await;
    for kept in [&of_bob, &of_other] {
        let api = world.anyone().bearer(&kept.access);
        api.get("/protected").await.expect(200);
    }
    ann.delete(&path(&app)).await.expect_error(404, "not_found");
    for missing in ["no-such-app", "%00", "a%00b", "%FF", "a%20b", &"a".repeat(300)] {
        let missing = ann.delete(&format!("/me/grants/{missing}")).await;
        missing.expect_error(404, "not_found");
    }
    assert_eq!(listed(&ann).await.len(), 1);
    let query = "SELECT name, client_id FROM security_events WHERE trace_id = $1 ORDER BY id";
    let db = world.db().await;
    let events = fetch_all!(
        db.reader(),
        (String, Option<String>),
        query,
        done.correlation_id()
    )
    .unwrap();
    let last = events.last().unwrap();
    assert_eq!(
        (last.0.as_str(), last.1.as_deref()),
        ("authz_consent_revoked", Some(app.id.as_str()))
    );
}

async fn codes_issued_before_disconnecting_are_rejected(world: SharedWorld) {
    let (ann, app) = (world.user().await, world.app().first_party().register());
    let anyone = world.anyone();
    let before = app.authorize(&mut ann.browser(), &ann, "posts:read").await;
    ann.delete(&path(&app)).await.expect(204);
    // The code stays invalid after new consent.
    let after = app.authorize(&mut ann.browser(), &ann, "posts:read").await;
    app.exchange(&anyone, &before)
        .await
        .expect_token_error(400, "invalid_grant");
    app.exchange(&anyone, &after).await.expect(200);
}

async fn disconnecting_an_app_requires_new_consent(world: SharedWorld) {
    let (ann, app) = (world.user().await, world.app().kind("web").register());
    app.tokens(&ann, "posts:read").await;
    let request = app.authorization().set("scope", "posts:read").path();
    let mut browser = ann.browser();
    let to = browser.open(&request).await.location().unwrap();
    let remembered = browser.open(to.as_str()).await;
    assert_eq!(remembered.reply.status, 303, "{}", remembered.reply);
    ann.delete(&path(&app)).await.expect(204);
    let to = browser.open(&request).await.location().unwrap();
    let page = browser.open(to.as_str()).await;
    assert!(page.asks_for("decision"), "{}", page.reply);
}

/// Exchanges and refreshes concurrent with disconnecting yield no lasting tokens.
async fn concurrent_exchanges_do_not_survive_disconnecting(world: SharedWorld) {
    let anyone = world.anyone();
    for _ in 0..5 {
        let (ann, app) = world.user_and_app().await;
        let tokens = app.tokens(&ann, "posts:read").await;
        let grant = app.authorize(&mut ann.browser(), &ann, "posts:read").await;
        let replies = run_concurrently(3, |n| match n {
            0 => ann.delete(&path(&app)).into_future(),
            1 => app.exchange(&anyone, &grant).into_future(),
            _ => app.refresh(&anyone, &tokens.refresh).into_future(),
        })
        .await;
        assert_eq!(replies[0].status, 204, "{}", replies[0]);
        for given in replies[1..].iter().filter(|reply| reply.status == 200) {
            Tokens::parse(given.clone()).expect_revoked(&world, &app).await;
        }
        let late = app.exchange(&anyone, &grant).await;
        late.expect_token_error(400, "invalid_grant");
    }
}

on_every_shape!(
    connected_apps_are_listed_with_their_scopes,
    disconnecting_an_app_revokes_its_tokens,
    codes_issued_before_disconnecting_are_rejected,
    disconnecting_an_app_requires_new_consent,
    concurrent_exchanges_do_not_survive_disconnecting,
);
