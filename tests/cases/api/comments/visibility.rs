//! Comments are visible to everyone who may read their post, and signed-in readers may comment.

use super::NO_POST;
use serde_json::json;
use tests::{
    Call, Caller, Comment, Post, SharedWorld, TokenForger, caller_with_scope, ids, items, on_every_shape,
};

/// Every operation on the comments of a post and on one comment.
fn calls(caller: &Caller, post: &str, comment: i64) -> Vec<Call> {
    let (list, one) = (format!("{post}/comments"), format!("{post}/comments/{comment}"));
    vec![
        caller.get(&list),
        caller.get(&format!("{list}?author_id=1&order=asc")),
        caller.call("HEAD", &list),
        caller.post(&list).json(&json!({ "body": "x" })),
        caller.post(&list).body("application/json", "{"),
        caller.post(&list).body("text/plain", "x"),
        caller.get(&one),
        caller.get(&one).header("if-none-match", "*"),
        caller.call("HEAD", &one),
        caller.delete(&one),
        caller.delete(&one).header("if-match", "\"x\""),
    ]
}

/// Expects the same responses as for the comments of a post that never existed.
async fn expect_hidden(caller: &Caller, post: &Post, comment: &Comment) {
    let hidden = calls(caller, &post.path, comment.id);
    let nowhere = calls(caller, NO_POST, comment.id);
    for (hidden, nowhere) in hidden.into_iter().zip(nowhere) {
        let (hidden, nowhere) = (hidden.await, nowhere.await);
        assert_eq!(hidden.comparable_parts(), nowhere.comparable_parts(), "{hidden}");
        assert!([401, 404, 415].contains(&hidden.status), "{hidden}");
    }
}

async fn expect_visible(caller: &Caller, post: &Post, comment: &Comment) {
    assert_eq!(caller.get(&comment.path).await.expect(200).json(), comment.record);
    let list = caller.get(&post.comments()).await.expect(200);
    assert!(items(&list).contains(&comment.record), "{list}");
}

async fn comments_of_published_posts_are_public_and_signed_in_users_may_comment(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    let post = ann.publish("A post").await;
    let first = ann.comment(&post, "By the post's author").await;
    for user in [
        bob,
        world.user_with_role("editor").await,
        world.user_with_role("admin").await,
    ] {
        expect_visible(&user, &post, &first).await;
        let comment = user.comment(&post, "By another").await;
        assert_eq!(comment.record["author_id"], json!(user.id));
        expect_visible(&world.anyone(), &post, &comment).await;
    }
    expect_visible(&world.anyone(), &post, &first).await;
    let call = world
        .anyone()
        .post(&post.comments())
        .json(&json!({ "body": "x" }));
    call.await.expect_error(401, "unauthenticated");
    let call = world.anyone().delete(&first.path);
    call.await.expect_error(401, "unauthenticated");
}

async fn comments_of_drafts_are_visible_to_readers_of_the_draft(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    let draft = ann.draft("A draft").await;
    let comment = ann.comment(&draft, "To myself").await;
    for role in ["editor", "admin"] {
        let user = world.user_with_role(role).await;
        expect_visible(&user, &draft, &comment).await;
        let remark = user.comment(&draft, "A remark").await;
        expect_visible(&ann, &draft, &remark).await;
    }
    for caller in [world.anyone(), bob.session(&bob.sid, &bob.csrf)] {
        expect_hidden(&caller, &draft, &comment).await;
    }
    assert_eq!(items(&ann.get(&draft.comments()).await.expect(200)).len(), 3);
}

async fn comment_visibility_follows_the_post(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    let post = ann.publish("A post").await;
    let comment = bob.comment(&post, "A comment").await;
    let set = |status: &'static str| {
        let call = ann.patch(&post.path).header("if-match", "*");
        call.json(&json!({ "status": status })).into_future()
    };
    set("draft").await.expect(200);
    expect_hidden(&bob, &post, &comment).await;
    expect_visible(&ann, &post, &comment).await;
    set("published").await.expect(200);
    expect_visible(&bob, &post, &comment).await;
    ann.delete(&post.path).await.expect(204);
    let admin = world.user_with_role("admin").await;
    for caller in [
        world.anyone(),
        ann.session(&ann.sid, &ann.csrf),
        bob.session(&bob.sid, &bob.csrf),
        admin.session(&admin.sid, &admin.csrf),
    ] {
        expect_hidden(&caller, &post, &comment).await;
    }
}

