//! A raw TCP connection for requests that no HTTP library sends.

use socket2::SockRef;
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

/// Longer than any time limit of the programs.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A connection to one process.
#[derive(Debug)]
pub struct RawConnection(TcpStream);

impl RawConnection {
    /// Connects to a port of 127.0.0.1.
    pub async fn connect(port: u16) -> Self {
        Self(TcpStream::connect(("127.0.0.1", port)).await.unwrap())
    }

    /// Connects to a port of 127.0.0.1 from this address in 127.0.0.0/8.
    pub async fn connect_from(address: Ipv4Addr, port: u16) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((address, 0).into()).unwrap();
        Self(socket.connect((Ipv4Addr::LOCALHOST, port).into()).await.unwrap())
    }

    /// Returns the port from which it is connected.
    pub fn local_port(&self) -> u16 {
        self.0.local_addr().unwrap().port()
    }

    /// Connects to a port of 127.0.0.1 with the smallest buffer and segments, so that the kernels hold little
    /// of a response that is read slowly, as they do between machines.
    pub async fn connect_with_small_buffer(port: u16) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        SockRef::from(&socket).set_tcp_mss(536).unwrap();
        Self(socket.connect(([127, 0, 0, 1], port).into()).await.unwrap())
    }

    /// Sends these bytes.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        // The program may have closed the connection already. Its response can still be read.
        let _ = self.0.write_all(bytes.as_ref()).await;
    }

    /// Reads until the program closes the connection. Returns everything read.
    pub async fn read_to_end(&mut self) -> String {
        String::from_utf8_lossy(&self.read_bytes_to_end().await).into_owned()
    }

    /// Reads until the program closes the connection. Returns everything read.
    pub async fn read_bytes_to_end(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        let read = tokio::time::timeout(TIMEOUT, self.0.read_to_end(&mut all)).await;
        assert!(
            read.is_ok(),
            "the program did not close the connection in {TIMEOUT:?}"
        );
        all
    }

    /// Reads at most this many bytes. Returns their number; 0 if the program closed the connection.
    pub async fn read_some(&mut self, most: usize) -> usize {
        self.0.read(&mut vec![0; most]).await.unwrap_or_default()
    }

    /// Reads until `end` arrives. Returns everything read.
    pub async fn read_until(&mut self, end: &str) -> String {
        let mut all = String::new();
        let is_found = self.read_into(&mut all, end).await;
        assert!(is_found, "the connection ended before {end:?}: {all}");
        all
    }

    /// Reads until `end` arrives. Returns `None` if the program closes the connection before.
    pub async fn try_read_until(&mut self, end: &str) -> Option<String> {
        let mut all = String::new();
        self.read_into(&mut all, end).await.then_some(all)
    }

    /// Reads until `end` arrives, and returns true, or until the end of the connection.
    async fn read_into(&mut self, text: &mut String, end: &str) -> bool {
        let mut all = Vec::new();
        while !text.contains(end) {
            let mut buffer = [0; 4096];
            match tokio::time::timeout(TIMEOUT, self.0.read(&mut buffer))
                .await
                .unwrap()
            {
                Ok(n @ 1..) => all.extend_from_slice(&buffer[..n]),
                _ => return false,
            }
            *text = String::from_utf8_lossy(&all).into_owned();
        }
        true
    }
}
