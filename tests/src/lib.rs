//! The harness of the black-box tests: it starts the real program on a port and a database of its own,
//! and speaks HTTP with it as a client, a browser or a third-party app does.
//!
//! A test is an `async fn(World)`, or an `async fn(Shape)` where it starts its world itself;
//! [`on_every_shape!`] at the end of its file runs it on each.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that cannot go on fails, and says why to whoever runs it"
)]

mod apps;
mod authenticator;
mod browser;
mod chromium;
mod clock;
mod contract;
mod crowd;
mod fake_issuer;
mod forge;
mod front;
mod http;
mod lists;
mod lookup;
mod metrics;
mod outbox;
mod payments;
mod people;
mod postgres;
mod program;
mod raw;
mod receiver;
mod redis;
mod refusals;
mod reply;
mod shape;
mod smtp;
mod statistics;
mod tokens;
mod world;

pub use apps::{App, Authorization, CALLBACK, Registration};
pub use authenticator::Authenticator;
pub use browser::{Browser, Page};
pub use chromium::Chromium;
pub use contract::{Contract, UNDOCUMENTED};
pub use crowd::{Counts, all_at_once, counts};
pub use fake_issuer::FakeIssuer;
pub use forge::{Forger, Signer, with_scope};
pub use http::{Call, Caller};
pub use lists::{
    cursor, expect_cursor_outlives_item, expect_short_page_backwards_is_first, ids, items, link, pages_of_45,
    walk,
};
pub use metrics::soon;
pub use outbox::Letter;
pub use payments::{Payment, fresh_key};
pub use people::{Comment, PASSWORD, Person, Post, other_spellings};
pub use raw::Raw;
pub use receiver::{Received, Receiver};
pub use redis::RedisServer;
pub use reply::Reply;
pub use shape::{Given, Shape, run};
pub use smtp::{Arrived, Mood, SmtpServer};
pub use statistics::{median, rank_test};
pub use storage::db::Db;
pub use tokens::{Grant, Tokens, basic, parameter};
pub use world::{Setup, World};

/// base64url without padding (RFC 4648 §5).
pub fn base64url(bytes: impl AsRef<[u8]>) -> String {
    foundation::secret::encode(bytes.as_ref())
}
