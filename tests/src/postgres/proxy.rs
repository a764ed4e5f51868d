//! A proxy between a program and PostgreSQL that records every statement, and that breaks connections.

use super::frontend::{Frontend, Message};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// The file name by which clients find the socket of a server with the default port in a directory.
const SOCKET: &str = ".s.PGSQL.5432";
/// The size of a read. A client writes all messages that it sends without waiting at once, and they must
/// arrive in one read to count as one round trip.
const READ_SIZE: usize = 256 * 1024;

/// One round trip: the messages that a client sent in one write, for which it then awaited the server.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The number of its unit of work: the transaction to which it belongs, or the single statement with its
    /// preparation. The first round trip without a statement after a unit belongs to that unit, and a second
    /// one to the next unit on the connection, because a pool may check a connection when it is returned and
    /// when it is taken.
    pub unit: usize,
    /// The texts of the executed statements.
    pub statements: Vec<String>,
    /// The texts of the statements that were prepared.
    pub prepared: Vec<String>,
}

/// The proxy. Stops on drop.
#[derive(Debug)]
pub struct PostgresProxy {
    socket_dir: PathBuf,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    exchanges: Mutex<Vec<Exchange>>,
    units: AtomicUsize,
    connections: AtomicUsize,
    trap: Mutex<Option<Trap>>,
    /// The lowest number of a connection that is not silent.
    first_audible: watch::Sender<usize>,
    /// The number of times that held connections were released.
    releases: watch::Sender<usize>,
}

/// An action on the next connection that executes a statement.
#[derive(Debug)]
struct Trap {
    /// A part of the statement's text.
    fragment: String,
    action: Action,
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Cut,
    Hold,
}

/// The division of a connection's exchanges into units of work.
#[derive(Debug, Default)]
struct Units {
    current: usize,
    is_in_transaction: bool,
    /// Whether the current unit has not executed a statement yet.
    is_beginning: bool,
    /// Whether the last exchange had no statement.
    has_ended: bool,
}

impl PostgresProxy {
    /// Listens on a socket in `own_dir`, which it creates, for connections to the server with its socket in
    /// `server_dir`.
    pub(crate) fn start(own_dir: &Path, server_dir: &Path) -> Self {
        std::fs::create_dir(own_dir).unwrap();
        let listener = UnixListener::bind(own_dir.join(SOCKET)).unwrap();
        let shared = Arc::new(Shared {
            exchanges: Mutex::default(),
            units: AtomicUsize::default(),
            connections: AtomicUsize::default(),
            trap: Mutex::default(),
            first_audible: watch::Sender::new(0),
            releases: watch::Sender::new(0),
        });
        let (accepted, server) = (Arc::clone(&shared), server_dir.join(SOCKET));
        let server = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (shared, server) = (Arc::clone(&accepted), server.clone());
                tokio::spawn(async move {
                    if let Ok(server) = UnixStream::connect(&server).await {
                        shared.forward(client, server).await;
                    }
                });
            }
        });
        Self {
            socket_dir: own_dir.to_owned(),
            shared,
            server,
        }
    }

    /// The directory of its Unix socket.
    pub(crate) fn socket_dir(&self) -> &Path {
        &self.socket_dir
    }

    /// Returns all round trips so far, of all connections. They include those that never reached the server
    /// because their connection was cut, held or silent.
    pub fn exchanges(&self) -> Vec<Exchange> {
        self.exchanges_from(0)
    }

    /// Returns the round trips so far without the first ones.
    pub fn exchanges_from(&self, first: usize) -> Vec<Exchange> {
        self.shared.exchanges.lock().unwrap()[first..].to_vec()
    }

    /// Returns the number of round trips so far.
    pub fn exchange_count(&self) -> usize {
        self.shared.exchanges.lock().unwrap().len()
    }

    /// Closes the next connection that executes a statement whose text contains `fragment`. The statement
    /// does not reach the server.
    pub fn cut_at(&self, fragment: &str) {
        self.set_trap(fragment, Action::Cut);
    }

    /// Holds the next connection that executes a statement whose text contains `fragment` until
    /// [`PostgresProxy::release`].
    pub fn hold_at(&self, fragment: &str) {
        self.set_trap(fragment, Action::Hold);
    }

    /// Forwards the statements of held connections.
    pub fn release(&self) {
        self.shared.releases.send_modify(|releases| *releases += 1);
    }

    /// Returns whether a connection executed the statement of [`PostgresProxy::cut_at`] or
    /// [`PostgresProxy::hold_at`].
    pub fn has_sprung(&self) -> bool {
        self.shared.trap.lock().unwrap().is_none()
    }

    /// Silences all open connections for ever: they stay open, but nothing passes, as after a loss of the
    /// network. New connections work.
    pub fn silence_open_connections(&self) {
        let opened = self.shared.connections.load(Ordering::Relaxed);
        self.shared.first_audible.send_replace(opened);
    }

    fn set_trap(&self, fragment: &str, action: Action) {
        *self.shared.trap.lock().unwrap() = Some(Trap {
            fragment: fragment.to_owned(),
            action,
        });
    }
}

