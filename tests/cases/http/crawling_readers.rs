//! Crawling readers: clients that request large responses and read them too slowly.

use std::collections::BTreeMap;
use tests::{
    LONGEST_BODY, LargeRequest, Shape, World, crawl, eventually, fill_page, longest_body, on_one_shape,
    peak_memory_kib,
};

/// The number of crawling readers of pages, which have 2.4 GB in all, and of exports.
const READERS: usize = 300;
const EXPORTS: usize = 40;
/// The most memory by which they may increase that of a process, in KiB.
const MAX_GROWTH: u64 = 512 * 1024;

/// Starts programs that believe what a proxy says about the addresses of clients.
async fn start(shape: Shape) -> World {
    let builder = World::builder(shape).flag("--trusted-proxies", "127.0.0.1");
    builder.start().await
}

/// The most memory that each process has held so far, in KiB.
fn peak_memory(world: &World) -> BTreeMap<u32, u64> {
    let of_process = |pid| (pid, peak_memory_kib(pid).unwrap());
    world.pids().into_iter().map(of_process).collect()
}

/// Fails the test if a process held much more memory than before.
fn assert_bounded(world: &World, before: &BTreeMap<u32, u64>) {
    for (pid, memory) in peak_memory(world) {
        let growth = memory.saturating_sub(before[&pid]);
        assert!(growth < MAX_GROWTH, "{growth} KiB");
    }
}

/// Expects that some readers are still served, as many as the memory of responses allows, and that all others
/// have lost.
async fn expect_few_served(request: &LargeRequest, readers: &[u16]) {
    eventually("too many crawling readers are served", async || {
        (2..=17).contains(&request.count_served(readers))
    })
    .await;
}

async fn crawling_readers_hold_bounded_memory_for_a_bounded_time(shape: Shape) {
    let world = start(shape).await;
    let (ann, bob) = (world.user().await, world.user().await);
    let short = bob.publish("A short post").await;
    fill_page(&ann, &longest_body()).await;
    let before = peak_memory(&world);
    let request = LargeRequest::new(&world, &ann, "/posts");
    let (_crawling, readers) = crawl(request.begin_at_many_addresses(READERS).await);
    expect_few_served(&request, &readers).await;
    assert_bounded(&world, &before);
    for caller in world.at_each_api(&bob) {
        caller.get(&short.path).await.expect(200);
        let page = format!("/posts?author_id={}", bob.id);
        caller.get(&page).await.expect(200);
    }
    request.wait_for_end_of(&readers).await;
}

/// A compressed response is written in small parts.
async fn crawling_readers_of_compressed_pages_are_given_up_too(shape: Shape) {
    let world = start(shape).await;
    let ann = world.user().await;
    fill_page(&ann, &incompressible()).await;
    let request = LargeRequest::new(&world, &ann, "/posts").compressed();
    let (_crawling, readers) = crawl(request.begin_at_many_addresses(2).await);
    request.wait_for_end_of(&readers).await;
}

/// Returns a text of characters that nearly all differ, by the middle of a linear congruential generator
/// (Knuth, MMIX).
fn incompressible() -> String {
    let mut state = 1_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let code = 0x1_0000 + (state >> 40) as u32 % 0xf_0000;
        char::from_u32(code).unwrap()
    };
    (0..LONGEST_BODY).map(|_| next()).collect()
}

async fn crawling_exports_hold_bounded_memory(shape: Shape) {
    let world = start(shape).await;
    let ann = world.user().await;
    fill_page(&ann, &longest_body()).await;
    let before = peak_memory(&world);
    let request = LargeRequest::new(&world, &ann, "/me/export");
    let (_crawling, readers) = crawl(request.begin_at_many_addresses(EXPORTS).await);
    expect_few_served(&request, &readers).await;
    assert_bounded(&world, &before);
    request.wait_for_end_of(&readers).await;
}

on_one_shape!(
    crawling_readers_hold_bounded_memory_for_a_bounded_time,
    crawling_readers_of_compressed_pages_are_given_up_too,
    crawling_exports_hold_bounded_memory,
);
