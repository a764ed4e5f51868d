//! Who sees a post sees its comments, and may comment.

use super::NO_POST;
use serde_json::json;
use tests::{Call, Caller, Comment, Forger, Post, World, ids, items, on_every_shape, with_scope};

/// Every call on a post's comments, and on one of them.
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

/// The comments of this post cannot be told from those of a post that never was.
async fn sees_nothing(caller: &Caller, post: &Post, comment: &Comment) {
    let hidden = calls(caller, &post.path, comment.id);
    let nowhere = calls(caller, NO_POST, comment.id);
    for (hidden, nowhere) in hidden.into_iter().zip(nowhere) {
        let (hidden, nowhere) = (hidden.await, nowhere.await);
        assert_eq!(hidden.anonymised(), nowhere.anonymised(), "{hidden}");
        assert!([401, 404, 415].contains(&hidden.status), "{hidden}");
    }
}

async fn sees(caller: &Caller, post: &Post, comment: &Comment) {
    assert_eq!(caller.get(&comment.path).await.expect(200).json(), comment.record);
    let list = caller.get(&post.comments()).await.expect(200);
    assert!(items(&list).contains(&comment.record), "{list}");
}

async fn a_published_posts_comments_are_everyones_and_whoever_signs_in_comments(world: World) {
    let (ann, bob) = (world.sign_up().await, world.sign_up().await);
    let post = ann.publish("A post").await;
    let first = ann.comment(&post, "By the post's author").await;
    for person in [bob, world.someone("editor").await, world.someone("admin").await] {
        sees(&person, &post, &first).await;
        let comment = person.comment(&post, "By another").await;
        assert_eq!(comment.record["author_id"], json!(person.id));
        sees(&world.anyone(), &post, &comment).await;
    }
    sees(&world.anyone(), &post, &first).await;
    let call = world
        .anyone()
        .post(&post.comments())
        .json(&json!({ "body": "x" }));
    call.await.expect_error(401, "unauthenticated");
    let call = world.anyone().delete(&first.path);
    call.await.expect_error(401, "unauthenticated");
}

async fn a_drafts_comments_are_there_for_those_who_see_the_draft(world: World) {
    let (ann, bob) = (world.sign_up().await, world.sign_up().await);
    let draft = ann.draft("A draft").await;
    let comment = ann.comment(&draft, "To myself").await;
    for role in ["editor", "admin"] {
        let person = world.someone(role).await;
        sees(&person, &draft, &comment).await;
        let remark = person.comment(&draft, "A remark").await;
        sees(&ann, &draft, &remark).await;
    }
    for caller in [world.anyone(), bob.session(&bob.sid, &bob.csrf)] {
        sees_nothing(&caller, &draft, &comment).await;
    }
    assert_eq!(items(&ann.get(&draft.comments()).await.expect(200)).len(), 3);
}

async fn comments_come_and_go_with_their_post(world: World) {
    let (ann, bob) = (world.sign_up().await, world.sign_up().await);
    let post = ann.publish("A post").await;
    let comment = bob.comment(&post, "A comment").await;
    let set = |status: &'static str| {
        let call = ann.patch(&post.path).header("if-match", "*");
        call.json(&json!({ "status": status })).into_future()
    };
    set("draft").await.expect(200);
    sees_nothing(&bob, &post, &comment).await;
    sees(&ann, &post, &comment).await;
    set("published").await.expect(200);
    sees(&bob, &post, &comment).await;
    ann.delete(&post.path).await.expect(204);
    let admin = world.someone("admin").await;
    for caller in [
        world.anyone(),
        ann.session(&ann.sid, &ann.csrf),
        bob.session(&bob.sid, &bob.csrf),
        admin.session(&admin.sid, &admin.csrf),
    ] {
        sees_nothing(&caller, &post, &comment).await;
    }
}