impl Drop for PostgresProxy {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Shared {
    /// Forwards in both directions until one side closes the connection, or a trap does.
    async fn forward(&self, client: UnixStream, server: UnixStream) {
        let number = self.connections.fetch_add(1, Ordering::Relaxed);
        let (mut from_client, mut to_client) = client.into_split();
        let (mut from_server, mut to_server) = server.into_split();
        let requests = async {
            let (mut frontend, mut units) = (Frontend::default(), Units::default());
            let mut buffer = vec![0; READ_SIZE];
            while let Ok(length @ 1..) = from_client.read(&mut buffer).await {
                let messages = frontend.parse(&buffer[..length]);
                self.record(&messages, &mut units);
                // Subscribes first, so that a release right after the trap has sprung is not missed.
                let mut releases = self.releases.subscribe();
                match self.spring(&messages) {
                    Some(Action::Cut) => break,
                    Some(Action::Hold) => releases.changed().await.unwrap_or_default(),
                    None => {}
                }
                self.wait_while_silent(number).await;
                if to_server.write_all(&buffer[..length]).await.is_err() {
                    break;
                }
            }
        };
        let responses = async {
            let mut buffer = vec![0; READ_SIZE];
            while let Ok(length @ 1..) = from_server.read(&mut buffer).await {
                self.wait_while_silent(number).await;
                if to_client.write_all(&buffer[..length]).await.is_err() {
                    break;
                }
            }
        };
        tokio::select! {
            () = requests => {}
            () = responses => {}
        }
    }

    /// Records the messages of one write as a round trip, if the server reports to be ready after them.
    fn record(&self, messages: &[Message], units: &mut Units) {
        let is_awaited = |message: &Message| matches!(message, Message::Query(_) | Message::Sync);
        if !messages.iter().any(is_awaited) {
            return;
        }
        let (mut statements, mut prepared) = (Vec::new(), Vec::new());
        for message in messages {
            match message {
                Message::Parse(text) => prepared.push(text.clone()),
                Message::Execute(text) | Message::Query(text) => statements.push(text.clone()),
                Message::Sync => {}
            }
        }
        let exchange = Exchange {
            unit: units.unit_of(&statements, &prepared, &self.units),
            statements,
            prepared,
        };
        self.exchanges.lock().unwrap().push(exchange);
    }

    /// Returns the action of the trap if one of the messages springs it. Removes the trap.
    fn spring(&self, messages: &[Message]) -> Option<Action> {
        let mut trap = self.trap.lock().unwrap();
        let sprung = trap.take_if(|trap| {
            messages.iter().any(|message| match message {
                Message::Execute(text) | Message::Query(text) => text.contains(&trap.fragment),
                _ => false,
            })
        });
        sprung.map(|trap| trap.action)
    }

    /// Returns at once, or never if the connection with this number is silent.
    async fn wait_while_silent(&self, number: usize) {
        let mut first_audible = self.first_audible.subscribe();
        let _ = first_audible.wait_for(|first| number >= *first).await;
    }
}

impl Units {
    /// Returns the unit of the next exchange, which executes and prepares these statements.
    fn unit_of(&mut self, statements: &[String], prepared: &[String], units: &AtomicUsize) -> usize {
        let is_check = statements.is_empty() && prepared.is_empty();
        let is_next = if is_check {
            self.has_ended
        } else {
            !self.is_in_transaction
        };
        if is_next && !self.is_beginning {
            self.current = units.fetch_add(1, Ordering::Relaxed);
            self.is_beginning = true;
        }
        self.is_beginning &= statements.is_empty();
        self.has_ended = is_check;
        for statement in statements {
            let word = statement.split_whitespace().next().unwrap_or_default();
            match word.to_ascii_uppercase().as_str() {
                "BEGIN" => self.is_in_transaction = true,
                "COMMIT" | "ROLLBACK" => self.is_in_transaction = false,
                _ => {}
            }
        }
        self.current
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The units of exchanges that execute or, with a leading `+`, prepare a statement, or do neither.
    fn units_of(exchanges: &[&str]) -> Vec<usize> {
        let (mut units, numbers) = (Units::default(), AtomicUsize::new(0));
        let unit_of = |text: &&str| match text.strip_prefix('+') {
            Some(prepared) => units.unit_of(&[], &[prepared.to_owned()], &numbers),
            None if text.is_empty() => units.unit_of(&[], &[], &numbers),
            None => units.unit_of(&[(*text).to_owned()], &[], &numbers),
        };
        exchanges.iter().map(unit_of).collect()
    }

    #[test]
    fn a_unit_is_a_transaction_or_one_statement_with_its_preparation() {
        let exchanges = [
            "SELECT 1",
            "+SELECT 2",
            "SELECT 2",
            "BEGIN",
            "+UPDATE",
            "UPDATE",
            "COMMIT",
            "SELECT 1",
        ];
        assert_eq!(units_of(&exchanges), [0, 1, 1, 2, 2, 2, 2, 3]);
    }

    #[test]
    fn round_trips_without_a_statement_belong_to_the_units_around_them() {
        let exchanges = [
            "SELECT 1",
            "",
            "",
            "+SELECT 2",
            "SELECT 2",
            "",
            "",
            "BEGIN",
            "COMMIT",
            "",
            "SELECT 1",
        ];
        assert_eq!(units_of(&exchanges), [0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3]);
    }
}
