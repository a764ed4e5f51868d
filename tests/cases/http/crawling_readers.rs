//! Crawling readers: clients that request large responses and read them too slowly.

use serde_json::json;
use std::collections::BTreeMap;
use tests::{
    LONGEST_BODY, LargeRequest, Shape, World, crawl, fill_page, longest_body, on_one_shape, peak_memory_kib,
};

/// The number of crawling readers of pages, which have 2.4 GB in all, and of exports.
const READERS: usize = 300;
const EXPORTS: usize = 40;
/// The most memory by which they may increase that of a process, in KiB.
const MAX_GROWTH: u64 = 400 * 1024;

/// Starts programs that believe what a proxy says about the addresses of clients.
async fn start(shape: Shape) -> World {
    let builder = World::builder(shape).flag("--trusted-proxies", "127.0.0.1");
    builder.start().await
}

/// The most memory that each process has held so far, in KiB.
fn peak_memory(world: &World) -> BTreeMap<u32, u64> {
    let of_process = |pid| (pid, peak_memory_kib(pid));
    world.pids().into_iter().map(of_process).collect()
}

/// Fails the test if a process held much more memory than before.
fn assert_bounded(world: &World, before: &BTreeMap<u32, u64>) {
    for (pid, memory) in peak_memory(world) {
        let growth = memory.saturating_sub(before[&pid]);
        assert!(growth < MAX_GROWTH, "{growth} KiB");
    }
}

async fn crawling_readers_hold_bounded_memory_for_a_bounded_time(shape: Shape) {
    let world = start(shape).await;
    let (ann, bob) = (world.user().await, world.user().await);
    let short = bob.publish("A short post").await;
    fill_page(&ann, &longest_body()).await;
    let before = peak_memory(&world);
    let request = LargeRequest::new(&world, &ann, "/posts");
    let of_one_address = request.begin_at_one_address().await;
    let others = request.begin_at_many_addresses(READERS).await;
    let crawling = crawl(of_one_address.into_iter().chain(others));
    assert!((2..=17).contains(&crawling.len()), "{}", crawling.len());
    assert_bounded(&world, &before);
    for caller in world.at_each_api(&bob) {
        caller.get(&short.path).await.expect(200);
        let page = format!("/posts?author_id={}", bob.id);
        caller.get(&page).await.expect(200);
    }
    request.wait_for_end_of_readers().await;
}

/// A compressed response is written in small parts.
async fn crawling_readers_of_compressed_pages_are_given_up_too(shape: Shape) {
    let world = start(shape).await;
    let ann = world.user().await;
    fill_page(&ann, &incompressible()).await;
    let request = LargeRequest::new(&world, &ann, "/posts").compressed();
    let _crawling = crawl(request.begin_at_one_address().await);
    request.wait_for_end_of_readers().await;
}

/// Returns a text of characters that nearly all differ, by the middle of a linear congruential generator (Knuth, MMIX).
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
    let of_one_address = request.begin_at_one_address().await;
    let others = request.begin_at_many_addresses(EXPORTS).await;
    let crawling = crawl(of_one_address.into_iter().chain(others));
    assert!((2..=16).contains(&crawling.len()), "{}", crawling.len());
    assert_bounded(&world, &before);
    request.wait_for_end_of_readers().await;
}

/// The response to a write repeats a large post, and cannot be refused when the write has taken effect.
async fn a_write_without_room_for_its_response_has_no_effect(shape: Shape) {
    let world = start(shape).await;
    let ann = world.user().await;
    // Two pages leave 200 KB of the budget of an address: a control character takes six bytes in JSON.
    let text = "\u{1f600}".repeat(LONGEST_BODY - 7_000) + &"\u{1}".repeat(7_000);
    fill_page(&ann, &text).await;
    let long = json!({ "title": "Another long post", "body": text, "status": "published" });
    let at = |address: &str| world.at_each_api(&ann)[0].with("x-forwarded-for", address);
    let created = at("192.0.2.2").post("/posts").key("one").json(&long);
    let created = created.await.expect(201);
    let (path, etag) = (
        created.header("location").to_owned(),
        created.header("etag").to_owned(),
    );
    let request = LargeRequest::new(&world, &ann, "/posts");
    let _crawling = crawl(request.begin_at_one_address().await);

    let title = json!({ "title": "A new title" });
    let crawler = at("192.0.2.1");
    for call in [
        crawler.post("/posts").json(&long),
        crawler.post("/posts").key("one").json(&long),
        crawler.patch(&path).header("if-match", &etag).json(&title),
    ] {
        let refused = call.may_fail().await.expect_error(503, "dependency_unavailable");
        assert_eq!(refused.header("retry-after"), "1");
    }
    let short = json!({ "title": "A short post" });
    crawler.post("/posts").json(&short).await.expect(201);
    let other = at("192.0.2.3");
    let page = other
        .get(&format!("/posts?author_id={}", ann.id))
        .await
        .expect(200)
        .json();
    let titles = page["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|post| post["title"].as_str().unwrap());
    assert_eq!(titles.filter(|title| *title == "Another long post").count(), 1);
    let changed = other.patch(&path).header("if-match", &etag).json(&title);
    changed.await.expect(200);
    let replayed = other.post("/posts").key("one").json(&long).await;
    assert_eq!(replayed.expect(201).header("idempotent-replayed"), "true");
}

on_one_shape!(
    crawling_readers_hold_bounded_memory_for_a_bounded_time,
    crawling_readers_of_compressed_pages_are_given_up_too,
    crawling_exports_hold_bounded_memory,
    a_write_without_room_for_its_response_has_no_effect,
);
