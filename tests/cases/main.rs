//! The black-box tests, one module per subject. Each test runs on every deployment shape that applies to it.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed test panics with a message"
)]
#![allow(
    clippy::large_futures,
    reason = "each test runs one future at a time on its own stack"
)]

mod api;
mod http;
mod identity;
mod oauth;
mod operations;
mod pages;
mod specification;

use std::process::ExitCode;

fn main() -> ExitCode {
    tests::main()
}
