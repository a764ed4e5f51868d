//! Pages of comments: each comment once, in order, forward and back.

use serde_json::json;
use storage::fetch_one;
use tests::{
    Post, SharedWorld, User, World, cursor, expect_cursor_outlives_item, expect_pages_of_45,
    expect_prev_stops_at_first_page, follow_pages, ids, items, link, on_every_shape,
};

const START: i64 = 1_700_000_000_000_000;

/// Inserts comments at these microseconds, in this order. Returns their ids.
async fn insert(
    world: &World,
    post: &Post,
    author: &User,
    micros: impl IntoIterator<Item = i64>,
) -> Vec<i64> {
    let db = world.db().await;
    let mut tx = db.begin().await.unwrap();
    let mut ids = Vec::new();
    for at in micros {
        let insert = "INSERT INTO comments (post_id, author_id, body, created_at)
                      VALUES ($1, $2, 'A comment', $3) RETURNING id";
        let row = fetch_one!(tx.on(), (i64,), insert, post.id, author.id, START + at);
        ids.push(row.unwrap().0);
    }
    tx.commit().await.unwrap();
    ids
}

fn reversed(ids: &[i64]) -> Vec<i64> {
    ids.iter().rev().copied().collect()
}

/// Pages through 45 comments at these microseconds, interleaved with comments on another post, ascending and
/// descending.
async fn expect_pages_in_both_orders(world: &World, at: impl Fn(i64) -> i64) {
    let ann = world.user().await;
    let (post, other) = (ann.publish("A post").await, ann.publish("Another").await);
    let mut oldest_first = Vec::new();
    for n in 0..45 {
        oldest_first.extend(insert(world, &post, &ann, [at(n)]).await);
        if n % 9 == 0 {
            insert(world, &other, &ann, [at(n)]).await;
        }
    }
    let list = post.comments();
    for query in [
        "",
        "?order=desc",
        "?sort=created_at",
        "?sort=title",
        "?status=draft&order=up",
    ] {
        let found = expect_pages_of_45(&world.anyone(), &format!("{list}{query}")).await;
        assert_eq!(ids(&found), reversed(&oldest_first), "{query}");
    }
    for query in ["?order=asc", "?sort=title&order=asc"] {
        let found = expect_pages_of_45(&ann, &format!("{list}{query}")).await;
        assert_eq!(ids(&found), oldest_first, "{query}");
    }
}

async fn comments_a_microsecond_apart_are_all_listed_once(world: SharedWorld) {
    expect_pages_in_both_orders(&world, |n| n).await;
}

async fn comments_of_the_same_instant_are_all_listed_once(world: SharedWorld) {
    expect_pages_in_both_orders(&world, |_| 0).await;
}

async fn a_full_last_page_is_followed_by_an_empty_one(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    let empty = ann.get(&post.comments()).await.expect(200);
    assert_eq!(
        empty.json(),
        json!({ "items": [], "next": null, "links": { "next": null, "prev": null } })
    );
    insert(&world, &post, &ann, 0..20).await;
    let pages = follow_pages(&ann, &post.comments()).await;
    let sizes: Vec<usize> = pages.iter().map(|page| items(page).len()).collect();
    assert_eq!(sizes, [20, 0]);
    let back = ann.get(&link(&pages[1], "prev").unwrap()).await.expect(200);
    assert_eq!(back.json(), pages[0].json());
}

async fn the_author_filter_narrows_and_is_kept_in_links(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    let post = ann.publish("A post").await;
    let anns = insert(&world, &post, &ann, (0..45).map(|n| 2 * n)).await;
    let bobs = insert(&world, &post, &bob, (0..3).map(|n| 2 * n + 1)).await;
    let list = post.comments();
    for (order, expected) in [("asc", anns.clone()), ("desc", reversed(&anns))] {
        let path = format!("{list}?order={order}&author_id={}", ann.id);
        assert_eq!(ids(&expect_pages_of_45(&bob, &path).await), expected);
    }
    let (everything, ann_id, bob_id) = (ann.get(&list).await.expect(200), ann.id, bob.id);
    for (query, expected) in [
        (format!("author_id={bob_id}"), reversed(&bobs)),
        (
            format!("author_id=x&author_id=00{bob_id}&author_id={ann_id}"),
            reversed(&bobs),
        ),
        ("author_id=0".to_owned(), vec![]),
        ("author_id=99999999999999999999999".to_owned(), vec![]),
        (format!("author_id=%2B{bob_id}"), ids(&items(&everything))),
        ("limit=1&post_id=1&x=%FF".to_owned(), ids(&items(&everything))),
    ] {
        let page = ann.get(&format!("{list}?{query}")).await.expect(200);
        assert_eq!(ids(&items(&page)), expected, "{query}");
    }
}

async fn invalid_cursors_return_the_first_page(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    insert(&world, &post, &ann, 0..25).await;
    let list = post.comments();
    let first = ann.get(&list).await.expect(200);
    let good = first.json()["next"].as_str().unwrap().to_owned();
    for cursor in [
        "",
        "x",
        "!!!",
        &format!("{good}!"),
        &good[1..],
        &"A".repeat(5_000),
    ] {
        for more in ["", "&dir=prev", "&dir=nonsense"] {
            let page = ann
                .get(&format!("{list}?cursor={cursor}{more}"))
                .await
                .expect(200);
            assert_eq!(page.json(), first.json(), "{cursor}{more}");
        }
    }
}

async fn a_cursor_survives_the_deletion_of_its_comment(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    insert(&world, &post, &ann, (0..45).map(|n| n / 10)).await;
    for query in ["?", "?order=asc&"] {
        expect_cursor_outlives_item(&ann, &post.comments(), query).await;
    }
}

async fn cursors_stay_within_their_post(world: SharedWorld) {
    let ann = world.user().await;
    let (post, draft) = (ann.publish("A post").await, ann.draft("A draft").await);
    let shown = insert(&world, &post, &ann, 0..3).await;
    insert(&world, &draft, &ann, 0..25).await;
    let newest = &items(&ann.get(&draft.comments()).await.expect(200))[0];
    let cursor = cursor(&newest["created_at"], &newest["id"]);
    let page = world
        .anyone()
        .get(&format!("{}?cursor={cursor}", post.comments()));
    assert_eq!(ids(&items(&page.await.expect(200))), reversed(&shown));
}

async fn going_back_past_the_start_returns_the_first_page(world: SharedWorld) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    insert(&world, &post, &ann, 0..45).await;
    for query in ["?", "?order=asc&"] {
        expect_prev_stops_at_first_page(&ann, &post.comments(), query).await;
    }
}

on_every_shape!(
    comments_a_microsecond_apart_are_all_listed_once,
    comments_of_the_same_instant_are_all_listed_once,
    a_full_last_page_is_followed_by_an_empty_one,
    the_author_filter_narrows_and_is_kept_in_links,
    invalid_cursors_return_the_first_page,
    a_cursor_survives_the_deletion_of_its_comment,
    cursors_stay_within_their_post,
    going_back_past_the_start_returns_the_first_page,
);
