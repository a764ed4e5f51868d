//! The listener that systemd opens and passes to a server (`deploy/systemd/socket.conf`).

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tests::{RawConnection, Shape, on_shapes, programs_dir};

const REQUEST: &str = "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// A process that is killed on drop.
struct Server(Child);

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
        let mut server = server(directory.path(), &listener, &address.to_string());
        let silent = server.stdout(Stdio::null()).stderr(Stdio::null());
        let _server = Server(silent.spawn().unwrap());
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

on_shapes!(connections_wait_while_no_server_runs: sqlite Sqlite);
on_shapes!(the_socket_has_the_address_of_the_settings: sqlite Sqlite);
