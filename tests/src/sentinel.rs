//! A port that no program may connect to.

use std::io;
use std::net::TcpListener;

/// A port of this machine, on every address, that nobody may connect to.
#[derive(Debug)]
pub struct Sentinel {
    /// The port.
    pub port: u16,
    listener: TcpListener,
}

impl Sentinel {
    /// Listens at a free port.
    pub fn start() -> Self {
        // On Linux this address receives IPv4 connections too.
        let listener = TcpListener::bind("[::]:0").or_else(|_| TcpListener::bind("0.0.0.0:0"));
        let listener = listener.unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        Self { port, listener }
    }

    /// Expects that no connection waits to be accepted.
    #[track_caller]
    pub fn expect_no_connection(&self) {
        match self.listener.accept() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            accepted => panic!("expected no connection: {accepted:?}"),
        }
    }
}
