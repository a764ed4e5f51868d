//! Clients that read large responses too slowly do not delay others. See also `http::crawling_readers`.

use super::ALONE;
use tests::{
    LargeRequest, Shape, World, crawl, expect_p99_within_twice, fill_page, longest_body, on_every_shape,
    p99_of_calls,
};

const READERS: usize = 300;

async fn crawling_readers_delay_nobody(shape: Shape) {
    let _alone = ALONE.lock().await;
    let builder = World::builder(shape).flag("--trusted-proxies", "127.0.0.1");
    let world = builder.start().await;
    let (ann, bob) = (world.sign_up().await, world.sign_up().await);
    fill_page(&ann, &longest_body()).await;
    bob.publish("A short post").await;
    let page = format!("/posts?author_id={}", bob.id);
    let large = LargeRequest::new(&world, &ann, "/posts");
    // At the process from which the others read.
    let bob = &world.at_each_api(&bob)[0];
    expect_p99_within_twice("300 crawling readers", async || {
        let alone = p99_of_calls(bob, &page).await;
        let (_crawling, readers) = crawl(large.begin_at_many_addresses(READERS).await);
        let beside = p99_of_calls(bob, &page).await;
        assert!(large.count_served(&readers) > 0, "no reader crawls");
        (alone, beside)
    })
    .await;
}

on_every_shape!(crawling_readers_delay_nobody);
