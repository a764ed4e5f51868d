//! Drafts are visible to their author, to editors and to administrators. Everyone else gets the response for
//! a post that does not exist.

use serde_json::json;
use tests::{Caller, SharedWorld, User, World, on_every_shape};

/// Expects the same response for a hidden post and for one that never existed.
async fn expect_indistinguishable(caller: &Caller, hidden: &str, missing: &str) {
    for method in ["GET", "HEAD", "DELETE", "PATCH"] {
        for (name, value) in [
            ("if-match", "*"),
            ("if-match", "\"x\""),
            ("if-none-match", "*"),
            ("accept", "*/*"),
        ] {
            let ask = |path: &str| {
                let call = caller.call(method, path).header(name, value);
                if method == "PATCH" {
                    call.json(&json!({ "title": "x" }))
                } else {
                    call
                }
            };
            let (there, nowhere) = (ask(hidden).await, ask(missing).await);
            assert_eq!(
                there.comparable_parts(),
                nowhere.comparable_parts(),
                "{method} with {name}: {value}"
            );
            assert!([401, 404].contains(&there.status), "{there}");
        }
    }
}

async fn drafts_are_hidden_from_other_users(world: World) {
    let (ann, bob) = (world.user().await, world.user().await);
    let draft = ann.draft("A secret").await;
    let anonymous = world.anyone();
    for caller in [anonymous, bob.anonymous().session(&bob.sid, &bob.csrf)] {
        expect_indistinguishable(&caller, &draft.path, "/posts/999999").await;
    }
    for query in [
        "",
        "?status=draft",
        &format!("?author_id={}", ann.id),
        &format!("?status=draft&author_id={}", ann.id),
    ] {
        let list = bob.get(&format!("/posts{query}")).await.expect(200).json();
        assert_eq!(
            list,
            json!({ "items": [], "next": null, "links": { "next": null, "prev": null } }),
            "{query}"
        );
    }
    let read = ann.get(&draft.path).await.expect(200);
    assert_eq!(read.header("etag"), draft.etag);
}

async fn published_posts_are_public_until_they_are_unpublished(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    world.anyone().get(&post.path).await.expect(200);
    ann.patch(&post.path)
        .header("if-match", "*")
        .json(&json!({ "status": "draft" }))
        .await
        .expect(200);
    let seen = world
        .anyone()
        .get(&post.path)
        .header("if-none-match", &post.etag)
        .await;
    seen.expect_error(404, "not_found");
}

async fn may_edit_all(user: &User, author: &User) {
    for post in [author.draft("A draft").await, author.publish("A post").await] {
        user.get(&post.path).await.expect(200);
        let edit = user
            .patch(&post.path)
            .header("if-match", &post.etag)
            .json(&json!({ "title": "Edited" }));
        let edited = edit.await.expect(200).json();
        assert_eq!(
            (&edited["title"], &edited["author_id"]),
            (&json!("Edited"), &json!(author.id))
        );
        let of_author = format!("/posts?author_id={}", author.id);
        let list = user.get(&of_author).await.expect(200).json();
        assert!(list["items"].as_array().unwrap().contains(&edited), "{list}");
        user.delete(&post.path).await.expect(204);
        author.get(&post.path).await.expect_error(404, "not_found");
    }
}

async fn editors_and_administrators_see_and_edit_everything(world: SharedWorld) {
    let author = world.user().await;
    for role in ["editor", "admin"] {
        may_edit_all(&world.user_with_role(role).await, &author).await;
    }
}

async fn other_users_cannot_edit_published_posts(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    let post = ann.publish("A post").await;
    let edit = bob
        .patch(&post.path)
        .header("if-match", &post.etag)
        .json(&json!({ "title": "Mine" }));
    edit.await.expect_error(403, "forbidden");
    bob.delete(&post.path).await.expect_error(403, "forbidden");
    assert_eq!(ann.get(&post.path).await.expect(200).json(), post.record);
}

async fn anonymous_callers_neither_list_nor_write(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    let anyone = world.anyone();
    anyone.get("/posts").await.expect_error(401, "unauthenticated");
    anyone
        .post("/posts")
        .json(&json!({ "title": "x" }))
        .await
        .expect_error(401, "unauthenticated");
    let edit = anyone
        .patch(&post.path)
        .header("if-match", "*")
        .json(&json!({ "title": "x" }));
    edit.await.expect_error(401, "unauthenticated");
    anyone
        .delete(&post.path)
        .await
        .expect_error(401, "unauthenticated");
}

on_every_shape!(
    drafts_are_hidden_from_other_users,
    published_posts_are_public_until_they_are_unpublished,
    editors_and_administrators_see_and_edit_everything,
    other_users_cannot_edit_published_posts,
    anonymous_callers_neither_list_nor_write,
);
