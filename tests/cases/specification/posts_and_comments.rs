//! Section 4.1 of the API specification: posts and comments.

use super::NO_POST;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use storage::fetch_one;
use tests::{SharedWorld, User, World, follow_pages, ids, items, on_every_shape};

/// Inserts published posts created at these microseconds, in this order. Returns their ids.
async fn posts_at(world: &World, author: &User, times: impl IntoIterator<Item = i64>) -> Vec<i64> {
    let db = world.db().await;
    let mut tx = db.begin().await.unwrap();
    let mut ids = Vec::new();
    let insert =
        "INSERT INTO posts (author_id, title, body, status, version, created_at, updated_at, published_at)
                  VALUES ($1, 'A post', '', 'published', 1, $2, $2, $2) RETURNING id";
    for at in times {
        let at = 1_700_000_000_000_000 + at;
        let row = fetch_one!(tx.on(), (i64,), insert, author.id, at);
        ids.push(row.unwrap().0);
    }
    tx.commit().await.unwrap();
    ids
}

/// The ids of the only page of a query.
async fn listed(user: &User, query: &str) -> Vec<i64> {
    let page = user.get(&format!("/posts?{query}")).await.expect(200);
    ids(&items(&page))
}

/// 4.1, list posts: "200 with the collection envelope (`items`, `next`)".
async fn list_posts_answers_200_with_the_collection_envelope(world: World) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    let list = ann.get("/posts").await.expect(200).json();
    assert_eq!(list["items"], json!([post.record]));
    assert_eq!(list.get("next"), Some(&Value::Null), "{list}");
}

/// 4.1, list posts: "20 items per page; default order `created_at` descending then `id` descending".
async fn list_posts_returns_20_per_page_by_created_at_and_id_descending(world: World) {
    let ann = world.user().await;
    // Three posts at each of eight times that do not follow the order of the ids.
    let times: Vec<i64> = (0..24).map(|n| (n * 5) % 8).collect();
    let made = posts_at(&world, &ann, times.clone()).await;
    let mut posts: Vec<(i64, i64)> = times.into_iter().zip(made).collect();
    posts.sort_unstable();
    let newest_first: Vec<i64> = posts.into_iter().rev().map(|(_, id)| id).collect();
    assert_eq!(listed(&ann, "").await, newest_first[..20]);
}

/// 4.1, list posts, query: "`cursor` (string, optional)". One that cannot be decoded is ignored.
async fn list_posts_takes_an_optional_cursor(world: World) {
    let ann = world.user().await;
    let made = posts_at(&world, &ann, 0..21).await;
    let first = ann.get("/posts").await.expect(200);
    let next = first.json()["next"].as_str().unwrap().to_owned();
    assert_eq!(listed(&ann, &format!("cursor={next}")).await, made[..1]);
    assert_eq!(listed(&ann, "cursor=nonsense").await, ids(&items(&first)));
}

/// 4.1, list posts, query: "filter `status` (`draft` or `published`)".
async fn list_posts_filters_by_status(world: World) {
    let ann = world.user().await;
    let (draft, published) = (ann.draft("A draft").await, ann.publish("A post").await);
    assert_eq!(listed(&ann, "status=draft").await, [draft.id]);
    assert_eq!(listed(&ann, "status=published").await, [published.id]);
}

/// 4.1, list posts, query: "filter `author_id` (digits only)".
async fn list_posts_filters_by_author(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    let (anns, bobs) = (ann.publish("Ann's").await, bob.publish("Bob's").await);
    assert_eq!(listed(&ann, &format!("author_id={}", ann.id)).await, [anns.id]);
    assert_eq!(listed(&ann, &format!("author_id={}", bob.id)).await, [bobs.id]);
}

/// 4.1, list posts: "401".
async fn list_posts_rejects_an_unauthenticated_caller(world: SharedWorld) {
    let reply = world.anyone().get("/posts").await;
    reply.expect_error(401, "unauthenticated");
}

/// 4.1, create post: "201 with header `Location` pointing to `/posts/<id>`".
async fn create_post_answers_201_with_its_location(world: SharedWorld) {
    let ann = world.user().await;
    let call = ann.post("/posts").json(&json!({ "title": "A post" }));
    let made = call.await.expect(201);
    let post = made.json();
    assert_eq!(made.header("location"), format!("/posts/{}", post["id"]));
    let read = ann.get(made.header("location")).await.expect(200);
    assert_eq!(read.json(), post);
}

