//! A server under the test's control, for what the programs call: it keeps what it is asked, and answers what it
//! is told to.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What it was asked.
#[derive(Clone, Debug)]
pub struct Received {
    /// By their names in lower case.
    pub headers: BTreeMap<String, String>,
    /// As text.
    pub body: String,
}

/// The server. Ends when dropped.
#[derive(Debug)]
pub struct Receiver {
    /// Where it is: `http://127.0.0.1:PORT`.
    pub url: String,
    kept: Arc<Kept>,
    server: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Kept {
    received: Mutex<Vec<Received>>,
    /// `None`: it never answers.
    answer: Mutex<Option<(u16, String)>>,
}

impl Receiver {
    /// Listens, and answers everything with an empty 200.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let kept = Arc::<Kept>::default();
        let own = Arc::clone(&kept);
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&own)));
            }
        });
        let receiver = Self { url, kept, server };
        receiver.answer(200, "");
        receiver
    }

    /// From now on this is the answer.
    pub fn answer(&self, status: u16, body: &str) {
        *self.kept.answer.lock().unwrap() = Some((status, body.to_owned()));
    }

    /// From now on it takes requests and never answers.
    pub fn say_nothing(&self) {
        *self.kept.answer.lock().unwrap() = None;
    }

    /// What it was asked so far.
    pub fn received(&self) -> Vec<Received> {
        self.kept.received.lock().unwrap().clone()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// Answers one request and closes.
async fn serve(mut stream: TcpStream, kept: Arc<Kept>) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let headers: BTreeMap<String, String> = head
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length = headers
        .get("content-length")
        .map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    let body = String::from_utf8(body).unwrap();
    kept.received.lock().unwrap().push(Received { headers, body });
    let answer = kept.answer.lock().unwrap().clone();
    let Some((status, body)) = answer else {
        return std::future::pending().await;
    };
    let length = body.len();
    let reply = format!(
        "HTTP/1.1 {status} Status\r\nContent-Type: application/json\r\nCache-Control: max-age=300\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    stream.write_all(reply.as_bytes()).await
}
