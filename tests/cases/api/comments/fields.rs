//! The fields, the requests and the paths of comments.

use super::NO_POST;
use serde_json::{Value, json};
use tests::{SharedWorld, invalid_id_spellings, items, on_every_shape};

const TIME_LENGTH: usize = "2026-01-01T00:00:00.000000Z".len();

async fn writes_and_reads_return_the_same_comment(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    let post = ann.publish("A post").await;
    let text = "Guter Text: é, \u{1f980}\nund noch eine Zeile\u{200b} ";
    let made = bob
        .post(&post.comments())
        .json(&json!({ "body": text }))
        .await
        .expect(201);
    let comment = made.json();
    assert_eq!(
        made.header("location"),
        format!("/posts/{}/comments/{}", post.id, comment["id"])
    );
    assert_eq!(comment.as_object().unwrap().len(), 5, "{comment}");
    assert_eq!(
        (&comment["post_id"], &comment["author_id"], &comment["body"]),
        (&json!(post.id), &json!(bob.id), &json!(text))
    );
    let time = comment["created_at"].as_str().unwrap();
    assert!(time.len() == TIME_LENGTH && time.ends_with('Z'), "{time}");
    let read = world.anyone().get(made.header("location")).await.expect(200);
    assert_eq!(
        (read.json(), read.header("etag")),
        (comment.clone(), made.header("etag"))
    );
    let list = world.anyone().get(&post.comments()).await.expect(200);
    assert_eq!(
        list.json(),
        json!({ "items": [comment], "next": null, "links": { "next": null, "prev": null } })
    );
    let still = ann.get(&post.path).await.expect(200);
    assert_eq!(
        still.header("etag"),
        post.etag,
        "a comment does not change its post"
    );
}

async fn the_body_has_1_to_10000_characters(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    let good = ["x".to_owned(), " x\n".to_owned(), "\u{1f980}".repeat(10_000)];
    for text in &good {
        assert_eq!(ann.comment(&post, text).await.record["body"], json!(text));
    }
    for bad in [
        json!(""),
        json!(" \u{2003}\n"),
        json!("x".repeat(10_001)),
        json!("\u{1f980}".repeat(10_001)),
        Value::Null,
        json!(1),
        json!(["x"]),
    ] {
        let call = ann.post(&post.comments()).json(&json!({ "body": bad }));
        call.await.expect_validation_errors(&["/body"]);
    }
    assert_eq!(
        items(&ann.get(&post.comments()).await.expect(200)).len(),
        good.len()
    );
}

async fn clients_can_only_set_the_body(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    for (bad, at) in [
        (json!({}), vec!["/body"]),
        (json!({ "text": "x" }), vec!["/body", "/text"]),
        (
            json!({ "body": "x", "id": 1, "post_id": 1, "author_id": 1, "created_at": "x", "deleted_at": null }),
            vec!["/id", "/post_id", "/author_id", "/created_at", "/deleted_at"],
        ),
        (json!({ "body": "a\0b" }), vec![""]),
        (json!([]), vec![""]),
    ] {
        ann.post(&post.comments())
            .json(&bad)
            .await
            .expect_validation_errors(&at);
    }
    assert_eq!(
        items(&ann.get(&post.comments()).await.expect(200)),
        [] as [Value; 0]
    );
}

async fn requests_are_limited_to_64_kib(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    let text = json!({ "body": "x" }).to_string();
    let whole = format!("{text}{}", " ".repeat(64 * 1024 - text.len()));
    let send = |text: String| ann.post(&post.comments()).body("application/json", text);
    send(format!("{whole} "))
        .await
        .expect_error(413, "payload_too_large");
    send(whole).await.expect(201);
}

