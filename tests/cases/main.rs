//! The cases, one module a theme. Each runs on every shape.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails, and says why to whoever runs it"
)]
#![allow(
    clippy::large_futures,
    reason = "a test awaits one thing at a time, on a stack of its own"
)]

mod accounts;
mod alerts;
mod authorisation;
mod bearer;
mod callers;
mod captcha;
mod comments;
mod consent;
mod csrf;
mod found_once;
mod http_edges;
mod idempotency;
mod in_a_browser;
mod input;
mod jwks;
mod keys;
mod lists;
mod lockout;
mod mail;
mod oauth;
mod oauth_races;
mod openapi;
mod openapi_tools;
mod passwords;
mod payments;
mod pkce;
mod posts;
mod races;
mod redirects;
mod redis;
mod refresh;
mod revoked;
mod schema;
mod security_events;
mod sessions;
mod startup;
mod statements;
mod stock_client;
mod token;
mod token_requests;
