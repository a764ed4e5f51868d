//! Lists: pages of twenty, cursors that lose no post, filters that refuse nothing.

mod cursors;
mod filters;
mod pages;

use serde_json::{Value, json};
use shared::execute;
use tests::{Caller, Person, Reply, World, base64url};

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

fn title(n: i64) -> String {
    let first = ["a", "B", "Z", "b", "é", "_", "\u{1f980}", "A", " "][usize::try_from(n % 9).unwrap()];
    format!("{first}{n:02}")
}
