//! Section 8 of the API specification: limits.

use super::{SECOND, fail};
use serde_json::json;
use std::time::Duration;
use tests::{PASSWORD, Shape, SharedWorld, World, on_every_shape};

const MINUTE: Duration = Duration::from_secs(60);

/// 8, page size: "20 items", "GET /posts".
async fn a_page_of_posts_has_20_items(world: SharedWorld) {
    let ann = world.user().await;
    for n in 0..21 {
        ann.publish(&format!("Post {n}")).await;
    }
    let page = ann.get("/posts").await.expect(200).json();
    assert_eq!(page["items"].as_array().unwrap().len(), 20);
    assert!(page["next"].is_string(), "{page}");
}

/// 8, failed logins: "5 per 15 minutes", "Login, per identity plus client address".
async fn failed_logins_are_limited_to_5_in_15_minutes(shape: Shape) {
    let world = World::builder(shape)
        .clock()
        .flag("--trusted-proxies", "127.0.0.1")
        .start()
        .await;
    let (ann, bob) = (world.user().await, world.user().await);
    let here = world.anyone();
    fail(&here, &ann.email, 5).await;
    here.login(&ann.email, PASSWORD)
        .await
        .expect_error(429, "login_locked");
    here.login(&bob.email, PASSWORD).await.expect(200);
    let elsewhere = here.with("x-forwarded-for", "198.51.100.7");
    elsewhere.login(&ann.email, PASSWORD).await.expect(200);
    world.advance(15 * MINUTE - SECOND);
    here.login(&ann.email, PASSWORD)
        .await
        .expect_error(429, "login_locked");
    world.advance(2 * SECOND);
    here.login(&ann.email, PASSWORD).await.expect(200);
}

/// 8, access token age: "10 minutes maximum", "Bearer authentication".
async fn access_tokens_are_accepted_for_10_minutes(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (ann, app) = world.user_and_app().await;
    let bearer = world
        .anyone()
        .bearer(&app.tokens(&ann, "posts:read").await.access);
    world.advance(10 * MINUTE - SECOND);
    bearer.get("/protected").await.expect(200);
    world.advance(2 * SECOND);
    bearer.get("/protected").await.expect_error(401, "invalid_token");
}

/// 8, maximum request body size: Latchkey's choice: 1 MiB for posts, 64 KiB elsewhere.
async fn request_bodies_have_a_maximum_size(world: SharedWorld) {
    let ann = world.user().await;
    let of = |size: usize| json!({ "title": "A title", "body": "x".repeat(size) });
    ann.post("/posts")
        .json(&of(1 << 20))
        .await
        .expect_error(413, "payload_too_large");
    let post = ann.publish("A post").await;
    let body = json!({ "body": "x".repeat(64 << 10) });
    ann.post(&format!("{}/comments", post.path))
        .json(&body)
        .await
        .expect_error(413, "payload_too_large");
}

on_every_shape!(
    a_page_of_posts_has_20_items,
    failed_logins_are_limited_to_5_in_15_minutes,
    access_tokens_are_accepted_for_10_minutes,
    request_bodies_have_a_maximum_size,
);
