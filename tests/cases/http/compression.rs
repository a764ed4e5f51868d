//! Content coding, and entity tags of coded responses.

use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::io::Read as _;
use tests::{Caller, PASSWORD, Post, Reply, SharedWorld, User, on_every_shape};

fn is_gzip(reply: &Reply) -> bool {
    reply.has("content-encoding") && reply.header("content-encoding") == "gzip"
}

fn gunzip(reply: &Reply) -> String {
    let mut text = String::new();
    GzDecoder::new(reply.body.as_slice())
        .read_to_string(&mut text)
        .unwrap();
    text
}

async fn long_post(ann: &User) -> Post {
    ann.make_post(json!({ "title": "Long", "body": "word ".repeat(2_000), "status": "published" }))
        .await
}

/// A copy of a caller that accepts compressed responses.
fn accepting_gzip(caller: &Caller) -> Caller {
    caller.with("accept-encoding", "gzip, deflate, br")
}

async fn long_text_is_compressed_if_the_client_accepts_it(world: SharedWorld) {
    let ann = world.user().await;
    let (long, short) = (long_post(&ann).await, ann.publish("Short").await);
    for path in [&long.path, "/posts", "/assets/latchkey.css"] {
        let (plain, compressed) = (ann.get(path).await, accepting_gzip(&ann).get(path).await);
        assert!(is_gzip(&compressed) && !is_gzip(&plain), "{path}: {compressed}");
        assert_eq!(gunzip(&compressed), plain.text(), "{path}");
        assert!(compressed.body.len() < plain.body.len(), "{path}");
        for reply in [&plain, &compressed] {
            let vary = reply.header("vary").to_ascii_lowercase();
            assert!(
                vary.split(", ").any(|name| name == "accept-encoding"),
                "{path}: {reply}"
            );
        }
    }
    assert!(!is_gzip(&accepting_gzip(&ann).get(&short.path).await));
    for accept in [
        "",
        "identity",
        "br",
        "gzip;q=0",
        "*;q=0",
        "identity;q=0, br",
        "gzip;q=0.5, identity",
    ] {
        let caller = ann.with("accept-encoding", accept);
        let reply = caller.get(&long.path).await.expect(200);
        assert!(!is_gzip(&reply), "{accept:?}: {reply}");
    }
    for accept in ["gzip", "GZIP", "*", "br, gzip;q=0.1", "x-gzip"] {
        let caller = ann.with("accept-encoding", accept);
        assert!(is_gzip(&caller.get(&long.path).await), "{accept:?}");
    }
}

async fn entity_tags_of_either_coding_match(world: SharedWorld) {
    let ann = world.user().await;
    let post = long_post(&ann).await;
    let gzip_caller = accepting_gzip(&ann);
    let tag = |reply: &Reply| reply.header("etag").to_owned();
    let (plain, compressed) = (
        tag(&ann.get(&post.path).await),
        tag(&gzip_caller.get(&post.path).await),
    );
    assert_ne!(plain, compressed, "strong tags differ between codings");
    assert!(
        !compressed.starts_with("W/") && compressed.starts_with('"'),
        "{compressed}"
    );
    for known in [
        &plain,
        &compressed,
        &format!("W/{compressed}"),
        &format!("\"x\", {compressed}"),
    ] {
        for (caller, own) in [(&*ann, &plain), (&gzip_caller, &compressed)] {
            let reply = caller
                .get(&post.path)
                .header("if-none-match", known)
                .await
                .expect(304);
            assert_eq!(&tag(&reply), own, "a 304 has the tag of its 200");
            assert!(reply.body.is_empty() && !reply.has("content-encoding"), "{reply}");
            assert!(reply.has("vary") && !reply.has("content-type"), "{reply}");
        }
    }
    let patch = |tag: &str, title: &str| {
        gzip_caller
            .patch(&post.path)
            .header("if-match", tag)
            .json(&json!({ "title": title }))
    };
    let changed = patch(&compressed, "Once").await.expect(200);
    patch(&compressed, "Stale")
        .await
        .expect_error(412, "precondition_failed");
    patch(&plain, "Stale")
        .await
        .expect_error(412, "precondition_failed");
    patch(&tag(&changed), "Twice").await.expect(200);
    let read = tag(&gzip_caller.get(&post.path).await);
    gzip_caller
        .delete(&post.path)
        .header("if-match", &compressed)
        .await
        .expect(412);
    gzip_caller
        .delete(&post.path)
        .header("if-match", &read)
        .await
        .expect(204);
}

async fn head_matches_get_under_compression(world: SharedWorld) {
    let ann = world.user().await;
    let post = long_post(&ann).await;
    let gzip_caller = accepting_gzip(&ann);
    for path in [post.path.as_str(), "/assets/latchkey.css"] {
        let (get, head) = (gzip_caller.get(path).await, gzip_caller.call("HEAD", path).await);
        assert!(is_gzip(&head) && head.body.is_empty(), "{head}");
        for name in ["etag", "vary", "content-type", "cache-control"] {
            assert_eq!(head.headers.get(name), get.headers.get(name), "{path}: {name}");
        }
        let bare = ann.get(path).await.body.len().to_string();
        let length = head.headers.get("content-length");
        assert!(
            length.is_none_or(|length| length.as_bytes() != bare.as_bytes()),
            "{head}"
        );
    }
}

async fn responses_that_may_hold_a_secret_are_not_compressed(world: SharedWorld) {
    let ann = world.user().await;
    let gzip_caller = accepting_gzip(&ann);
    let page = accepting_gzip(&world.anyone()).get(&format!("/signin?flow=device:{}", "x".repeat(4_000)));
    let page = page.await.expect(200);
    assert!(page.body.len() > 4_000 && !is_gzip(&page), "{page}");
    let post = json!({ "title": "Long", "body": "word ".repeat(2_000) });
    let made = gzip_caller.post("/posts").json(&post).await.expect(201);
    assert!(!is_gzip(&made) && made.json()["title"] == "Long", "{made}");
    let login = json!({ "email": ann.email, "password": PASSWORD });
    let login = accepting_gzip(&world.anyone())
        .post("/login")
        .json(&login)
        .await
        .expect(200);
    assert!(!is_gzip(&login) && !is_gzip(&gzip_caller.get("/csrf").await));
    let app = world.app().register();
    let tokens = app.tokens(&ann, "posts:read").await;
    let refreshed = app
        .refresh(&accepting_gzip(&world.anyone()), &tokens.refresh)
        .await
        .expect(200);
    assert!(!is_gzip(&refreshed) && refreshed.json()["access_token"] != Value::Null);
}

on_every_shape!(
    long_text_is_compressed_if_the_client_accepts_it,
    entity_tags_of_either_coding_match,
    head_matches_get_under_compression,
    responses_that_may_hold_a_secret_are_not_compressed,
);
