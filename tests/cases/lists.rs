//! Lists: pages of twenty, cursors that lose no post, filters that refuse nothing.

use serde_json::{Value, json};
use shared::clock::Timestamp;
use shared::execute;
use tests::{Caller, Person, Reply, World, base64url, on_every_shape};

const START: i64 = 1_700_000_000_000_000;

/// Puts published posts of one author into the database, each at its microsecond, in this order.
async fn insert(world: &World, author: &Person, posts: impl IntoIterator<Item = (String, i64)>) {
    let db = world.db().await;
    let mut tx = db.begin().await.unwrap();
    for (title, micros) in posts {
        let insert = "INSERT INTO posts (author_id, title, body, status, version, created_at, updated_at, published_at)
                      VALUES ($1, $2, '', 'published', 1, $3, $3, $3)";
        execute!(tx.on(), insert, author.id, title, START + micros).unwrap();
    }
    tx.commit().await.unwrap();
}

fn items(reply: &Reply) -> Vec<Value> {
    reply.json()["items"].as_array().unwrap().clone()
}

fn cursor(created_at: &Value, id: &Value) -> String {
    base64url(json!({ "created_at": created_at, "id": id }).to_string())
}

/// The link of this relation, the same in the body and in the header (RFC 8288).
#[track_caller]
fn link(reply: &Reply, relation: &str) -> Option<String> {
    let in_body = reply.json()["links"][relation].as_str().map(str::to_owned);
    let header = if reply.has("link") {
        reply.header("link")
    } else {
        ""
    };
    let mut parts = header
        .split(", ")
        .filter(|part| part.ends_with(&format!("; rel=\"{relation}\"")));
    let in_header = parts
        .next()
        .map(|part| part[1..part.find('>').unwrap()].to_owned());
    assert_eq!(in_body, in_header, "{reply}");
    in_body
}

/// Follows `next` to the end: the pages.
async fn walk(caller: &Caller, query: &str) -> Vec<Reply> {
    let mut pages = vec![caller.get(&format!("/posts{query}")).await.expect(200)];
    while let Some(next) = link(pages.last().unwrap(), "next") {
        let page = pages.last().unwrap();
        assert_eq!(items(page).len(), 20);
        let body = page.json();
        let last = &body["items"][19];
        assert_eq!(
            body["next"],
            cursor(&last["created_at"], &last["id"]),
            "the cursor names the last item"
        );
        assert!(pages.len() < 10, "the walk does not end");
        pages.push(caller.get(&next).await.expect(200));
    }
    let last = pages.last().unwrap();
    assert!(items(last).len() < 20 && last.json()["next"].is_null(), "{last}");
    pages
}

