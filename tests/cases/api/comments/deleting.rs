//! Deletion: permissions, the order of the checks, concurrency.

use super::NO_POST;
use tests::{SharedWorld, caller_with_scope, ids, items, on_every_shape, run_concurrently, status_counts};

async fn authors_editors_and_administrators_delete_a_comment_once(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    let (post, draft) = (ann.publish("A post").await, ann.draft("A draft").await);
    let kept = ann.comment(&post, "Kept").await;
    for user in [
        &bob,
        &world.user_with_role("editor").await,
        &world.user_with_role("admin").await,
    ] {
        let comment = bob.comment(&post, "A comment").await;
        let reply = user.delete(&comment.path).await.expect(204);
        assert!(reply.body.is_empty(), "{reply}");
        for caller in [user, &bob] {
            caller.delete(&comment.path).await.expect_error(404, "not_found");
            let seen = caller.get(&comment.path).header("if-none-match", "*").await;
            seen.expect_error(404, "not_found");
        }
        assert_eq!(
            ids(&items(&ann.get(&post.comments()).await.expect(200))),
            [kept.id]
        );
        let next = bob.comment(&post, "Another").await;
        assert_ne!(next.id, comment.id, "ids are never reused");
        bob.delete(&next.path).await.expect(204);
    }
    let comment = ann.comment(&draft, "On a draft").await;
    ann.delete(&comment.path).await.expect(204);
}

async fn post_authors_cannot_delete_comments_of_other_users(world: SharedWorld) {
    let (ann, bob, eve) = (world.user().await, world.user().await, world.user().await);
    let post = ann.publish("A post").await;
    let comment = bob.comment(&post, "A comment").await;
    for user in [&ann, &eve] {
        user.delete(&comment.path).await.expect_error(403, "forbidden");
    }
    let claims_more = caller_with_scope(&world, &eve, "comments:write posts:write admin").await;
    claims_more
        .delete(&comment.path)
        .await
        .expect_error(403, "forbidden");
    assert_eq!(bob.get(&comment.path).await.expect(200).json(), comment.record);
}

async fn deletion_honors_if_match(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    for (if_match, status) in [
        ("\"x\"", 412),
        ("x", 412),
        ("W/{}", 412),
        ("", 204),
        ("*", 204),
        ("{}", 204),
        ("\"x\", {}", 204),
    ] {
        let comment = ann.comment(&post, "A comment").await;
        let if_match = if_match.replace("{}", &comment.etag);
        let call = ann.delete(&comment.path).header("if-match", &if_match);
        let reply = call.await.expect(status);
        if status == 412 {
            reply.expect_error(412, "precondition_failed");
            ann.get(&comment.path).await.expect(200);
        } else {
            ann.get(&comment.path).await.expect_error(404, "not_found");
        }
    }
}

async fn checks_run_in_the_documented_order(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    let post = ann.publish("A post").await;
    let comment = ann.comment(&post, "A comment").await;
    let missing = format!("{NO_POST}/comments/{}", comment.id);
    let nowhere = format!("{}/999999", post.comments());
    let anyone = world.anyone();
    let forged = anyone.cookies(&format!("sid={}", ann.sid));
    let narrow = caller_with_scope(&world, &ann, "posts:write").await;
    for (caller, path, status, code) in [
        (&anyone, &missing, 401, "unauthenticated"),
        (&forged, &missing, 403, "csrf_mismatch"),
        (&narrow, &missing, 403, "insufficient_scope"),
        (&bob, &missing, 404, "not_found"),
        (&bob, &nowhere, 404, "not_found"),
        (&bob, &comment.path, 403, "forbidden"),
        (&ann, &comment.path, 412, "precondition_failed"),
    ] {
        let call = caller.delete(path).header("if-match", "\"stale\"");
        call.await.expect_error(status, code);
    }
    ann.get(&comment.path).await.expect(200);
}

async fn fifty_concurrent_deletions_delete_a_comment_once(world: SharedWorld) {
    let (ann, editor) = (world.user().await, world.user_with_role("editor").await);
    let post = ann.publish("A post").await;
    let comment = ann.comment(&post, "A comment").await;
    let replies = run_concurrently(50, |n| {
        let user = if n % 2 == 0 { &ann } else { &editor };
        user.delete(&comment.path).into_future()
    });
    assert_eq!(status_counts(&replies.await), [(204, 1), (404, 49)].into());
}

async fn concurrent_comments_are_all_stored(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    let post = ann.publish("A post").await;
    let made = run_concurrently(45, |n| {
        let user = if n % 2 == 0 { &ann } else { &bob };
        let body = serde_json::json!({ "body": format!("comment {n}") });
        user.post(&post.comments()).json(&body).into_future()
    });
    let made: Vec<_> = made
        .await
        .into_iter()
        .map(|reply| reply.expect(201).json())
        .collect();
    let mut listed = ids(&tests::expect_pages_of_45(&ann, &post.comments()).await);
    let mut made = ids(&made);
    made.sort_unstable();
    listed.sort_unstable();
    assert_eq!(listed, made);
}

on_every_shape!(
    authors_editors_and_administrators_delete_a_comment_once,
    post_authors_cannot_delete_comments_of_other_users,
    deletion_honors_if_match,
    checks_run_in_the_documented_order,
    fifty_concurrent_deletions_delete_a_comment_once,
    concurrent_comments_are_all_stored,
);