/// 4.1, create post: "422 validation".
async fn create_post_rejects_invalid_input(world: World) {
    let ann = world.user().await;
    for (body, pointer) in [
        (json!({}), "/title"),
        (json!({ "title": "" }), "/title"),
        (json!({ "title": 7 }), "/title"),
        (json!({ "title": "A post", "status": "archived" }), "/status"),
    ] {
        let reply = ann.post("/posts").json(&body).await;
        reply.expect_validation_errors(&[pointer]);
    }
    assert!(listed(&ann, "").await.is_empty());
}

/// 4.1, create post: "401".
async fn create_post_rejects_an_unauthenticated_caller(world: SharedWorld) {
    let call = world.anyone().post("/posts").json(&json!({ "title": "A post" }));
    call.await.expect_error(401, "unauthenticated");
}

/// 4.1, read post: "200 with header `ETag`".
async fn read_post_answers_200_with_an_etag(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    let read = world.anyone().get(&post.path).await.expect(200);
    assert_eq!(read.json(), post.record);
    let again = ann.get(&post.path).await.expect(200);
    assert_eq!(read.header("etag"), again.header("etag"));
}

/// 4.1, read post: "404".
async fn read_post_answers_404_for_a_missing_post(world: SharedWorld) {
    let ann = world.user().await;
    let reply = ann.get(NO_POST).await;
    reply.expect_error(404, "not_found");
}

/// 4.1, update post: "partial JSON body with only the changed fields … 200 with a new `ETag`".
async fn update_post_changes_the_given_fields_and_returns_a_new_etag(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("First").await;
    let call = ann.patch(&post.path).header("if-match", &post.etag);
    let changed = call.json(&json!({ "title": "Second" })).await.expect(200);
    assert_ne!(changed.header("etag"), post.etag);
    let read = ann.get(&post.path).await.expect(200);
    assert_eq!(read.header("etag"), changed.header("etag"));
    assert_eq!(read.json()["title"], "Second");
    assert_eq!(read.json()["body"], post.record["body"]);
    assert_eq!(read.json()["status"], post.record["status"]);
}

/// 4.1, update post: "404".
async fn update_post_answers_404_for_a_missing_post(world: SharedWorld) {
    let ann = world.user().await;
    let call = ann.patch(NO_POST).header("if-match", "\"1\"");
    let reply = call.json(&json!({ "title": "Second" })).await;
    reply.expect_error(404, "not_found");
}

/// 4.1, update post: "428 when `If-Match` is missing".
async fn update_post_answers_428_without_if_match(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("First").await;
    let call = ann.patch(&post.path).json(&json!({ "title": "Second" }));
    call.await.expect_error(428, "precondition_required");
}

/// 4.1, update post: "412 when the tag is stale".
async fn update_post_answers_412_for_a_stale_tag(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("First").await;
    let edit = |title: &str| {
        let call = ann.patch(&post.path).header("if-match", &post.etag);
        call.json(&json!({ "title": title }))
    };
    edit("Second").await.expect(200);
    edit("Third").await.expect_error(412, "precondition_failed");
    assert_eq!(ann.get(&post.path).await.expect(200).json()["title"], "Second");
}

/// 4.1, delete post: "204 with no body".
async fn delete_post_answers_204_with_no_body(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    let gone = ann.delete(&post.path).await.expect(204);
    assert!(gone.body.is_empty(), "{gone}");
    ann.get(&post.path).await.expect_error(404, "not_found");
}

/// 4.1, delete post: "404".
async fn delete_post_answers_404_for_a_missing_post(world: SharedWorld) {
    let ann = world.user().await;
    ann.delete(NO_POST).await.expect_error(404, "not_found");
    let post = ann.publish("A post").await;
    ann.delete(&post.path).await.expect(204);
    ann.delete(&post.path).await.expect_error(404, "not_found");
}

/// 4.1, add comment: "201 with header `Location`".
async fn add_comment_answers_201_with_its_location(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    let post = ann.publish("A post").await;
    let call = bob.post(&post.comments()).json(&json!({ "body": "A comment" }));
    let made = call.await.expect(201);
    let read = world.anyone().get(made.header("location")).await;
    assert_eq!(read.expect(200).json(), made.json());
}