/// Walks forward, and back by `prev`, and expects these titles in this order, 20 + 20 + 5.
async fn pages_of_45(caller: &Caller, query: &str, titles: &[String]) {
    let pages = walk(caller, query).await;
    let sizes: Vec<usize> = pages.iter().map(|page| items(page).len()).collect();
    assert_eq!(sizes, [20, 20, 5], "{query}");
    let found: Vec<String> = pages
        .iter()
        .flat_map(items)
        .map(|post| post["title"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(found, titles, "{query}");
    let second = caller.get(&link(&pages[2], "prev").unwrap()).await.expect(200);
    assert_eq!(items(&second), items(&pages[1]), "{query}");
    let first = caller.get(&link(&second, "prev").unwrap()).await.expect(200);
    assert_eq!(items(&first), items(&pages[0]), "{query}");
    assert_eq!(link(&pages[0], "prev"), None, "{query}");
    assert_eq!(link(&second, "next"), link(&pages[1], "next"), "{query}");
}

/// Both orders of `sort=created_at` and of `sort=title`. Posts of one title or of one time follow by id.
async fn both_ways(world: World, posts: Vec<(String, i64)>) {
    let ann = world.sign_up().await;
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
        pages_of_45(&ann, query, &reversed(&numbered)).await;
    }
    pages_of_45(&ann, "?order=asc", &titles(&numbered)).await;
    numbered.sort_by(|(id, (title, _)), (other_id, (other, _))| {
        title.as_bytes().cmp(other.as_bytes()).then(id.cmp(other_id))
    });
    pages_of_45(&ann, "?sort=title", &titles(&numbered)).await;
    pages_of_45(&ann, "?sort=title&order=desc", &reversed(&numbered)).await;
}

fn title(n: i64) -> String {
    let first = ["a", "B", "Z", "b", "é", "_", "\u{1f980}", "A", " "][usize::try_from(n % 9).unwrap()];
    format!("{first}{n:02}")
}

async fn posts_a_microsecond_apart_are_all_listed_once(world: World) {
    both_ways(world, (0..45).map(|n| (title(n), n)).collect()).await;
}

async fn posts_of_the_same_instant_are_all_listed_once(world: World) {
    both_ways(world, (0..45).map(|n| (title(n), 0)).collect()).await;
}

async fn posts_of_the_same_title_are_all_listed_once(world: World) {
    let ann = world.sign_up().await;
    insert(&world, &ann, (0..45).map(|n| ("same".to_owned(), n))).await;
    for query in [
        "?sort=title",
        "?sort=title&order=desc",
        "?sort=title&status=published",
    ] {
        let pages = walk(&ann, query).await;
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
    let ann = world.sign_up().await;
    let empty = ann.get("/posts").await.expect(200);
    assert_eq!(
        empty.json(),
        json!({ "items": [], "next": null, "links": { "next": null, "prev": null } })
    );
    insert(&world, &ann, (0..20).map(|n| (title(n), n))).await;
    let sizes: Vec<usize> = walk(&ann, "")
        .await
        .iter()
        .map(|page| items(page).len())
        .collect();
    assert_eq!(sizes, [20, 0]);
}

async fn a_short_page_backwards_is_the_first_page(world: World) {
    let ann = world.sign_up().await;
    insert(&world, &ann, (0..45).map(|n| (title(n), n))).await;
    for query in ["?", "?sort=title&", "?order=asc&"] {
        let first = ann.get(&format!("/posts{query}")).await.expect(200);
        let tenth = &items(&first)[9];
        let cursor = cursor(&tenth["created_at"], &tenth["id"]);
        let page = ann
            .get(&format!("/posts{query}cursor={cursor}"))
            .await
            .expect(200);
        assert_eq!(items(&page)[0], items(&first)[10], "{query}");
        let back = ann.get(&link(&page, "prev").unwrap()).await.expect(200);
        assert_eq!(items(&back), items(&first), "{query}");
        assert_eq!(link(&back, "prev"), None, "{query}");
    }
}

async fn a_cursor_that_is_none_is_the_first_page(world: World) {
    let ann = world.sign_up().await;
    insert(&world, &ann, (0..25).map(|n| (title(n), n))).await;
    let first = ann.get("/posts").await.expect(200);
    let at = json!(Timestamp::from_micros(START + 3).to_string());
    let broken = |value: Value| base64url(value.to_string());
    let good = first.json()["next"].as_str().unwrap().to_owned();
    for cursor in [
        String::new(),
        "x".to_owned(),
        "!!!".to_owned(),
        format!("{good}!"),
        format!("%00{good}"),
        good[1..].to_owned(),
        base64url("not json"),
        base64url([0xff, 0xfe]),
        broken(json!([at, 1])),
        broken(json!({ "created_at": at })),
        broken(json!({ "id": 1 })),
        broken(json!({ "created_at": at, "id": "1" })),
        broken(json!({ "created_at": at, "id": 1.5 })),
        broken(json!({ "created_at": at, "id": null })),
        broken(json!({ "created_at": 1, "id": 1 })),
        broken(json!({ "created_at": "yesterday", "id": 1 })),
        base64url(format!("{{\"created_at\":{at},\"id\":99999999999999999999}}")),
        base64url(format!("{{\"created_at\":{at},\"id\":1}}{}", " ".repeat(500))),
        "A".repeat(5_000),
    ] {
        for more in ["", "&dir=prev", "&dir=nonsense"] {
            let page = ann
                .get(&format!("/posts?cursor={cursor}{more}"))
                .await
                .expect(200);
            assert_eq!(items(&page), items(&first), "{cursor}{more}");
        }
    }
    let fourth = &items(&first)[3];
    let unpadded = cursor(&fourth["created_at"], &fourth["id"]);
    assert_eq!(unpadded.len() % 4, 2, "this one has padding to leave out");
    for cursor in [
        unpadded.clone(),
        format!("{unpadded}=="),
        format!("{unpadded}%3D%3D"),
    ] {
        let page = ann.get(&format!("/posts?cursor={cursor}")).await.expect(200);
        assert_eq!(items(&page)[0], items(&first)[4], "{cursor}");
    }
}

async fn a_cursor_survives_the_deletion_of_its_post(world: World) {
    let ann = world.sign_up().await;
    insert(&world, &ann, (0..45).map(|n| (title(n), n))).await;
    for query in ["?", "?sort=title&", "?sort=title&order=desc&"] {
        let first = ann.get(&format!("/posts{query}")).await.expect(200);
        let next = link(&first, "next").unwrap();
        let before = ann.get(&next).await.expect(200);
        ann.delete(&format!("/posts/{}", items(&first)[19]["id"]))
            .await
            .expect(204);
        assert_eq!(
            items(&ann.get(&next).await.expect(200)),
            items(&before),
            "{query}"
        );
    }
}

async fn a_title_cursor_of_no_post_or_of_a_hidden_one_is_the_first_page(world: World) {
    let (ann, bob) = (world.sign_up().await, world.sign_up().await);
    insert(&world, &bob, (0..25).map(|n| (title(n), n))).await;
    let draft = ann.draft("M: in the middle").await;
    let first = bob.get("/posts?sort=title").await.expect(200);
    let at = &draft.record["created_at"];
    let hidden = cursor(at, &json!(draft.id));
    let missing = cursor(at, &json!(999_999));
    let elsewhere = cursor(&json!("2020-01-01T00:00:00.000000Z"), &items(&first)[5]["id"]);
    for cursor in [hidden, missing, elsewhere] {
        let page = bob
            .get(&format!("/posts?sort=title&cursor={cursor}"))
            .await
            .expect(200);
        assert_eq!(page.json(), first.json(), "{cursor}");
    }
}

async fn filters_narrow_and_what_is_no_filter_is_ignored(world: World) {
    let (ann, bob) = (world.sign_up().await, world.sign_up().await);
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
            "?sort=body&order=sideways&colour=red&limit=1".into(),
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
    let (ann, bob) = (world.sign_up().await, world.sign_up().await);
    insert(&world, &ann, (0..45).map(|n| (title(n), 2 * n))).await;
    insert(&world, &bob, (0..45).map(|n| (title(n), 2 * n + 1))).await;
    for query in [
        format!("?author_id={}", ann.id),
        format!("?sort=title&status=published&order=desc&author_id={}", ann.id),
    ] {
        let pages = walk(&bob, &query).await;
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
    posts_a_microsecond_apart_are_all_listed_once,
    posts_of_the_same_instant_are_all_listed_once,
    posts_of_the_same_title_are_all_listed_once,
    a_full_last_page_is_followed_by_an_empty_one,
    a_short_page_backwards_is_the_first_page,
    a_cursor_that_is_none_is_the_first_page,
    a_cursor_survives_the_deletion_of_its_post,
    a_title_cursor_of_no_post_or_of_a_hidden_one_is_the_first_page,
    filters_narrow_and_what_is_no_filter_is_ignored,
    links_keep_the_filters,
);
