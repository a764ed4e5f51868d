//! The fields of posts, and requests for them.

use serde_json::{Value, json};
use tests::{SharedWorld, invalid_id_spellings, on_every_shape};

const TIME_LENGTH: usize = "2026-01-01T00:00:00.000000Z".len();

async fn writes_and_reads_return_the_same_post(world: SharedWorld) {
    let ann = world.user().await;
    let members = json!({ "title": "Ein Titel: é, \u{1f980}", "body": "Zeile\nnoch eine\u{200b}", "status": "published" });
    let made = ann.post("/posts").json(&members).await.expect(201);
    let post = made.json();
    assert_eq!(made.header("location"), format!("/posts/{}", post["id"]));
    let read = ann.get(made.header("location")).await.expect(200);
    assert_eq!(read.json(), post);
    for name in ["title", "body", "status"] {
        assert_eq!(post[name], members[name]);
    }
    assert_eq!(post["author_id"], json!(ann.id));
    assert_eq!(post.as_object().unwrap().len(), 8, "{post}");
    for name in ["created_at", "updated_at", "published_at"] {
        let time = post[name].as_str().unwrap();
        assert!(time.len() == TIME_LENGTH && time.ends_with('Z'), "{name}: {time}");
    }
    let change = ann
        .patch(made.header("location"))
        .header("if-match", read.header("etag"));
    let changed = change.json(&json!({ "title": "Another" })).await.expect(200);
    let read = ann.get(made.header("location")).await.expect(200);
    assert_eq!(
        (read.json(), read.header("etag")),
        (changed.json(), changed.header("etag"))
    );
}

async fn body_and_status_have_defaults(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.draft("A title").await.record;
    assert_eq!(
        (&post["body"], &post["status"], &post["published_at"]),
        (&json!(""), &json!("draft"), &Value::Null)
    );
    assert_eq!(post["created_at"], post["updated_at"]);
}

async fn lengths_are_counted_in_characters(world: SharedWorld) {
    let ann = world.user().await;
    for good in [
        json!({ "title": "x" }),
        json!({ "title": "\u{1f980}".repeat(200) }),
        json!({ "title": "x", "body": "\u{1f980}".repeat(100_000) }),
    ] {
        ann.make_post(good).await;
    }
    for (bad, at) in [
        (json!({ "title": "" }), "/title"),
        (json!({ "title": "x".repeat(201) }), "/title"),
        (json!({ "title": "\u{1f980}".repeat(201) }), "/title"),
        (json!({ "title": "x", "body": "x".repeat(100_001) }), "/body"),
    ] {
        ann.post("/posts")
            .json(&bad)
            .await
            .expect_validation_errors(&[at]);
    }
}

async fn every_invalid_member_is_reported(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.draft("A title").await;
    for (bad, at) in [
        (json!({}), vec!["/title"]),
        (json!({ "title": null }), vec!["/title"]),
        (
            json!({ "title": 1, "body": [], "status": "gone" }),
            vec!["/title", "/body", "/status"],
        ),
        (json!({ "title": "x", "status": "Published" }), vec!["/status"]),
        (json!({ "title": "x", "status": null }), vec!["/status"]),
        (
            json!({ "title": "x", "id": 1, "author_id": 1, "created_at": "x" }),
            vec!["/id", "/author_id", "/created_at"],
        ),
        (json!({ "title": "x", "a/b~c": 1 }), vec!["/a~1b~0c"]),
    ] {
        ann.post("/posts").json(&bad).await.expect_validation_errors(&at);
    }
    for (bad, at) in [
        (json!({ "title": "" }), vec!["/title"]),
        (json!({ "title": null, "body": 7 }), vec!["/title", "/body"]),
        (json!({ "status": "archived" }), vec!["/status"]),
        (
            json!({ "version": 1, "deleted_at": null }),
            vec!["/version", "/deleted_at"],
        ),
    ] {
        let call = ann.patch(&post.path).header("if-match", &post.etag);
        call.json(&bad).await.expect_validation_errors(&at);
    }
    assert_eq!(ann.get(&post.path).await.header("etag"), post.etag);
}

async fn post_ids_have_one_spelling(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A title").await;
    let id = post.id;
    let missing = ann.get("/posts/999999").await.expect_error(404, "not_found");
    let mut names = invalid_id_spellings(id);
    names.push(format!("{id}/"));
    for name in names {
        let path = format!("/posts/{name}");
        assert_eq!(
            ann.get(&path).await.comparable_parts(),
            missing.comparable_parts(),
            "{path}"
        );
        ann.delete(&path).await.expect_error(404, "not_found");
        let patch = ann
            .patch(&path)
            .header("if-match", "*")
            .json(&json!({ "title": "x" }));
        patch.await.expect_error(404, "not_found");
    }
    ann.get(&post.path).await.expect(200);
}

async fn head_returns_the_headers_of_get(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A title").await;
    let of_ann = format!("/posts?author_id={}", ann.id);
    for path in [
        post.path.as_str(),
        of_ann.as_str(),
        "/posts/999999",
        "/posts/abc",
        "/me",
        "/csrf",
    ] {
        let (get, head) = (ann.get(path).await, ann.call("HEAD", path).await);
        let ((status, headers, _), (head_status, mut head_headers, body)) =
            (get.comparable_parts(), head.comparable_parts());
        assert_eq!((head_status, body.as_str()), (status, ""), "{path}");
        let has_length =
            |headers: &[(String, String)]| headers.iter().any(|(name, _)| name == "content-length");
        if !has_length(&head_headers) {
            head_headers.extend(
                headers
                    .iter()
                    .filter(|(name, _)| name == "content-length")
                    .cloned(),
            );
            head_headers.sort();
        }
        assert_eq!(head_headers, headers, "{path}");
    }
}

async fn unsupported_methods_answer_405_with_allow(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A title").await;
    for (path, methods) in [
        (post.path.as_str(), vec!["GET", "HEAD", "PATCH", "DELETE"]),
        ("/posts", vec!["GET", "HEAD", "POST"]),
    ] {
        for caller in [world.anyone(), ann.anonymous()] {
            let reply = caller
                .call("PUT", path)
                .await
                .expect_error(405, "method_not_allowed");
            let allow: Vec<&str> = reply.header("allow").split(',').map(str::trim).collect();
            assert!(
                methods.iter().all(|method| allow.contains(method)) && !allow.contains(&"PUT"),
                "{reply}"
            );
            let options = caller.call("OPTIONS", path).await.expect(204);
            let offered: Vec<&str> = options.header("allow").split(',').map(str::trim).collect();
            assert!(methods.iter().all(|method| offered.contains(method)), "{options}");
        }
    }
    ann.call("TRACE", &post.path).await.expect(405);
    ann.call("BREW", &post.path).await.expect(405);
    ann.post(&post.path)
        .header("x-http-method-override", "DELETE")
        .await
        .expect(405);
    ann.get(&post.path)
        .header("x-http-method-override", "DELETE")
        .await
        .expect(200);
    ann.get(&post.path).await.expect(200);
}

on_every_shape!(
    writes_and_reads_return_the_same_post,
    body_and_status_have_defaults,
    lengths_are_counted_in_characters,
    every_invalid_member_is_reported,
    post_ids_have_one_spelling,
    head_returns_the_headers_of_get,
    unsupported_methods_answer_405_with_allow,
);
