//! An SMTP server (RFC 5321) that keeps what it is given, or behaves badly.

use crate::outbox::Letter;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// How long a mail may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// How it treats its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// Takes every mail.
    Takes,
    /// Refuses every address for now, and repeats it.
    Refuses,
    /// Never says a word.
    IsSilent,
}

/// What it was given.
#[derive(Clone, Debug)]
pub struct Arrived {
    /// The addresses of the envelope.
    pub to: Vec<String>,
    /// The mail.
    pub letter: Letter,
}

/// The server. Ends when dropped.
#[derive(Debug)]
pub struct SmtpServer {
    port: u16,
    state: Arc<Mutex<State>>,
    server: JoinHandle<()>,
}

#[derive(Debug)]
struct State {
    mood: Mood,
    /// Everything that clients said.
    heard: String,
    received: Vec<Arrived>,
    refused: usize,
}

impl SmtpServer {
    /// Listens on a free port.
    pub async fn start(mood: Mood) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State {
            mood,
            heard: String::new(),
            received: Vec::new(),
            refused: 0,
        }));
        let shared = Arc::clone(&state);
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(converse(stream, Arc::clone(&shared)));
            }
        });
        Self { port, state, server }
    }

    /// Its URL, without TLS.
    pub fn url(&self) -> String {
        format!("smtp://127.0.0.1:{}", self.port)
    }

    /// Changes how it treats its clients.
    pub fn set(&self, mood: Mood) {
        self.state.lock().unwrap().mood = mood;
    }

    /// Everything that clients said so far.
    pub fn heard(&self) -> String {
        self.state.lock().unwrap().heard.clone()
    }

    /// What it was given so far.
    pub fn received(&self) -> Vec<Arrived> {
        self.state.lock().unwrap().received.clone()
    }

    /// Waits until it was given so many mails, doing something in between.
    pub async fn until_received(&self, count: usize, meanwhile: impl Fn()) {
        self.until(
            &format!("{count} mails"),
            |state| state.received.len() >= count,
            meanwhile,
        )
        .await;
    }

    /// Waits until it refused an address.
    pub async fn until_refused(&self) {
        self.until("a refusal", |state| state.refused > 0, || ()).await;
    }

    /// Waits until a client said something.
    pub async fn until_heard(&self) {
        self.until("a word", |state| !state.heard.is_empty(), || ()).await;
    }

    async fn until(&self, what: &str, is_so: impl Fn(&State) -> bool, meanwhile: impl Fn()) {
        let began = Instant::now();
        while !is_so(&self.state.lock().unwrap()) {
            assert!(
                began.elapsed() < PATIENCE,
                "never {what}: {:?}",
                self.state.lock().unwrap()
            );
            meanwhile();
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Drop for SmtpServer {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// Serves one connection to its end.
async fn converse(stream: TcpStream, state: Arc<Mutex<State>>) -> std::io::Result<()> {
    let mood = || state.lock().unwrap().mood;
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(reader).lines();
    if mood() == Mood::IsSilent {
        while lines.next_line().await?.is_some() {}
        return Ok(());
    }
    writer.write_all(b"220 here\r\n").await?;
    let mut to = Vec::new();
    while let Some(line) = lines.next_line().await? {
        state.lock().unwrap().heard.push_str(&format!("{line}\r\n"));
        let verb = line.split([' ', ':']).next().unwrap_or_default().to_uppercase();
        let answer = match verb.as_str() {
            "RCPT" if mood() == Mood::Refuses => {
                state.lock().unwrap().refused += 1;
                format!("451 {line}: not now")
            }
            "RCPT" => {
                to.push(line.split(['<', '>']).nth(1).unwrap_or_default().to_owned());
                "250 ok".to_owned()
            }
            "DATA" => {
                writer.write_all(b"354 go on\r\n").await?;
                let mut data = String::new();
                while let Some(line) = lines.next_line().await?.filter(|line| line != ".") {
                    data.push_str(line.strip_prefix('.').unwrap_or(&line));
                    data.push_str("\r\n");
                }
                let letter = Letter::parse(&data);
                let to = std::mem::take(&mut to);
                state.lock().unwrap().received.push(Arrived { to, letter });
                "250 kept".to_owned()
            }
            "QUIT" => {
                return writer.write_all(b"221 bye\r\n").await;
            }
            _ => "250 ok".to_owned(),
        };
        writer.write_all(format!("{answer}\r\n").as_bytes()).await?;
    }
    Ok(())
}
