//! A stub SMTP server (RFC 5321) that records mails or misbehaves.

use crate::outbox::Mail;
use crate::polling::TIMEOUT;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// The behavior of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmtpBehavior {
    /// Accepts every mail.
    AcceptsAll,
    /// Rejects every recipient with a temporary error that repeats the address.
    RejectsRecipients,
    /// Accepts connections and never responds.
    NeverResponds,
    /// Refuses every login.
    RefusesLogins,
}

/// A mail that the server accepted.
#[derive(Clone, Debug)]
pub struct DeliveredMail {
    /// The recipients of the envelope.
    pub to: Vec<String>,
    /// The message.
    pub message: Mail,
}

/// The server. Stops on drop.
#[derive(Debug)]
pub struct SmtpServer {
    port: u16,
    state: Arc<Mutex<State>>,
    server: JoinHandle<()>,
}

#[derive(Debug)]
struct State {
    behavior: SmtpBehavior,
    /// Everything that clients sent.
    transcript: String,
    received: Vec<DeliveredMail>,
    /// The number of rejected recipients.
    rejected: usize,
}

impl SmtpServer {
    /// Listens on a free port.
    pub async fn start(behavior: SmtpBehavior) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State {
            behavior,
            transcript: String::new(),
            received: Vec::new(),
            rejected: 0,
        }));
        let shared = Arc::clone(&state);
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(converse(stream, Arc::clone(&shared)));
            }
        });
        Self { port, state, server }
    }

    /// Returns the URL, without TLS.
    pub fn url(&self) -> String {
        format!("smtp://127.0.0.1:{}", self.port)
    }

    /// Changes its behavior.
    pub fn set(&self, behavior: SmtpBehavior) {
        self.state.lock().unwrap().behavior = behavior;
    }

    /// Everything that clients sent so far.
    pub fn transcript(&self) -> String {
        self.state.lock().unwrap().transcript.clone()
    }

    /// The mails accepted so far.
    pub fn received(&self) -> Vec<DeliveredMail> {
        self.state.lock().unwrap().received.clone()
    }

    /// Waits until it has accepted this many mails. Calls `meanwhile` between polls.
    pub async fn wait_until_received(&self, count: usize, meanwhile: impl Fn()) {
        self.wait_until(
            &format!("{count} mails"),
            |state| state.received.len() >= count,
            meanwhile,
        )
        .await;
    }

    /// Waits until it has rejected a recipient.
    pub async fn wait_until_rejected(&self) {
        self.wait_until("a rejected recipient", |state| state.rejected > 0, || ())
            .await;
    }

    /// Waits until a client has sent a line.
    pub async fn wait_until_contacted(&self) {
        self.wait_until("a command", |state| !state.transcript.is_empty(), || ())
            .await;
    }

    async fn wait_until(&self, what: &str, condition: impl Fn(&State) -> bool, meanwhile: impl Fn()) {
        let began = Instant::now();
        while !condition(&self.state.lock().unwrap()) {
            assert!(
                began.elapsed() < TIMEOUT,
                "timed out waiting for {what}: {:?}",
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

/// Serves one connection until the client quits.
async fn converse(stream: TcpStream, state: Arc<Mutex<State>>) -> std::io::Result<()> {
    let behavior = || state.lock().unwrap().behavior;
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(reader).lines();
    if behavior() == SmtpBehavior::NeverResponds {
        while lines.next_line().await?.is_some() {}
        return Ok(());
    }
    writer.write_all(b"220 here\r\n").await?;
    let mut to = Vec::new();
    while let Some(line) = lines.next_line().await? {
        state.lock().unwrap().transcript.push_str(&format!("{line}\r\n"));
        let verb = line.split([' ', ':']).next().unwrap_or_default().to_uppercase();
        let response = match verb.as_str() {
            "EHLO" => "250-here\r\n250 AUTH PLAIN".to_owned(),
            "AUTH" if behavior() == SmtpBehavior::RefusesLogins => "535 unknown login".to_owned(),
            "AUTH" => "235 logged in".to_owned(),
            "RCPT" if behavior() == SmtpBehavior::RejectsRecipients => {
                state.lock().unwrap().rejected += 1;
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
                let mail = Mail::parse(&data);
                let to = std::mem::take(&mut to);
                state
                    .lock()
                    .unwrap()
                    .received
                    .push(DeliveredMail { to, message: mail });
                "250 kept".to_owned()
            }
            "QUIT" => {
                return writer.write_all(b"221 bye\r\n").await;
            }
            _ => "250 ok".to_owned(),
        };
        writer.write_all(format!("{response}\r\n").as_bytes()).await?;
    }
    Ok(())
}
