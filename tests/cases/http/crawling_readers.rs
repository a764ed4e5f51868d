//! Crawling readers: clients that request large pages and read them too slowly.

use serde_json::json;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tests::{RawConnection, Shape, World, on_every_shape, p99_of_calls, print_figure};
use tokio::task::JoinSet;
use tokio::time::interval;

/// The number of posts on a page, and of characters of each, which take four bytes.
const POSTS: usize = 20;
const CHARACTERS: usize = 100_000;
/// The number of crawling readers. Their pages have 2.4 GB in all.
const READERS: usize = 300;
/// The most memory by which they may increase that of a process, in KiB.
const MAX_GROWTH: u64 = 400 * 1024;
/// The time within which the program must disconnect a crawling reader.
const TIMEOUT: Duration = Duration::from_secs(90);

/// A reader whose response has begun.
struct Reader {
    connection: RawConnection,
    status: u16,
}

impl Reader {
    async fn begin(port: u16, sid: &str, address: &str) -> Self {
        let mut connection = RawConnection::connect(port).await;
        let head = format!(
            "GET /posts HTTP/1.1\r\nhost: localhost\r\ncookie: sid={sid}\r\nx-forwarded-for: {address}\r\n\r\n"
        );
        connection.send(head).await;
        let begun = connection.read_until("\r\n\r\n").await;
        let status = begun.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.unwrap_or_else(|| panic!("{begun:.200}"));
        if status == 503 {
            assert!(begun.contains("retry-after: 1\r\n"), "{begun}");
            assert!(begun.contains("dependency_unavailable"), "{begun}");
        }
        Self { connection, status }
    }

    /// Reads 4 KiB a second, for ever.
    async fn crawl(mut self) {
        let mut ticks = interval(Duration::from_secs(1));
        loop {
            self.connection.read_some(4096).await;
            ticks.tick().await;
        }
    }
}

/// The most memory that each process has held so far, in KiB.
fn peak_memory(world: &World) -> BTreeMap<u32, u64> {
    let of_process = |pid: u32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))
            .unwrap();
        (pid, line.trim().trim_end_matches(" kB").parse().unwrap())
    };
    world.pids().into_iter().map(of_process).collect()
}

async fn crawling_readers_hold_bounded_memory_for_a_bounded_time(shape: Shape) {
    let world = World::builder(shape)
        .flag("--trusted-proxies", "127.0.0.1")
        .start()
        .await;
    let (ann, bob) = (world.sign_up().await, world.sign_up().await);
    let short = bob.publish("A short post").await;
    for _ in 0..POSTS {
        let body = "\u{1f600}".repeat(CHARACTERS);
        ann.make_post(json!({ "title": "A long post", "body": body, "status": "published" }))
            .await;
    }
    let port = world.api_ports()[0];
    let before = peak_memory(&world);
    let page = format!("/posts?author_id={}", bob.id);
    let alone = p99_of_calls(&bob, &page).await;

    let mut of_one_address = Vec::new();
    for _ in 0..4 {
        of_one_address.push(Reader::begin(port, &ann.sid, "192.0.2.1").await);
    }
    let statuses: Vec<u16> = of_one_address.iter().map(|reader| reader.status).collect();
    assert_eq!(statuses, [200, 200, 503, 503], "an address has 16 MiB");

    let mut begun = JoinSet::new();
    for n in 0..READERS {
        let (sid, address) = (ann.sid.clone(), format!("10.0.{}.{}", n / 256, n % 256));
        begun.spawn(async move { Reader::begin(port, &sid, &address).await });
    }
    let mut crawling = JoinSet::new();
    for reader in of_one_address.into_iter().chain(begun.join_all().await) {
        match reader.status {
            200 => drop(crawling.spawn(reader.crawl())),
            status => assert_eq!(status, 503),
        }
    }
    assert!((2..=17).contains(&crawling.len()), "{}", crawling.len());
    for (pid, memory) in peak_memory(&world) {
        let growth = memory.saturating_sub(before[&pid]);
        assert!(growth < MAX_GROWTH, "{growth} KiB");
    }
    for caller in world.at_each_api(&bob) {
        caller.get(&short.path).await.expect(200);
        caller.get(&page).await.expect(200);
    }
    let beside = p99_of_calls(&world.at_each_api(&bob)[0], &page).await;
    print_figure(&format!(
        "p99 of a short page: {alone:?} alone, {beside:?} beside {} of {READERS} crawling readers; the others were refused",
        crawling.len()
    ));
    // The kernels still have a part of each page, so the readers do not see at once that their connections are closed.
    let began = Instant::now();
    while Reader::begin(port, &ann.sid, "192.0.2.1").await.status != 200 {
        assert!(
            began.elapsed() < TIMEOUT,
            "the crawling readers keep their share of the budget"
        );
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert!(
        began.elapsed() > Duration::from_secs(20),
        "given up after {:?}",
        began.elapsed()
    );
}

on_every_shape!(crawling_readers_hold_bounded_memory_for_a_bounded_time);
