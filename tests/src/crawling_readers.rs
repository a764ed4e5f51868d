//! Crawling readers: clients that request large responses and read them too slowly. The programs must trust the addresses
//! that a proxy at 127.0.0.1 names.

use crate::accounts::User;
use crate::raw_connection::RawConnection;
use crate::world::World;
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio::time::interval;

/// The number of posts on a page.
const POSTS: usize = 20;
/// The length of the longest body of a post, in characters.
pub const LONGEST_BODY: usize = 100_000;
/// The time within which the program must disconnect a crawling reader.
const TIMEOUT: Duration = Duration::from_secs(600);

/// The request of a client that reads the response too slowly.
#[derive(Clone, Debug)]
pub struct LargeRequest {
    port: u16,
    sid: String,
    path: &'static str,
    accept_encoding: &'static str,
}

impl LargeRequest {
    /// Creates a request of this user for this path, to the first API process.
    pub fn new(world: &World, user: &User, path: &'static str) -> Self {
        Self {
            port: world.api_ports()[0],
            sid: user.sid.clone(),
            path,
            accept_encoding: "identity",
        }
    }

    /// Requests a compressed response.
    #[must_use]
    pub fn compressed(mut self) -> Self {
        self.accept_encoding = "gzip";
        self
    }

    /// Sends the request from this address, and reads the head of the response.
    async fn begin(&self, address: &str) -> CrawlingReader {
        let mut connection = RawConnection::connect_with_small_buffer(self.port).await;
        let head = format!(
            "GET {} HTTP/1.1\r\nhost: localhost\r\ncookie: sid={}\r\nx-forwarded-for: {address}\r\naccept-encoding: {}\r\n\r\n",
            self.path, self.sid, self.accept_encoding
        );
        connection.send(head).await;
        let begun = connection.read_until("\r\n\r\n").await;
        let status = begun.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.unwrap_or_else(|| panic!("{begun:.200}"));
        if status == 503 {
            assert!(begun.contains("retry-after: 1\r\n"), "{begun}");
            assert!(begun.contains("dependency_unavailable"), "{begun}");
        }
        CrawlingReader { connection, status }
    }

    /// Begins four requests from one address, of which the budget of an address allows two.
    pub async fn begin_at_one_address(&self) -> Vec<CrawlingReader> {
        let mut readers = Vec::new();
        for _ in 0..4 {
            readers.push(self.begin("192.0.2.1").await);
        }
        let statuses: Vec<u16> = readers.iter().map(|reader| reader.status).collect();
        assert_eq!(statuses, [200, 200, 503, 503], "an address has 16 MiB");
        readers
    }

    /// Begins this many requests at once, each from an address of its own.
    pub async fn begin_at_many_addresses(&self, count: usize) -> Vec<CrawlingReader> {
        let mut readers = JoinSet::new();
        for n in 0..count {
            let (request, address) = (self.clone(), format!("10.0.{}.{}", n / 256, n % 256));
            readers.spawn(async move { request.begin(&address).await });
        }
        readers.join_all().await
    }

    /// Waits until the program has given up the crawling readers of one address. The kernels still have a part of each response, so
    /// the readers do not see at once that their connections are closed.
    pub async fn wait_for_end_of_readers(&self) {
        let began = Instant::now();
        while self.begin("192.0.2.1").await.status != 200 {
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
}

/// A client whose response has begun.
#[derive(Debug)]
pub struct CrawlingReader {
    connection: RawConnection,
    status: u16,
}

impl CrawlingReader {
    /// Reads at most 16 KiB a second, for ever, which is a little too slow.
    async fn crawl(mut self) {
        let mut ticks = interval(Duration::from_millis(250));
        loop {
            self.connection.read_some(4096).await;
            ticks.tick().await;
        }
    }
}

/// Lets the readers crawl whose requests were not refused.
pub fn crawl(readers: impl IntoIterator<Item = CrawlingReader>) -> JoinSet<()> {
    let mut crawling = JoinSet::new();
    for reader in readers {
        match reader.status {
            200 => drop(crawling.spawn(reader.crawl())),
            status => assert_eq!(status, 503),
        }
    }
    crawling
}

/// Returns the longest body of a post, in characters of four bytes.
pub fn longest_body() -> String {
    "\u{1f600}".repeat(LONGEST_BODY)
}

/// Fills a page with posts of this text.
pub async fn fill_page(user: &User, text: &str) {
    for _ in 0..POSTS {
        let post = json!({ "title": "A long post", "body": text, "status": "published" });
        user.post("/posts").json(&post).await.expect(201);
    }
}
