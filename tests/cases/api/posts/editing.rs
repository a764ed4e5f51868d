//! Editing and deleting posts: preconditions, states, the order of the checks.

use serde_json::{Value, json};
use tests::{Call, Post, SharedWorld, User, World, on_every_shape};

fn edit(user: &User, post: &Post, if_match: &str, members: &Value) -> Call {
    user.patch(&post.path).header("if-match", if_match).json(members)
}

async fn edits_require_the_current_entity_tag(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.draft("First").await;
    let body = json!({ "title": "Second" });
    ann.patch(&post.path)
        .json(&body)
        .await
        .expect_error(428, "precondition_required");
    edit(&ann, &post, "", &body)
        .await
        .expect_error(428, "precondition_required");
    let changed = edit(&ann, &post, &post.etag, &body).await.expect(200);
    assert_ne!(changed.header("etag"), post.etag);
    assert!(changed.header("etag").starts_with('"'), "a strong tag: {changed}");
    assert_eq!(changed.json()["title"], "Second");
    assert_ne!(changed.json()["updated_at"], post.record["updated_at"]);
    assert_eq!(changed.json()["created_at"], post.record["created_at"]);
    edit(&ann, &post, &post.etag, &json!({ "title": "Third" }))
        .await
        .expect_error(412, "precondition_failed");
    let read = ann.get(&post.path).await.expect(200);
    assert_eq!(
        (read.json()["title"].clone(), read.header("etag")),
        (json!("Second"), changed.header("etag"))
    );
}

async fn if_match_is_compared_as_in_rfc_9110(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.draft("A title").await;
    let tag = &post.etag;
    for if_match in [
        format!("W/{tag}"),
        tag.trim_matches('"').to_owned(),
        tag[..tag.len() - 1].to_owned(),
        format!("{tag}x"),
        "\"other\"".to_owned(),
        format!("W/{tag}, \"other\""),
        "**".to_owned(),
        "\"".to_owned(),
    ] {
        edit(&ann, &post, &if_match, &json!({ "title": "x" }))
            .await
            .expect_error(412, "precondition_failed");
    }
    for if_match in [
        "*".to_owned(),
        tag.clone(),
        format!("\"other\", {tag}"),
        format!("W/{tag} , {tag}"),
    ] {
        edit(&ann, &post, &if_match, &json!({})).await.expect(200);
    }
    let lines = edit(&ann, &post, "\"other\"", &json!({})).header("if-match", tag);
    lines.await.expect(200);
}

async fn an_empty_edit_changes_nothing(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A title").await;
    for same in [
        json!({}),
        json!({ "title": "A title" }),
        json!({ "body": "Hello.", "status": "published" }),
    ] {
        let reply = edit(&ann, &post, &post.etag, &same).await.expect(200);
        assert_eq!(reply.header("etag"), post.etag);
        assert_eq!(reply.json(), post.record);
    }
}

async fn posts_are_published_and_unpublished(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.draft("A title").await;
    let set = |status: &'static str| edit(&ann, &post, "*", &json!({ "status": status })).into_future();
    let first = set("published").await.expect(200).json();
    assert_eq!(first["published_at"], first["updated_at"]);
    let back = set("draft").await.expect(200).json();
    assert_eq!(
        (&back["status"], &back["published_at"]),
        (&json!("draft"), &first["published_at"])
    );
    let again = set("published").await.expect(200).json();
    assert_eq!(
        again["published_at"], first["published_at"],
        "the first publication time is kept"
    );
    assert_ne!(again["updated_at"], first["updated_at"]);
}

async fn unchanged_posts_answer_304(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A title").await;
    for same in [
        post.etag.clone(),
        format!("W/{}", post.etag),
        "*".to_owned(),
        format!("\"x\", {}", post.etag),
    ] {
        let reply = ann
            .get(&post.path)
            .header("if-none-match", &same)
            .await
            .expect(304);
        assert!(reply.body.is_empty(), "{reply}");
        assert_eq!(reply.header("etag"), post.etag);
        ann.call("HEAD", &post.path)
            .header("if-none-match", &same)
            .await
            .expect(304);
    }
    for other in ["\"x\"", "", "x", &post.etag[1..]] {
        ann.get(&post.path)
            .header("if-none-match", other)
            .await
            .expect(200);
    }
    let bob = world.user().await;
    for caller in [
        bob.anonymous(),
        world.anyone(),
        world.user_with_role("editor").await.anonymous(),
    ] {
        assert_eq!(
            caller.get(&post.path).await.expect(200).header("etag"),
            post.etag,
            "the tag is the same for every caller"
        );
    }
}

