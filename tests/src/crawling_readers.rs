//! Crawling readers: clients that request large responses and read them too slowly. The programs must trust
//! the addresses that a proxy at 127.0.0.1 names.

use crate::accounts::User;
use crate::processes::connections_to;
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
    pub async fn begin(&self, address: &str) -> CrawlingReader {
        let connection = RawConnection::connect_with_small_buffer(self.port).await;
        self.send(connection, address)
            .await
            .expect("a reader was refused")
    }

    /// Sends the request from this address, and reads the response as fast as it arrives. Returns whether it
    /// is complete.
    pub async fn read(&self, address: &str) -> bool {
        let connection = RawConnection::connect(self.port).await;
        match self.send(connection, address).await {
            Some(reader) => reader.finish().await,
            None => false,
        }
    }

    /// Sends the request. Returns `None` if the response is 503, because the database has too much to do.
    async fn send(&self, mut connection: RawConnection, address: &str) -> Option<CrawlingReader> {
        let head = format!(
            "GET {} HTTP/1.1\r\nhost: localhost\r\ncookie: sid={}\r\nx-forwarded-for: {address}\r\naccept-encoding: {}\r\n\
             connection: close\r\n\r\n",
            self.path, self.sid, self.accept_encoding
        );
        connection.send(head).await;
        let begun = connection.read_until("\r\n\r\n").await;
        if begun.starts_with("HTTP/1.1 503 ") {
            return None;
        }
        assert!(begun.starts_with("HTTP/1.1 200 "), "{begun:.200}");
        let (head, body) = begun.split_once("\r\n\r\n").unwrap();
        let mut lines = head.lines();
        let length = lines.find_map(|line| line.strip_prefix("content-length: "));
        Some(CrawlingReader {
            port: connection.local_port(),
            length: length.map(|length| length.parse().unwrap()),
            read: body.len(),
            connection,
        })
    }

    /// Begins this many requests at once, each from an address in a network of its own. Returns those that
    /// the database had time for.
    pub async fn begin_at_many_addresses(&self, count: usize) -> Vec<CrawlingReader> {
        let mut readers = JoinSet::new();
        for n in 0..count {
            let (request, address) = (self.clone(), format!("10.{}.{}.1", n / 256, n % 256));
            readers.spawn(async move {
                let connection = RawConnection::connect_with_small_buffer(request.port).await;
                request.send(connection, &address).await
            });
        }
        readers.join_all().await.into_iter().flatten().collect()
    }

    /// Returns how many of these readers the program still serves. The kernels have a part of each response,
    /// so a reader does not see at once that the program has closed its connection.
    pub fn count_served(&self, readers: &[u16]) -> usize {
        let open = connections_to(self.port);
        readers.iter().filter(|reader| open.contains(reader)).count()
    }

    /// Waits until the program serves none of these readers. Fails the test if it gives them up within 20
    /// seconds.
    pub async fn wait_for_end_of(&self, readers: &[u16]) {
        let began = Instant::now();
        while self.count_served(readers) > 0 {
            assert!(
                began.elapsed() < TIMEOUT,
                "the crawling readers are served for ever"
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
    /// The port from which it is connected.
    pub port: u16,
    /// The length of the body, unless it is a stream.
    length: Option<usize>,
    /// The number of bytes of the body that were read.
    read: usize,
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

    /// Reads the rest as fast as it arrives. Returns whether the body is complete.
    pub async fn finish(mut self) -> bool {
        let rest = self.connection.read_bytes_to_end().await.len();
        self.read + rest == self.length.unwrap()
    }
}

/// Lets these readers crawl. Returns the ports from which they are connected too.
pub fn crawl(readers: impl IntoIterator<Item = CrawlingReader>) -> (JoinSet<()>, Vec<u16>) {
    let (mut crawling, mut ports) = (JoinSet::new(), Vec::new());
    for reader in readers {
        ports.push(reader.port);
        crawling.spawn(reader.crawl());
    }
    (crawling, ports)
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
