//! The listener that systemd opens and passes to a server (`deploy/systemd/socket.conf`), and the message by which
//! systemd learns that a server is ready.

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use storage::db::DatabaseUrl;
use tests::{RawConnection, Shape, on_shapes, programs_dir};
use tokio::net::UnixDatagram;

const REQUEST: &str = "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// A process that is killed on drop.
struct Server(Child);

impl Server {
    fn start(command: &mut Command) -> Self {
        let silent = command.stdout(Stdio::null()).stderr(Stdio::null());
        Self(silent.spawn().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Prepares a server with a listener as its standard input.
fn server(data: &Path, listener: &TcpListener, listen: &str) -> Command {
    let mut command = Command::new(programs_dir().join("latchkey"));
    command.env_clear().arg("--data-dir").arg(data);
    command.args(["--listen", listen]);
    command.stdin(OwnedFd::from(listener.try_clone().unwrap()));
    command
}

async fn connections_wait_while_no_server_runs(_: Shape) {
    let directory = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // The second time, the first server was killed.
    for _ in 0..2 {
        let mut waiting = RawConnection::connect(address.port()).await;
        waiting.send(REQUEST).await;
        let _server = Server::start(&mut server(directory.path(), &listener, &address.to_string()));
        let response = waiting.read_to_end().await;
        assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
    }
}

/// An installation that only this machine reaches has a demo client.
async fn the_socket_has_the_address_of_the_settings(_: Shape) {
    let directory = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("0.0.0.0:0").unwrap();
    let bound = listener.local_addr().unwrap();
    let listen = format!("127.0.0.1:{}", bound.port());
    let refused = server(directory.path(), &listener, &listen).output().unwrap();
    let reason = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(64), "{reason}");
    for address in [listen, bound.to_string()] {
        assert!(reason.contains(&address), "{address}: {reason}");
    }
}

/// A service that is ordered after the issuer needs the schema of its own version.
async fn a_server_is_ready_after_its_migrations(_: Shape) {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("notify");
    let messages = UnixDatagram::bind(&socket).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let mut server = server(directory.path(), &listener, &address);
    let _server = Server::start(server.env("NOTIFY_SOCKET", &socket));
    let mut message = [0; 16];
    let length = messages.recv(&mut message).await.unwrap();
    assert_eq!(&message[..length], b"READY=1");
    let database = directory.path().join("latchkey.db");
    let url: DatabaseUrl = format!("sqlite:{}", database.display()).parse().unwrap();
    assert!(url.pending_migrations().await.unwrap().is_empty());
}

on_shapes!(a_server_is_ready_after_its_migrations: sqlite Sqlite);
on_shapes!(connections_wait_while_no_server_runs: sqlite Sqlite);
on_shapes!(the_socket_has_the_address_of_the_settings: sqlite Sqlite);
