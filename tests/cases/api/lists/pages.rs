//! Pages: each post once, in order, forward and back.

use super::{follow_pages, insert, items, title};
use serde_json::json;
use tests::{Caller, World, on_every_shape};

/// Pages forward and back by `prev`. Expects these titles in this order, 20 + 20 + 5.
async fn expect_pages_of_45(caller: &Caller, query: &str, titles: &[String]) {
    let posts = tests::expect_pages_of_45(caller, &format!("/posts{query}")).await;
    let found: Vec<&str> = posts.iter().map(|post| post["title"].as_str().unwrap()).collect();
    assert_eq!(found, titles, "{query}");
}

/// Pages through 45 posts, sorted by `created_at` and by `title`, ascending and descending. The id breaks
/// ties.
async fn expect_pages_in_both_orders(world: World, posts: Vec<(String, i64)>) {
    let ann = world.user().await;
    insert(&world, &ann, posts.clone()).await;
    let mut numbered: Vec<(usize, (String, i64))> = posts.into_iter().enumerate().collect();
    let titles =
        |posts: &[(usize, (String, i64))]| posts.iter().map(|(_, post)| post.0.clone()).collect::<Vec<_>>();
    let reversed = |posts: &[(usize, (String, i64))]| titles(posts).into_iter().rev().collect::<Vec<_>>();
    numbered.sort_by_key(|(id, (_, at))| (*at, *id));
    for query in [
        "",
        "?sort=created_at",
        "?order=desc",
        "?sort=created_at&order=desc",
    ] {
        expect_pages_of_45(&ann, query, &reversed(&numbered)).await;
    }
    expect_pages_of_45(&ann, "?order=asc", &titles(&numbered)).await;
    numbered.sort_by(|(id, (title, _)), (other_id, (other, _))| {
        title.as_bytes().cmp(other.as_bytes()).then(id.cmp(other_id))
    });
    expect_pages_of_45(&ann, "?sort=title", &titles(&numbered)).await;
    expect_pages_of_45(&ann, "?sort=title&order=desc", &reversed(&numbered)).await;
}

async fn posts_a_microsecond_apart_are_all_listed_once(world: World) {
    expect_pages_in_both_orders(world, (0..45).map(|n| (title(n), n)).collect()).await;
}

async fn posts_of_the_same_instant_are_all_listed_once(world: World) {
    expect_pages_in_both_orders(world, (0..45).map(|n| (title(n), 0)).collect()).await;
}

async fn posts_of_the_same_title_are_all_listed_once(world: World) {
    let ann = world.user().await;
    insert(&world, &ann, (0..45).map(|n| ("same".to_owned(), n))).await;
    for query in [
        "?sort=title",
        "?sort=title&order=desc",
        "?sort=title&status=published",
    ] {
        let pages = follow_pages(&ann, query).await;
        let mut ids: Vec<i64> = pages
            .iter()
            .flat_map(items)
            .map(|post| post["id"].as_i64().unwrap())
            .collect();
        assert!(
            if query.contains("desc") {
                ids.is_sorted_by(|a, b| a > b)
            } else {
                ids.is_sorted()
            },
            "{query}"
        );
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 45, "{query}");
    }
}

async fn a_full_last_page_is_followed_by_an_empty_one(world: World) {
    let ann = world.user().await;
    let empty = ann.get("/posts").await.expect(200);
    assert_eq!(
        empty.json(),
        json!({ "items": [], "next": null, "links": { "next": null, "prev": null } })
    );
    insert(&world, &ann, (0..20).map(|n| (title(n), n))).await;
    let sizes: Vec<usize> = follow_pages(&ann, "")
        .await
        .iter()
        .map(|page| items(page).len())
        .collect();
    assert_eq!(sizes, [20, 0]);
}

on_every_shape!(
    posts_a_microsecond_apart_are_all_listed_once,
    posts_of_the_same_instant_are_all_listed_once,
    posts_of_the_same_title_are_all_listed_once,
    a_full_last_page_is_followed_by_an_empty_one,
);
