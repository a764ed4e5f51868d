//! Expectations about paged lists: cursors, links and the order of items.

use crate::base64url;
use crate::http::Caller;
use crate::reply::Reply;
use serde_json::{Value, json};

/// The items of a page.
pub fn items(page: &Reply) -> Vec<Value> {
    page.json()["items"].as_array().unwrap().clone()
}

/// The ids of items.
pub fn ids(items: &[Value]) -> Vec<i64> {
    items.iter().map(|item| item["id"].as_i64().unwrap()).collect()
}

/// The cursor of the item with these values of `created_at` and `id`.
pub fn cursor(created_at: &Value, id: &Value) -> String {
    base64url(json!({ "created_at": created_at, "id": id }).to_string())
}

/// The link with this relation type. Expects the same link in the body and in the `Link` header (RFC 8288).
#[track_caller]
pub fn link(reply: &Reply, relation: &str) -> Option<String> {
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

/// Follows `next` from this path to the last page. Expects 20 items on every page but the last. Returns the
/// pages.
pub async fn follow_pages(caller: &Caller, path: &str) -> Vec<Reply> {
    let mut pages = vec![caller.get(path).await.expect(200)];
    while let Some(next) = link(pages.last().unwrap(), "next") {
        let page = pages.last().unwrap();
        assert_eq!(items(page).len(), 20);
        let body = page.json();
        let last = &body["items"][19];
        // The id of a payment is not a number: its cursor contains a hidden numeric id. The time of an event
        // is its `at`.
        if last["id"].is_number() && last["created_at"].is_string() {
            assert_eq!(
                body["next"],
                cursor(&last["created_at"], &last["id"]),
                "the cursor encodes the last item"
            );
        }
        assert!(pages.len() < 10, "the list does not end");
        pages.push(caller.get(&next).await.expect(200));
    }
    let last = pages.last().unwrap();
    assert!(items(last).len() < 20 && last.json()["next"].is_null(), "{last}");
    pages
}

/// Pages through a list of 45 items: forward by `next`, expecting pages of 20, 20 and 5 items, and back by
/// `prev`. Returns the items.
pub async fn expect_pages_of_45(caller: &Caller, path: &str) -> Vec<Value> {
    let pages = follow_pages(caller, path).await;
    let sizes: Vec<usize> = pages.iter().map(|page| items(page).len()).collect();
    assert_eq!(sizes, [20, 20, 5], "{path}");
    let second = caller.get(&link(&pages[2], "prev").unwrap()).await.expect(200);
    assert_eq!(items(&second), items(&pages[1]), "{path}");
    let first = caller.get(&link(&second, "prev").unwrap()).await.expect(200);
    assert_eq!(items(&first), items(&pages[0]), "{path}");
    assert_eq!(link(&pages[0], "prev"), None, "{path}");
    assert_eq!(link(&second, "next"), link(&pages[1], "next"), "{path}");
    pages.iter().flat_map(items).collect()
}

/// Expects that a cursor leads to the same page after its item was deleted. `query` is appended to the path
/// and begins with `?`.
pub async fn expect_cursor_outlives_item(caller: &Caller, list: &str, query: &str) {
    let first = caller.get(&format!("{list}{query}")).await.expect(200);
    let next = link(&first, "next").unwrap();
    let before = caller.get(&next).await.expect(200);
    let last = &items(&first)[19];
    caller.delete(&format!("{list}/{}", last["id"])).await.expect(204);
    let after = caller.get(&next).await.expect(200);
    assert_eq!(items(&after), items(&before), "{query}");
}

/// Expects that `prev` of a page that begins within the first page leads to the full first page. `query` is
/// appended to the path and ends with `?` or `&`.
pub async fn expect_prev_stops_at_first_page(caller: &Caller, list: &str, query: &str) {
    let first = caller.get(&format!("{list}{query}")).await.expect(200);
    let tenth = &items(&first)[9];
    let cursor = cursor(&tenth["created_at"], &tenth["id"]);
    let page = caller.get(&format!("{list}{query}cursor={cursor}")).await;
    let page = page.expect(200);
    assert_eq!(items(&page)[0], items(&first)[10], "{query}");
    let back = caller.get(&link(&page, "prev").unwrap()).await.expect(200);
    assert_eq!(items(&back), items(&first), "{query}");
    assert_eq!(link(&back, "prev"), None, "{query}");
}