/// 4.1, add comment: "404".
async fn add_comment_answers_404_for_a_missing_post(world: SharedWorld) {
    let ann = world.user().await;
    let call = ann.post(&format!("{NO_POST}/comments"));
    let reply = call.json(&json!({ "body": "A comment" })).await;
    reply.expect_error(404, "not_found");
}

/// 4.1, add comment: "422".
async fn add_comment_rejects_invalid_input(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    for body in [json!({}), json!({ "body": "" }), json!({ "body": null })] {
        let reply = ann.post(&post.comments()).json(&body).await;
        reply.expect_validation_errors(&["/body"]);
    }
}

/// 4.1, list comments: "200"; Latchkey's choice: the collection envelope, newest first, and 404 without a
/// post.
async fn list_comments_answers_200(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    let (post, other) = (ann.publish("A post").await, ann.publish("Another").await);
    let first = ann.comment(&post, "First").await;
    let second = bob.comment(&post, "Second").await;
    ann.comment(&other, "Elsewhere").await;
    let list = world.anyone().get(&post.comments()).await.expect(200);
    assert_eq!(items(&list), [second.record, first.record]);
    let nowhere = ann.get(&format!("{NO_POST}/comments")).await;
    nowhere.expect_error(404, "not_found");
}

/// 4.1, list posts: "a sort choice limited to `created_at` or `title`". Rule 1: the name of the parameter is
/// Latchkey's choice, `sort`; titles ascend.
async fn rule_1_the_sort_parameter_takes_created_at_or_title(world: World) {
    let ann = world.user().await;
    let (b, a) = (ann.publish("B").await.id, ann.publish("A").await.id);
    let c = ann.publish("C").await.id;
    assert_eq!(listed(&ann, "sort=created_at").await, [c, a, b]);
    assert_eq!(listed(&ann, "sort=title").await, [a, b, c]);
    assert_eq!(listed(&ann, "sort=updated_at").await, [c, a, b]);
}

/// 4.1, rule 2: a filter value outside the allowed list and an unknown field "is ignored; the request is not
/// rejected".
async fn rule_2_invalid_filters_are_ignored(world: World) {
    let ann = world.user().await;
    let (first, second) = (ann.draft("A draft").await.id, ann.publish("A post").await.id);
    for query in [
        "status=archived",
        "status=Draft",
        "author_id=12x",
        "author_id=-1",
        "title=A+draft",
        "color=red",
    ] {
        assert_eq!(listed(&ann, query).await, [second, first], "{query}");
    }
}

/// 4.1, rule 3: "The next page is requested by passing the `next` value as `cursor`".
async fn rule_3_the_next_page_is_requested_by_passing_next_as_cursor(world: World) {
    let ann = world.user().await;
    let mut expected = posts_at(&world, &ann, 0..45).await;
    expected.reverse();
    let (mut found, mut query) = (Vec::new(), String::new());
    for size in [20, 20, 5] {
        let page = ann.get(&format!("/posts?{query}")).await.expect(200);
        assert_eq!(items(&page).len(), size);
        found.extend(ids(&items(&page)));
        query = format!("cursor={}", page.json()["next"].as_str().unwrap_or("the end"));
    }
    assert_eq!((found, query.as_str()), (expected, "cursor=the end"));
}

/// 4.1, rule 3: "`next` is non-null only when the page holds exactly 20 items".
async fn rule_3_next_is_non_null_only_when_the_page_holds_20_items(world: World) {
    let ann = world.user().await;
    posts_at(&world, &ann, 0..19).await;
    assert!(ann.get("/posts").await.expect(200).json()["next"].is_null());
    posts_at(&world, &ann, [19]).await;
    let full = ann.get("/posts").await.expect(200).json();
    let next = full["next"].as_str().unwrap();
    let empty = ann.get(&format!("/posts?cursor={next}")).await.expect(200);
    assert_eq!((items(&empty).len(), &empty.json()["next"]), (0, &Value::Null));
}

/// 4.1, rule 3: `next` "encodes the `created_at` and `id` of the last item".
async fn rule_3_next_encodes_the_created_at_and_id_of_the_last_item(world: World) {
    let ann = world.user().await;
    posts_at(&world, &ann, 0..21).await;
    let page = ann.get("/posts").await.expect(200).json();
    let cursor = foundation::secret::decode(page["next"].as_str().unwrap()).unwrap();
    let cursor: Value = serde_json::from_slice(&cursor).unwrap();
    let last = &page["items"][19];
    assert_eq!(
        cursor,
        json!({ "created_at": last["created_at"], "id": last["id"] })
    );
}

