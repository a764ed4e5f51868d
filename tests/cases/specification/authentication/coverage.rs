//! "Coverage of authentication".

use super::super::SECOND;
use serde_json::json;
use std::time::Duration;
use tests::{Shape, SharedWorld, Tokens, World, caller_with_scope, on_every_shape};

const DAY: Duration = Duration::from_secs(86_400);

/// 5, coverage: "`GET /posts` and `POST /posts` answer 401 to an unauthenticated caller".
async fn listing_and_creating_posts_answer_401(world: SharedWorld) {
    let anyone = world.anyone();
    let list = anyone.get("/posts").await;
    list.expect_error(401, "unauthenticated");
    let create = anyone.post("/posts").json(&json!({ "title": "A post" })).await;
    create.expect_error(401, "unauthenticated");
}

/// 5, coverage: "which other endpoints require authentication" is Latchkey's choice: all except sign-up,
/// sign-in, the anti-forgery token, and reading a published post and its comments.
async fn all_but_public_operations_answer_401(world: SharedWorld) {
    let ann = world.sign_up().await;
    let post = ann.publish("A post").await;
    let comment = ann.comment(&post, "A comment").await;
    let anyone = world.anyone();
    for path in [&post.path, &post.comments(), &comment.path, "/csrf"] {
        anyone.get(path).await.expect(200);
    }
    for call in [
        anyone.patch(&post.path).json(&json!({ "title": "Changed" })),
        anyone.delete(&post.path),
        anyone.post(&post.comments()).json(&json!({ "body": "Another" })),
        anyone.delete(&comment.path),
        anyone.get("/me"),
        anyone.get(&format!("/users/{}", ann.id)),
        anyone.call("PUT", "/me/password").json(&json!({})),
        anyone.post("/logout"),
        anyone.get("/protected"),
    ] {
        call.await.expect_error(401, "unauthenticated");
    }
}

/// 5, coverage: the lifetime of the refresh token is Latchkey's choice: 14 days unused, and 30 in total.
async fn a_refresh_token_lives_14_days_unused_and_30_in_total(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (ann, app) = world.user_and_app().await;
    let unused = app.tokens(&ann, "posts:read").await;
    let mut used = app.tokens(&ann, "posts:read").await;
    for _ in 0..2 {
        world.advance(14 * DAY - SECOND);
        used = Tokens::parse(app.refresh(&world.anyone(), &used.refresh).await);
    }
    world.advance(2 * DAY + 3 * SECOND);
    for tokens in [unused, used] {
        let reply = app.refresh(&world.anyone(), &tokens.refresh).await;
        reply.expect_token_error(400, "invalid_grant");
    }
}

/// 5, coverage: roles are Latchkey's choice: editors and administrators change all posts, users their own.
async fn a_post_is_changed_by_its_author_editors_and_administrators(world: SharedWorld) {
    let (ann, bob) = (world.sign_up().await, world.sign_up().await);
    let post = ann.publish("A post").await;
    let reply = bob.delete(&post.path).await;
    reply.expect_error(403, "forbidden");
    for role in ["editor", "admin"] {
        let user = world.user_with_role(role).await;
        let call = user.patch(&post.path).header("if-match", "*");
        call.json(&json!({ "title": role })).await.expect(200);
    }
}

/// 5, coverage: scope names are Latchkey's choice. A request beyond the token's scope is rejected, and
/// the response names the missing scope.
async fn tokens_are_limited_to_their_scope(world: SharedWorld) {
    let ann = world.sign_up().await;
    let post = ann.publish("A post").await;
    let none = caller_with_scope(&world, &ann, "payments:read").await;
    for (scope, call) in [
        ("posts:read", none.get("/posts")),
        ("posts:write", none.post("/posts").json(&json!({ "title": "x" }))),
        (
            "comments:write",
            none.post(&post.comments()).json(&json!({ "body": "x" })),
        ),
        ("profile:read", none.get("/me")),
    ] {
        let reply = call.await.expect_error(403, "insufficient_scope");
        let challenge = reply.header("www-authenticate");
        assert!(challenge.contains(&format!("scope=\"{scope}\"")), "{challenge}");
    }
    let posts = caller_with_scope(&world, &ann, "posts:read").await;
    posts.get("/posts").await.expect(200);
}

on_every_shape!(
    listing_and_creating_posts_answer_401,
    all_but_public_operations_answer_401,
    a_refresh_token_lives_14_days_unused_and_30_in_total,
    a_post_is_changed_by_its_author_editors_and_administrators,
    tokens_are_limited_to_their_scope,
);
