//! The lists of the demo app, which are read page by page.

use super::Demo;
use serde_json::json;
use std::collections::BTreeSet;
use tests::{World, on_shapes};

/// One more than a page has.
const POSTS: usize = 21;
/// Returns the ids of the shown posts.
const SHOWN: &str = "return [...document.querySelectorAll('#posts > li')].map(post => post.id)";
/// Returns whether there is no further page.
const IS_LAST: &str = "return document.querySelector('#more-posts').hidden";

impl Demo<'_> {
    /// Expects so many posts, each of them once, and a button for the next page unless this is the last one.
    async fn expect_posts(&self, count: usize, is_last: bool) {
        let shown = self.chromium.run(SHOWN, &[]).await;
        let shown = shown.as_array().unwrap();
        let ids: BTreeSet<_> = shown.iter().map(|id| id.as_str().unwrap()).collect();
        assert_eq!((shown.len(), ids.len()), (count, count), "{shown:?}");
        assert_eq!(self.chromium.run(IS_LAST, &[]).await, json!(is_last));
    }
}

async fn a_list_shows_its_next_page(world: World) {
    let user = world.user().await;
    for number in 0..POSTS {
        user.publish(&format!("Post {number}")).await;
    }
    let demo = Demo::start(&world, &user).await;
    demo.sign_in().await;
    let newest = format!("<strong>Post {}</strong>", POSTS - 1);
    demo.chromium.expect(&newest).await;
    demo.expect_posts(POSTS - 1, false).await;
    let oldest = "<strong>Post 0</strong>";
    demo.chromium.submit(&[], "#more-posts", oldest).await;
    demo.expect_posts(POSTS, true).await;
    let call = demo.call("GET /posts?cursor=").await;
    assert!(call.contains("\"Post 0\""), "{call}");
}

on_shapes!(a_list_shows_its_next_page: sqlite Sqlite);
