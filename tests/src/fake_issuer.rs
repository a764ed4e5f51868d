//! An issuer's key set under the test's control: it counts who asks, and answers what it is told to.

use crate::forge::Signer;
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A server of one key set. Ends when dropped.
#[derive(Debug)]
pub struct FakeIssuer {
    /// Where the key set is.
    pub jwks_url: String,
    fetches: Arc<AtomicUsize>,
    answer: Arc<Mutex<(u16, String)>>,
    server: JoinHandle<()>,
}

impl FakeIssuer {
    /// Serves the public halves of these keys.
    pub async fn start(keys: &[&Signer]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let jwks_url = format!("http://{}/jwks.json", listener.local_addr().unwrap());
        let (fetches, answer) = (Arc::default(), Arc::default());
        let (count, say) = (Arc::clone(&fetches), Arc::clone(&answer));
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&count), Arc::clone(&say)));
            }
        });
        let issuer = Self {
            jwks_url,
            fetches,
            answer,
            server,
        };
        issuer.publish(keys);
        issuer
    }

    /// From now on these are the keys.
    pub fn publish(&self, keys: &[&Signer]) {
        let keys: Vec<_> = keys.iter().map(|key| key.jwk()).collect();
        self.answer(200, &json!({ "keys": keys }).to_string());
    }

    /// From now on this is the answer.
    pub fn answer(&self, status: u16, body: &str) {
        *self.answer.lock().unwrap() = (status, body.to_owned());
    }

    /// How often the key set was fetched.
    pub fn fetches(&self) -> usize {
        self.fetches.load(Ordering::SeqCst)
    }
}

impl Drop for FakeIssuer {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// Answers one request and closes.
async fn serve(
    mut stream: TcpStream,
    fetches: Arc<AtomicUsize>,
    answer: Arc<Mutex<(u16, String)>>,
) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    fetches.fetch_add(1, Ordering::SeqCst);
    let (status, body) = answer.lock().unwrap().clone();
    let length = body.len();
    let reply = format!(
        "HTTP/1.1 {status} Status\r\nContent-Type: application/json\r\nCache-Control: max-age=300\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    stream.write_all(reply.as_bytes()).await
}
