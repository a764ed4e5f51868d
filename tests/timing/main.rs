//! Tests that compare times. They run one after the other, without the load of other tests.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed test panics with a message"
)]
#![allow(
    clippy::large_futures,
    reason = "each test runs one future at a time on its own stack"
)]

mod accounts;
mod crawling_readers;
mod large_accounts;
mod many_families;
mod modules;
mod pages;
mod revocations;
mod stored_hashes;
mod unknown_emails;
mod unused_registrations;

use std::process::ExitCode;
use tokio::sync::Mutex;

/// Held by the running test.
static ALONE: Mutex<()> = Mutex::const_new(());

fn main() -> ExitCode {
    tests::main()
}
