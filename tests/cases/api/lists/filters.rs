//! Filters narrow a list. Invalid ones are ignored.

use super::{follow_pages, insert, items, link, title};
use serde_json::{Value, json};
use tests::{World, on_every_shape};

async fn filters_narrow_and_invalid_ones_are_ignored(world: World) {
    let (ann, bob) = (world.user().await, world.user().await);
    let draft = ann.draft("d").await.id;
    let (own, other) = (ann.publish("b").await.id, bob.publish("a").await.id);
    let (a, b) = (ann.id, bob.id);
    let everything = vec![other, own, draft];
    for (query, expected) in [
        (String::new(), everything.clone()),
        ("?status=draft".into(), vec![draft]),
        ("?status=published".into(), vec![other, own]),
        (format!("?author_id={b}"), vec![other]),
        (format!("?author_id={a}&status=draft"), vec![draft]),
        (format!("?author_id=00{b}"), vec![other]),
        ("?author_id=99999999999999999999999".into(), vec![]),
        ("?author_id=0".into(), vec![]),
        ("?status=archived".into(), everything.clone()),
        ("?status=Draft".into(), everything.clone()),
        ("?status=".into(), everything.clone()),
        (format!("?author_id=%2B{b}"), everything.clone()),
        (format!("?author_id=+{b}"), everything.clone()),
        (format!("?author_id=%20{b}"), everything.clone()),
        (format!("?author_id={b}%20"), everything.clone()),
        (format!("?author_id=-{b}"), everything.clone()),
        ("?author_id=%D9%A3".into(), everything.clone()),
        ("?author_id=abc".into(), everything.clone()),
        (
            "?sort=body&order=sideways&color=red&limit=1".into(),
            everything.clone(),
        ),
        ("?%FF=%FE&status=%00".into(), everything.clone()),
        (
            "?status=archived&status=draft&status=published".into(),
            vec![draft],
        ),
        (format!("?author_id=x&author_id={b}&author_id={a}"), vec![other]),
        ("?sort=nonsense&sort=title".into(), vec![other, own, draft]),
        ("?order=nonsense&order=asc".into(), vec![draft, own, other]),
        ("?sort=title&order=desc".into(), vec![draft, own, other]),
    ] {
        let page = ann.get(&format!("/posts{query}")).await.expect(200);
        let ids: Vec<i64> = items(&page)
            .iter()
            .map(|post| post["id"].as_i64().unwrap())
            .collect();
        assert_eq!(ids, expected, "{query}");
    }
}

async fn links_keep_the_filters(world: World) {
    let (ann, bob) = (world.user().await, world.user().await);
    insert(&world, &ann, (0..45).map(|n| (title(n), 2 * n))).await;
    insert(&world, &bob, (0..45).map(|n| (title(n), 2 * n + 1))).await;
    for query in [
        format!("?author_id={}", ann.id),
        format!("?sort=title&status=published&order=desc&author_id={}", ann.id),
    ] {
        let pages = follow_pages(&bob, &query).await;
        let all: Vec<Value> = pages.iter().flat_map(items).collect();
        assert_eq!(all.len(), 45, "{query}");
        assert!(
            all.iter().all(|post| post["author_id"] == json!(ann.id)),
            "{query}"
        );
        let back = bob.get(&link(&pages[2], "prev").unwrap()).await.expect(200);
        assert_eq!(items(&back), items(&pages[1]), "{query}");
    }
}

on_every_shape!(
    filters_narrow_and_invalid_ones_are_ignored,
    links_keep_the_filters,
);
