//! The cases, one module a theme. Each runs on every shape.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails, and says why to whoever runs it"
)]

mod bearer;
mod callers;
mod consent;
mod jwks;
mod oauth;
mod oauth_races;
mod pkce;
mod redirects;
mod revoked;
mod token;
mod token_requests;
