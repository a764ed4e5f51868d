//! A stub HTTP server that the programs call: it records requests and returns a fixed response.

use crate::ports::listen;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A recorded request.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    /// Headers by lower-case name.
    pub headers: BTreeMap<String, String>,
    /// The body as text.
    pub body: String,
    /// The body.
    pub bytes: Vec<u8>,
}

/// The server. Stops on drop.
#[derive(Debug)]
pub struct StubServer {
    /// The base URL: `http://127.0.0.1:PORT`.
    pub url: String,
    state: Arc<State>,
    server: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct State {
    received: Mutex<Vec<ReceivedRequest>>,
    answer: Mutex<Answer>,
}

/// The response to every request.
#[derive(Clone, Debug, Default)]
enum Answer {
    #[default]
    Never,
    Whole(String),
    /// One byte at a time.
    Slow(String),
    /// The head at once, and the body one byte at a time.
    SlowBody {
        head: String,
        body: String,
    },
}

/// Returns a response with this status and reason, these headers and this body, for
/// [`StubServer::answer_raw`].
pub fn response(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}")
}

/// The pause before each byte of a slow response.
const PAUSE: Duration = Duration::from_millis(200);

impl StubServer {
    /// Starts the server with an empty 200 as its response.
    pub async fn start() -> Self {
        // The programs remember what they learned from a URL, so no port serves two stubs.
        let listener = listen();
        listener.set_nonblocking(true).unwrap();
        let listener = TcpListener::from_std(listener).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::<State>::default();
        let shared = Arc::clone(&state);
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        let stub = Self { url, state, server };
        stub.answer(200, "");
        stub
    }

    /// Sets the response to all following requests.
    pub fn answer(&self, status: u16, body: &str) {
        let headers = "Content-Type: application/json\r\nCache-Control: max-age=300\r\n";
        self.answer_raw(&response(&format!("{status} Status"), headers, body));
    }

    /// Sets the response to all following requests, with its head.
    pub fn answer_raw(&self, response: &str) {
        self.set(Answer::Whole(response.to_owned()));
    }

    /// Sets the response to all following requests, with its head. It is sent one byte at a time, five in a
    /// second.
    pub fn answer_slowly(&self, response: &str) {
        self.set(Answer::Slow(response.to_owned()));
    }

    /// Sets the response to all following requests. Its head is sent at once, and its body one byte at a
    /// time, five in a second.
    pub fn answer_with_slow_body(&self, head: &str, body: &str) {
        self.set(Answer::SlowBody {
            head: head.to_owned(),
            body: body.to_owned(),
        });
    }

    /// Accepts all following requests without answering.
    pub fn never_answer(&self) {
        self.set(Answer::Never);
    }

    fn set(&self, answer: Answer) {
        *self.state.answer.lock().unwrap() = answer;
    }

    /// The requests received so far.
    pub fn received(&self) -> Vec<ReceivedRequest> {
        self.state.received.lock().unwrap().clone()
    }
}

impl Drop for StubServer {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// Answers one request and closes the connection.
async fn serve(mut stream: TcpStream, state: Arc<State>) -> std::io::Result<()> {
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
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).await?;
    let body = String::from_utf8_lossy(&bytes).into_owned();
    state
        .received
        .lock()
        .unwrap()
        .push(ReceivedRequest { headers, body, bytes });
    let answer = state.answer.lock().unwrap().clone();
    match answer {
        Answer::Never => std::future::pending().await,
        Answer::Whole(response) => stream.write_all(response.as_bytes()).await,
        Answer::Slow(response) => drip(&mut stream, &response).await,
        Answer::SlowBody { head, body } => {
            stream.write_all(head.as_bytes()).await?;
            drip(&mut stream, &body).await
        }
    }
}

/// Sends one byte at a time.
async fn drip(stream: &mut TcpStream, text: &str) -> std::io::Result<()> {
    for byte in text.bytes() {
        tokio::time::sleep(PAUSE).await;
        stream.write_u8(byte).await?;
    }
    Ok(())
}
