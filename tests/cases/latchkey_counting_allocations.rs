//! The program `latchkey` with an allocator that counts. The counts of all threads are reported to every
//! client of the Unix socket that the environment variable `ALLOCATION_SOCKET` names: 8 bytes, big-endian.
#![allow(
    clippy::disallowed_methods,
    reason = "the variable is no setting of the product"
)]

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;
use std::io::Write as _;
use std::os::unix::net::UnixListener;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> ExitCode {
    let socket = std::env::var("ALLOCATION_SOCKET").ok();
    // A command that runs beside the server has the same environment and finds the socket in use.
    if let Some(listener) = socket.and_then(|path| UnixListener::bind(path).ok()) {
        std::thread::spawn(move || report_counts(&listener));
    }
    latchkey::main()
}

/// Reports the number of allocations and reallocations so far to every client. Allocates nothing itself.
fn report_counts(listener: &UnixListener) {
    while let Ok((mut client, _)) = listener.accept() {
        let stats = ALLOCATOR.stats();
        let count = stats.allocations + stats.reallocations;
        let _ = client.write_all(&u64::try_from(count).unwrap_or(u64::MAX).to_be_bytes());
    }
}