async fn comment_ids_have_one_spelling(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    let comment = ann.comment(&post, "A comment").await;
    let missing = ann.get(NO_POST).await.expect_error(404, "not_found");
    let of_post = |name| format!("/posts/{name}/comments");
    for path in invalid_id_spellings(post.id).into_iter().map(of_post) {
        assert_eq!(
            ann.get(&path).await.comparable_parts(),
            missing.comparable_parts(),
            "{path}"
        );
        let call = ann.post(&path).json(&json!({ "body": "x" }));
        call.await.expect_error(404, "not_found");
        ann.delete(&format!("{path}/{}", comment.id))
            .await
            .expect_error(404, "not_found");
    }
    for name in invalid_id_spellings(comment.id) {
        let path = format!("{}/{name}", post.comments());
        assert_eq!(
            ann.get(&path).await.comparable_parts(),
            missing.comparable_parts(),
            "{path}"
        );
        ann.delete(&path).await.expect_error(404, "not_found");
    }
    ann.get(&comment.path).await.expect(200);
}

async fn comments_are_found_only_under_their_post(world: SharedWorld) {
    let ann = world.user().await;
    let (post, other) = (ann.publish("A post").await, ann.publish("Another").await);
    let comment = ann.comment(&post, "A comment").await;
    for path in [
        format!("{}/{}", other.comments(), comment.id),
        format!("{NO_POST}/comments/{}", comment.id),
        format!("{}/999999", post.comments()),
    ] {
        ann.get(&path).await.expect_error(404, "not_found");
        ann.delete(&path).await.expect_error(404, "not_found");
    }
    assert_eq!(
        items(&ann.get(&other.comments()).await.expect(200)),
        [] as [Value; 0]
    );
    assert_eq!(ann.get(&comment.path).await.expect(200).json(), comment.record);
}

async fn unchanged_comments_answer_304(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    let (comment, other) = (ann.comment(&post, "One").await, ann.comment(&post, "Two").await);
    assert!(comment.etag.starts_with('"') && comment.etag != other.etag);
    for caller in [world.anyone(), ann.session(&ann.sid, &ann.csrf)] {
        for method in ["GET", "HEAD"] {
            let ask = |tag: &str| {
                let call = caller.call(method, &comment.path);
                call.header("if-none-match", tag)
            };
            for same in [
                comment.etag.clone(),
                format!("W/{}", comment.etag),
                "*".to_owned(),
            ] {
                let reply = ask(&same).await.expect(304);
                assert_eq!(
                    (reply.header("etag"), reply.body.len()),
                    (comment.etag.as_str(), 0)
                );
                assert_eq!(reply.header("cache-control"), "private, no-cache");
            }
            let whole = ask(&other.etag).await.expect(200);
            assert_eq!(whole.header("cache-control"), "private, no-cache");
            assert!(whole.header("vary").contains("Cookie"), "{whole}");
        }
    }
}

async fn comments_cannot_be_edited(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    let comment = ann.comment(&post, "A comment").await;
    for (path, methods) in [
        (&comment.path, ["GET", "HEAD", "DELETE"]),
        (&post.comments(), ["GET", "HEAD", "POST"]),
    ] {
        for method in ["PUT", "PATCH"] {
            let call = ann.call(method, path).header("if-match", "*");
            let reply = call.json(&json!({ "body": "x" })).await;
            let reply = reply.expect_error(405, "method_not_allowed");
            let allow: Vec<&str> = reply.header("allow").split(',').map(str::trim).collect();
            assert!(methods.iter().all(|method| allow.contains(method)), "{reply}");
        }
        let options = ann.call("OPTIONS", path).await.expect(204);
        assert!(options.header("allow").contains(methods[2]), "{options}");
    }
    assert_eq!(ann.get(&comment.path).await.expect(200).json(), comment.record);
}

on_every_shape!(
    writes_and_reads_return_the_same_comment,
    the_body_has_1_to_10000_characters,
    clients_can_only_set_the_body,
    requests_are_limited_to_64_kib,
    comment_ids_have_one_spelling,
    comments_are_found_only_under_their_post,
    unchanged_comments_answer_304,
    comments_cannot_be_edited,
);
