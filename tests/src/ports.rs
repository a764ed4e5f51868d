//! Ports for the processes that tests start.

use std::net::TcpListener;
use std::ops::Range;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// They are below the range from which the kernel takes ports for connections, and above 10,080, the highest
/// port that browsers and Node.js refuse to open (Fetch, port blocking).
const PORTS: Range<u32> = 11_000..20_000;

/// Returns a free port of 127.0.0.1, which differs from the last 8,999. Until a process listens at it, the kernel
/// gives it to nobody else.
pub fn free_port() -> u16 {
    listen().local_addr().unwrap().port()
}

/// Listens at a port as [`free_port`] returns them, for a server of the test process itself. Such a server must
/// not bind a port that `free_port` returned: a child process that another thread is starting may still hold
/// a copy of the socket that `free_port` closed.
pub(crate) fn listen() -> TcpListener {
    static NEXT: LazyLock<AtomicU32> = LazyLock::new(|| AtomicU32::new(std::process::id()));
    loop {
        let port = PORTS.start + NEXT.fetch_add(1, Ordering::Relaxed) % (PORTS.end - PORTS.start);
        let port = u16::try_from(port).unwrap();
        if let Ok(listener) = TcpListener::bind(("127.0.0.1", port)) {
            return listener;
        }
    }
}