/// 4.1, rule 3: a page is "by the composite key (`created_at`, `id`) strictly before the cursor's key, in
/// descending order".
async fn rule_3_a_page_is_strictly_before_its_cursor_by_the_composite_key(world: World) {
    let ann = world.user().await;
    // Equal times across the end of the first page, so that the time alone would skip or repeat items.
    let times: Vec<i64> = (0..45).map(|n| n / 15).collect();
    let mut expected = posts_at(&world, &ann, times).await;
    expected.reverse();
    let pages = follow_pages(&ann, "/posts").await;
    let found: Vec<Value> = pages.iter().flat_map(items).collect();
    assert_eq!(ids(&found), expected);
}

/// 4.1, rule 4: "Offsets are not used". New posts shift no page.
async fn rule_4_offsets_are_not_used(world: World) {
    let ann = world.user().await;
    let made = posts_at(&world, &ann, 0..25).await;
    let first = ann.get("/posts").await.expect(200);
    let with_offsets = listed(&ann, "offset=1&skip=1&page=2&limit=1").await;
    assert_eq!(with_offsets, ids(&items(&first)));
    ann.publish("Meanwhile").await;
    let next = first.json()["next"].as_str().unwrap().to_owned();
    let second: BTreeSet<i64> = listed(&ann, &format!("cursor={next}"))
        .await
        .into_iter()
        .collect();
    assert_eq!(second, made[..5].iter().copied().collect());
}

/// 4.1, rule 5: there is no "full-replacement PUT of a post", and "partial update is by PATCH".
async fn rule_5_there_is_no_put_of_a_post(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    let call = ann.call("PUT", &post.path).header("if-match", &post.etag);
    let reply = call.json(&json!({ "title": "Replaced" })).await;
    let reply = reply.expect_error(405, "method_not_allowed");
    let allowed: Vec<&str> = reply.header("allow").split(',').map(str::trim).collect();
    assert!(allowed.contains(&"PATCH") && !allowed.contains(&"PUT"), "{reply}");
}

/// 4.1, rule 6: "Write bodies containing an unknown field are refused with 422".
async fn rule_6_a_write_with_an_unknown_field_is_rejected(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    for call in [
        ann.post("/posts").json(&json!({ "title": "x", "color": "red" })),
        ann.patch(&post.path)
            .header("if-match", &post.etag)
            .json(&json!({ "title": "x", "color": "red" })),
        ann.post(&post.comments())
            .json(&json!({ "body": "x", "color": "red" })),
    ] {
        call.await.expect_validation_errors(&["/color"]);
    }
    let read = ann.get(&post.path).await.expect(200);
    assert_eq!(read.json(), post.record);
}

on_every_shape!(
    list_posts_answers_200_with_the_collection_envelope,
    list_posts_returns_20_per_page_by_created_at_and_id_descending,
    list_posts_takes_an_optional_cursor,
    list_posts_filters_by_status,
    list_posts_filters_by_author,
    list_posts_rejects_an_unauthenticated_caller,
    create_post_answers_201_with_its_location,
    create_post_rejects_invalid_input,
    create_post_rejects_an_unauthenticated_caller,
    read_post_answers_200_with_an_etag,
    read_post_answers_404_for_a_missing_post,
    update_post_changes_the_given_fields_and_returns_a_new_etag,
    update_post_answers_404_for_a_missing_post,
    update_post_answers_428_without_if_match,
    update_post_answers_412_for_a_stale_tag,
    delete_post_answers_204_with_no_body,
    delete_post_answers_404_for_a_missing_post,
    add_comment_answers_201_with_its_location,
    add_comment_answers_404_for_a_missing_post,
    add_comment_rejects_invalid_input,
    list_comments_answers_200,
    rule_1_the_sort_parameter_takes_created_at_or_title,
    rule_2_invalid_filters_are_ignored,
    rule_3_the_next_page_is_requested_by_passing_next_as_cursor,
    rule_3_next_is_non_null_only_when_the_page_holds_20_items,
    rule_3_next_encodes_the_created_at_and_id_of_the_last_item,
    rule_3_a_page_is_strictly_before_its_cursor_by_the_composite_key,
    rule_4_offsets_are_not_used,
    rule_5_there_is_no_put_of_a_post,
    rule_6_a_write_with_an_unknown_field_is_rejected,
);