async fn deleted_posts_stay_deleted(world: World) {
    let ann = world.user().await;
    let post = ann.publish("A title").await;
    let stale = ann.delete(&post.path).header("if-match", "\"stale\"").await;
    stale.expect_error(412, "precondition_failed");
    let reply = ann
        .delete(&post.path)
        .header("if-match", &post.etag)
        .await
        .expect(204);
    assert!(reply.body.is_empty(), "{reply}");
    ann.delete(&post.path).await.expect_error(404, "not_found");
    ann.get(&post.path).await.expect_error(404, "not_found");
    edit(&ann, &post, &post.etag, &json!({}))
        .await
        .expect_error(404, "not_found");
    assert_eq!(ann.get("/posts").await.expect(200).json()["items"], json!([]));
    let next = ann.draft("Another").await;
    assert_ne!(next.id, post.id, "ids are never reused");
    ann.delete(&next.path).await.expect(204);
}

async fn edits_check_in_the_documented_order(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    let (mine, theirs) = (ann.draft("Mine").await, bob.publish("Theirs").await);
    let (bad_json, bad_field) = ("{", json!({ "titel": "x" }).to_string());
    let missing = "/posts/999999";
    let anyone = world.anyone();
    let large = vec![b' '; 1024 * 1024 + 1];

    anyone
        .call("PUT", missing)
        .body("text/plain", bad_json)
        .await
        .expect_error(405, "method_not_allowed");
    anyone
        .patch(missing)
        .body("text/plain", bad_json)
        .await
        .expect_error(401, "unauthenticated");
    let forged = anyone.cookies(&format!("sid={}", ann.sid));
    forged
        .patch(missing)
        .body("text/plain", bad_json)
        .await
        .expect_error(403, "csrf_mismatch");
    ann.patch(missing)
        .body("text/plain", bad_json)
        .await
        .expect_error(415, "unsupported_media_type");
    ann.patch(missing)
        .body("application/json", large)
        .await
        .expect_error(413, "payload_too_large");
    ann.patch(missing)
        .body("application/json", bad_json)
        .await
        .expect_error(404, "not_found");
    ann.patch(&theirs.path)
        .body("application/json", bad_json)
        .await
        .expect_error(403, "forbidden");
    ann.patch(&mine.path)
        .body("application/json", bad_json)
        .await
        .expect_error(428, "precondition_required");
    let stale = ann.patch(&mine.path).header("if-match", "\"stale\"");
    stale
        .body("application/json", bad_json)
        .await
        .expect_error(412, "precondition_failed");
    for (text, status, code) in [
        (bad_json, 400, "malformed_json"),
        (&bad_field, 422, "validation_failed"),
    ] {
        let fresh = ann.patch(&mine.path).header("if-match", &mine.etag);
        fresh
            .body("application/json", text)
            .await
            .expect_error(status, code);
    }
    edit(&ann, &mine, &mine.etag, &json!({ "title": "x" }))
        .await
        .expect(200);
}

async fn deletions_check_in_the_documented_order(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    let theirs = bob.publish("Theirs").await;
    world
        .anyone()
        .delete("/posts/999999")
        .await
        .expect_error(401, "unauthenticated");
    let forged = world.anyone().cookies(&format!("sid={}", ann.sid));
    forged
        .delete("/posts/999999")
        .await
        .expect_error(403, "csrf_mismatch");
    ann.delete("/posts/999999")
        .header("if-match", "\"stale\"")
        .await
        .expect_error(404, "not_found");
    ann.delete(&theirs.path)
        .header("if-match", "\"stale\"")
        .await
        .expect_error(403, "forbidden");
    bob.delete(&theirs.path)
        .header("if-match", "\"stale\"")
        .await
        .expect_error(412, "precondition_failed");
    bob.get(&theirs.path).await.expect(200);
}

async fn an_unparsable_if_match_deletes_nothing(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A title").await;
    for unparsable in [",", "x", ", ,"] {
        let reply = ann.delete(&post.path).header("if-match", unparsable).await;
        reply.expect_error(412, "precondition_failed");
    }
    ann.get(&post.path).await.expect(200);
}

on_every_shape!(
    an_unparsable_if_match_deletes_nothing,
    edits_require_the_current_entity_tag,
    if_match_is_compared_as_in_rfc_9110,
    an_empty_edit_changes_nothing,
    posts_are_published_and_unpublished,
    unchanged_posts_answer_304,
    deleted_posts_stay_deleted,
    edits_check_in_the_documented_order,
    deletions_check_in_the_documented_order,
);