async fn a_token_comments_with_the_scope_and_sees_drafts_with_another(world: World) {
    let ann = world.sign_up().await;
    let (post, draft) = (ann.publish("A post").await, ann.draft("A draft").await);
    let (comment, hidden) = (ann.comment(&post, "One").await, ann.comment(&draft, "Two").await);
    let body = json!({ "body": "By an app" });

    let reader = with_scope(&world, &ann, "posts:read posts:write").await;
    sees(&reader, &draft, &hidden).await;
    for call in [
        reader.post(&post.comments()).json(&body),
        reader.delete(&comment.path),
    ] {
        let reply = call.await.expect_error(403, "insufficient_scope");
        let challenge = reply.header("www-authenticate");
        assert!(challenge.contains("scope=\"comments:write\""), "{challenge}");
    }

    let writer = with_scope(&world, &ann, "comments:write").await;
    sees(&writer, &post, &comment).await;
    sees_nothing(&writer, &draft, &hidden).await;
    let made = writer.post(&post.comments()).json(&body).await.expect(201);
    assert_eq!(made.json()["author_id"], json!(ann.id));
    writer.delete(made.header("location")).await.expect(204);

    let both = with_scope(&world, &ann, "comments:write posts:read").await;
    both.post(&draft.comments()).json(&body).await.expect(201);
    both.delete(&hidden.path).await.expect(204);
    sees(&with_scope(&world, &ann, "profile:read").await, &post, &comment).await;
}

async fn a_services_own_token_reads_what_is_published_and_writes_nothing(world: World) {
    let ann = world.sign_up().await;
    let (post, draft) = (ann.publish("A post").await, ann.draft("A draft").await);
    let (comment, hidden) = (ann.comment(&post, "One").await, ann.comment(&draft, "Two").await);
    let mut forger = Forger::new(&world, &ann).await;
    forger.claims["sub"] = forger.claims["client_id"].clone();
    forger.claims["scope"] = json!("posts:read comments:write");
    let service = world.anyone().bearer(&forger.good());
    sees(&service, &post, &comment).await;
    for path in [&draft.comments(), &hidden.path] {
        service.get(path).await.expect_error(404, "not_found");
    }
    let call = service.post(&post.comments()).json(&json!({ "body": "x" }));
    call.await.expect_error(403, "forbidden");
    service.delete(&comment.path).await.expect_error(403, "forbidden");
    assert_eq!(ids(&items(&ann.get(&post.comments()).await)), [comment.id]);
}

async fn a_bad_token_is_refused_where_none_is_needed_and_a_stale_session_is_nobody(world: World) {
    let ann = world.sign_up().await;
    let post = ann.publish("A post").await;
    let comment = ann.comment(&post, "A comment").await;
    let (bad, stale) = (
        world.anyone().bearer("nonsense"),
        world.anyone().cookies("sid=stale"),
    );
    for path in [&post.comments(), &comment.path, &format!("{NO_POST}/comments")] {
        bad.get(path).await.expect_error(401, "invalid_token");
    }
    sees(&stale, &post, &comment).await;
    let call = stale.post(&post.comments()).json(&json!({ "body": "x" }));
    call.await.expect_error(401, "unauthenticated");
}

async fn the_first_check_that_fails_answers(world: World) {
    let (ann, bob) = (world.sign_up().await, world.sign_up().await);
    let post = ann.publish("A post").await;
    let missing = format!("{NO_POST}/comments");
    let anyone = world.anyone();
    let forged = anyone.cookies(&format!("sid={}", bob.sid));
    let narrow = with_scope(&world, &bob, "posts:read").await;
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
    a_published_posts_comments_are_everyones_and_whoever_signs_in_comments,
    a_drafts_comments_are_there_for_those_who_see_the_draft,
    comments_come_and_go_with_their_post,
    a_token_comments_with_the_scope_and_sees_drafts_with_another,
    a_services_own_token_reads_what_is_published_and_writes_nothing,
    a_bad_token_is_refused_where_none_is_needed_and_a_stale_session_is_nobody,
    the_first_check_that_fails_answers,
);
