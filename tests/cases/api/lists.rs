//! Lists of posts: pages of twenty, cursors and filters.

mod cursors;
mod filters;
mod pages;

use storage::execute;
use tests::{Caller, Reply, User, World, cursor, items, link};

const START: i64 = 1_700_000_000_000_000;

/// Inserts published posts of one author at these microseconds, in this order.
async fn insert(world: &World, author: &User, posts: impl IntoIterator<Item = (String, i64)>) {
    let db = world.db().await;
    let mut tx = db.begin().await.unwrap();
    for (title, micros) in posts {
        let insert = "INSERT INTO posts (author_id, title, body, status, version, created_at, updated_at, published_at)
                      VALUES ($1, $2, '', 'published', 1, $3, $3, $3)";
        execute!(tx.on(), insert, author.id, title, START + micros).unwrap();
    }
    tx.commit().await.unwrap();
}

/// Follows `next` to the end. Returns the pages.
async fn follow_pages(caller: &Caller, query: &str) -> Vec<Reply> {
    tests::follow_pages(caller, &format!("/posts{query}")).await
}

fn title(n: i64) -> String {
    let first = ["a", "B", "Z", "b", "é", "_", "\u{1f980}", "A", " "][usize::try_from(n % 9).unwrap()];
    format!("{first}{n:02}")
}
