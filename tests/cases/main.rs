//! The black-box tests, one module per subject. Each test runs on every deployment shape that applies to it.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails, and says why to whoever runs it"
)]
#![allow(
    clippy::large_futures,
    reason = "a test awaits one thing at a time, on a stack of its own"
)]

mod api;
mod http;
mod identity;
mod oauth;
mod operations;
mod specification;