async fn commenting_and_reading_drafts_need_separate_scopes(world: SharedWorld) {
    let ann = world.user().await;
    let (post, draft) = (ann.publish("A post").await, ann.draft("A draft").await);
    let (comment, hidden) = (ann.comment(&post, "One").await, ann.comment(&draft, "Two").await);
    let body = json!({ "body": "By an app" });

    let reader = caller_with_scope(&world, &ann, "posts:read posts:write").await;
    expect_visible(&reader, &draft, &hidden).await;
    for call in [
        reader.post(&post.comments()).json(&body),
        reader.delete(&comment.path),
    ] {
        let reply = call.await.expect_error(403, "insufficient_scope");
        let challenge = reply.header("www-authenticate");
        assert!(challenge.contains("scope=\"comments:write\""), "{challenge}");
    }

    let writer = caller_with_scope(&world, &ann, "comments:write").await;
    expect_visible(&writer, &post, &comment).await;
    expect_hidden(&writer, &draft, &hidden).await;
    let made = writer.post(&post.comments()).json(&body).await.expect(201);
    assert_eq!(made.json()["author_id"], json!(ann.id));
    writer.delete(made.header("location")).await.expect(204);

    let both = caller_with_scope(&world, &ann, "comments:write posts:read").await;
    both.post(&draft.comments()).json(&body).await.expect(201);
    both.delete(&hidden.path).await.expect(204);
    expect_visible(
        &caller_with_scope(&world, &ann, "profile:read").await,
        &post,
        &comment,
    )
    .await;
}

async fn service_tokens_read_published_comments_and_write_none(world: SharedWorld) {
    let ann = world.user().await;
    let (post, draft) = (ann.publish("A post").await, ann.draft("A draft").await);
    let (comment, hidden) = (ann.comment(&post, "One").await, ann.comment(&draft, "Two").await);
    let mut forger = TokenForger::new(&world, &ann).await;
    forger.claims["sub"] = forger.claims["client_id"].clone();
    forger.claims["scope"] = json!("posts:read comments:write");
    let service = world.anyone().bearer(&forger.good());
    expect_visible(&service, &post, &comment).await;
    for path in [&draft.comments(), &hidden.path] {
        service.get(path).await.expect_error(404, "not_found");
    }
    let call = service.post(&post.comments()).json(&json!({ "body": "x" }));
    call.await.expect_error(403, "forbidden");
    service.delete(&comment.path).await.expect_error(403, "forbidden");
    assert_eq!(ids(&items(&ann.get(&post.comments()).await)), [comment.id]);
}

async fn invalid_tokens_are_rejected_and_stale_sessions_are_anonymous(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    let comment = ann.comment(&post, "A comment").await;
    let (bad, stale) = (
        world.anyone().bearer("nonsense"),
        world.anyone().cookies("sid=stale"),
    );
    for path in [&post.comments(), &comment.path, &format!("{NO_POST}/comments")] {
        bad.get(path).await.expect_error(401, "invalid_token");
    }
    expect_visible(&stale, &post, &comment).await;
    let call = stale.post(&post.comments()).json(&json!({ "body": "x" }));
    call.await.expect_error(401, "unauthenticated");
}

async fn checks_run_in_the_documented_order(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    let post = ann.publish("A post").await;
    let missing = format!("{NO_POST}/comments");
    let anyone = world.anyone();
    let forged = anyone.cookies(&format!("sid={}", bob.sid));
    let narrow = caller_with_scope(&world, &bob, "posts:read").await;
    let large = " ".repeat(64 * 1024 + 1);
    for (caller, path, content_type, text, status, code) in [
        (&anyone, &missing, "text/plain", "{", 401, "unauthenticated"),
        (&forged, &missing, "text/plain", "{", 403, "csrf_mismatch"),
        (&narrow, &missing, "text/plain", "{", 403, "insufficient_scope"),
        (&bob, &missing, "text/plain", "{", 415, "unsupported_media_type"),
        (
            &bob,
            &missing,
            "application/json",
            &large,
            413,
            "payload_too_large",
        ),
        (&bob, &missing, "application/json", "{", 404, "not_found"),
        (
            &bob,
            &post.comments(),
            "application/json",
            "{",
            400,
            "malformed_json",
        ),
        (
            &bob,
            &post.comments(),
            "application/json",
            "{}",
            422,
            "validation_failed",
        ),
    ] {
        let call = caller.post(path).body(content_type, text);
        call.await.expect_error(status, code);
    }
    let put = anyone.call("PUT", &missing).body("text/plain", "{");
    put.await.expect_error(405, "method_not_allowed");
}

on_every_shape!(
    comments_of_published_posts_are_public_and_signed_in_users_may_comment,
    comments_of_drafts_are_visible_to_readers_of_the_draft,
    comment_visibility_follows_the_post,
    commenting_and_reading_drafts_need_separate_scopes,
    service_tokens_read_published_comments_and_write_none,
    invalid_tokens_are_rejected_and_stale_sessions_are_anonymous,
    checks_run_in_the_documented_order,
);
