//! The consents of all users.

use super::expect_event;
use serde_json::{Value, json};
use tests::{SharedWorld, User, World, items, on_every_shape};

const CONSENTS: &str = "/admin/consents";

async fn list(admin: &User, query: &str) -> Vec<Value> {
    items(&admin.get(&format!("{CONSENTS}{query}")).await.expect(200))
}

/// Adds up the pages from this query on by their links.
async fn all_pages(admin: &User, query: &str) -> Vec<Value> {
    let (mut all, mut next) = (Vec::new(), format!("{CONSENTS}{query}"));
    loop {
        let page = admin.get(&next).await.expect(200);
        all.extend(items(&page));
        match page.json()["links"]["next"].as_str() {
            Some(link) => next = link.to_owned(),
            None => return all,
        }
        assert_eq!(items(&page).len(), 20);
    }
}

async fn consents_are_listed_by_user_and_app(world: World) {
    let admin = world.user_with_role("admin").await;
    let (ann, bob, shared) = (world.user().await, world.user().await, world.app().register());
    shared.tokens(&bob, "posts:read").await;
    shared.tokens(&ann, "posts:read").await;
    for _ in 0..20 {
        let app = world.app().register();
        app.authorize(&mut ann.browser(), &ann, "profile:read").await;
    }
    let all = all_pages(&admin, "").await;
    let position = |consent: &Value| (consent["user_id"].as_i64(), consent["client_id"].to_string());
    assert!(all.is_sorted_by_key(position), "{all:?}");
    assert_eq!(all.len(), 22);
    let (of_ann, of_bob) = all.split_at(21);
    assert_eq!(all_pages(&admin, &format!("?user_id={}", ann.id)).await, of_ann);
    // The fields are those that the user sees, with the app's id as `client_id`.
    let mut own = items(&ann.get("/me/grants").await.expect(200));
    for (own, listed) in own.iter_mut().zip(of_ann) {
        own["client_id"] = own["id"].take();
        own["user_id"] = json!(ann.id);
        own["id"] = listed["id"].clone();
    }
    assert_eq!(own, of_ann);
    let of_shared = list(&admin, &format!("?client_id={}", shared.id)).await;
    let users: Vec<&Value> = of_shared.iter().map(|consent| &consent["user_id"]).collect();
    assert_eq!(users, [&json!(ann.id), &json!(bob.id)]);
    let both = format!("?client_id={}&user_id={}", shared.id, bob.id);
    assert_eq!(list(&admin, &both).await, of_bob);
    for ignored in [
        "?user_id=x",
        "?client_id=%00",
        "?cursor=1",
        "?cursor=x.app",
        "?unknown=1",
    ] {
        assert_eq!(list(&admin, ignored).await, all[..20], "{ignored}");
    }
    assert!(list(&admin, "?client_id=nobody").await.is_empty());
}

async fn revoking_a_consent_revokes_its_tokens(world: SharedWorld) {
    let admin = world.user_with_role("admin").await;
    let ((ann, app), bob) = (world.user_and_app().await, world.user().await);
    let other = world.app().register();
    let tokens = app.tokens(&ann, "posts:read").await;
    let code = app.authorize(&mut ann.browser(), &ann, "posts:read").await;
    let (of_bob, of_other) = (
        app.tokens(&bob, "posts:read").await,
        other.tokens(&ann, "posts:read").await,
    );
    let query = format!("?user_id={}&client_id={}", ann.id, app.id);
    let [consent] = list(&admin, &query).await.try_into().unwrap();
    let path = format!("{CONSENTS}/{}", consent["id"].as_str().unwrap());
    let revoked = admin.delete(&path).await.expect(204);
    world.expect_revoked_soon(&tokens.access).await;
    tokens.expect_revoked(&world, &app).await;
    let exchanged = app.exchange(&world.anyone(), &code).await;
    exchanged.expect_token_error(400, "invalid_grant");
    expect_event(
        &world,
        &revoked,
        "authz_consent_revoked",
        ann.id,
        Some(&app.id),
        &admin,
    )
    .await;
    for kept in [&of_bob, &of_other] {
        world.expect_accepted(&kept.access).await;
    }
    assert!(list(&admin, &query).await.is_empty());
    ann.get("/me").await.expect(200);
    for missing in [&path, "/admin/consents/none", "/admin/consents/%00"] {
        admin.delete(missing).await.expect_error(404, "not_found");
    }
}

on_every_shape!(
    consents_are_listed_by_user_and_app,
    revoking_a_consent_revokes_its_tokens,
);
