//! `/v1/…` and unprefixed paths are both version 1. Responses keep the form of the request.

use serde_json::json;
use tests::{PASSWORD, SharedWorld, on_every_shape};

async fn versioned_and_unversioned_paths_are_the_same_api(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    let bare = ann.get(&post.path).await.expect(200);
    let prefixed = ann.get(&format!("/v1{}", post.path)).await.expect(200);
    assert_eq!(prefixed.comparable_parts(), bare.comparable_parts());
    let patch = ann
        .patch(&format!("/v1{}", post.path))
        .header("if-match", bare.header("etag"));
    patch.json(&json!({ "title": "Changed" })).await.expect(200);
    assert_eq!(ann.get(&post.path).await.json()["title"], "Changed");
    assert_eq!(ann.get("/v1/me").await.expect(200).json()["id"], ann.id);
    world
        .anyone()
        .get("/v1/me")
        .await
        .expect_error(401, "unauthenticated");
    // Both give the caller's present token, so a token from one works with the other.
    for path in ["/csrf", "/v1/csrf"] {
        let token = ann.get(path).await.expect(200);
        assert_eq!(token.json()["token"], ann.csrf);
        assert_eq!(token.cookie("csrf"), ann.csrf);
    }
    let login = json!({ "email": ann.email, "password": PASSWORD });
    world.anyone().post("/v1/login").json(&login).await.expect(200);
    ann.delete(&format!("/v1{}", post.path)).await.expect(204);
    ann.get(&post.path).await.expect_error(404, "not_found");
}

async fn locations_keep_the_version_prefix(world: SharedWorld) {
    let ann = world.user().await;
    for prefix in ["", "/v1"] {
        let made = ann
            .post(&format!("{prefix}/posts"))
            .json(&json!({ "title": "A" }));
        let made = made.await.expect(201);
        let location = made.header("location");
        assert_eq!(location, format!("{prefix}/posts/{}", made.json()["id"]));
        ann.get(location).await.expect(200);
        let user = json!({ "email": world.fresh_email(), "password": PASSWORD });
        let made = world.anyone().post(&format!("{prefix}/users")).json(&user);
        let made = made.await.expect(201);
        let expected = format!("{prefix}/users/{}", made.json()["id"]);
        assert_eq!(made.header("location"), expected);
    }
}

async fn links_keep_the_version_prefix(world: SharedWorld) {
    let ann = world.user().await;
    for n in 0..21 {
        ann.draft(&format!("Post {n}")).await;
    }
    for prefix in ["", "/v1"] {
        let begins = format!("{}{prefix}/posts?", world.base());
        let page = ann.get(&format!("{prefix}/posts?status=draft")).await.expect(200);
        let next = page.json()["links"]["next"].as_str().unwrap().to_owned();
        assert!(next.starts_with(&begins), "{next}");
        assert!(page.header("link").contains(&format!("<{begins}")), "{page}");
        let second = ann.get(&next).await.expect(200);
        let prev = second.json()["links"]["prev"].as_str().unwrap().to_owned();
        assert!(prev.starts_with(&begins), "{prev}");
        assert_eq!(second.json()["items"].as_array().map(Vec::len), Some(1));
    }
}

async fn only_v1_exists_and_only_for_the_api(world: SharedWorld) {
    let ann = world.user().await;
    for path in [
        "/v2/posts",
        "/v0/posts",
        "/V1/posts",
        "/v1",
        "/v1/",
        "/v1/v1/posts",
        "/v1posts",
        "/v1//posts",
        "/v1/nothing",
        "/v1/token",
        "/v1/revoke",
        "/v1/introspect",
        "/v1/authorize",
        "/v1/signin",
        "/v1/livez",
        "/v1/readyz",
        "/v1/.well-known/jwks.json",
        "/v1/.well-known/oauth-protected-resource",
    ] {
        ann.get(path).await.expect_error(404, "not_found");
    }
}

async fn the_current_version_announces_no_sunset(world: SharedWorld) {
    let ann = world.user().await;
    for path in ["/posts", "/v1/posts"] {
        let reply = ann.get(path).await.expect(200);
        assert!(!reply.has("deprecation") && !reply.has("sunset"), "{reply}");
    }
}

on_every_shape!(
    versioned_and_unversioned_paths_are_the_same_api,
    locations_keep_the_version_prefix,
    links_keep_the_version_prefix,
    only_v1_exists_and_only_for_the_api,
    the_current_version_announces_no_sunset,
);
