//! The harness of the black-box tests. It starts the real programs on their own ports and database, and talks
//! to them over HTTP as a client, a browser or a third-party app does.
//!
//! A [`World`] is a test's view of a running deployment, and its [`Shape`] is the architecture. A test is an
//! `async fn(SharedWorld)` in a deployment that it shares with others, an `async fn(World)` in one of its
//! own, or an `async fn(Shape)` that starts its world itself. [`on_every_shape!`] at the end of its file runs
//! it on each shape.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a failed test panics with a message"
)]

mod accounts;
mod apps;
mod authenticator;
mod browser;
mod chromium;
mod clock;
mod concurrency;
mod contract;
mod crawling_readers;
mod devices;
mod dpop;
mod examples;
mod fake_issuer;
mod forged_tokens;
mod http;
mod independent_clients;
mod installed_programs;
mod introspection;
mod lists;
mod lossy_proxy;
mod metrics;
mod nginx;
mod oauth_errors;
mod outbox;
mod passkey;
mod payments;
mod polling;
mod ports;
mod postgres;
mod processes;
mod program;
mod raw_connection;
mod readiness;
mod redis;
mod registrations;
mod reply;
mod repository;
mod reverse_proxy;
mod revocations;
mod root_directory;
mod sentinel;
mod settings_page;
mod shape;
mod smtp;
mod static_site;
mod statistics;
mod stub_server;
mod suite;
mod tokens;
mod world;

pub use accounts::{Comment, PASSWORD, Post, User, invalid_id_spellings};
pub use apps::{App, Authorization, CALLBACK, DANGEROUS_REDIRECT_URIS, Registration};
pub use authenticator::Authenticator;
pub use browser::{Browser, Page};
pub use chromium::{Appearance, Chromium, SUBMIT};
pub use concurrency::{StatusCounts, run_concurrently, status_counts};
pub use contract::{Contract, UNDOCUMENTED};
pub use crawling_readers::{CrawlingReader, LONGEST_BODY, LargeRequest, crawl, fill_page, longest_body};
pub use devices::{DEVICE_CODE, Device};
pub use dpop::{ProofKey, Proven, asks_for_nonce, send_with_proof};
pub use examples::Example;
pub use fake_issuer::FakeIssuer;
pub use forged_tokens::{Signer, TokenForger, caller_with_scope};
pub use http::{Call, Caller};
pub use independent_clients::{ClientLibrary, single_page_app};
pub use installed_programs::{tool, type_checker};
#[doc(hidden)]
pub use inventory;
pub use lists::{
    cursor, expect_cursor_outlives_item, expect_pages_of_45, expect_prev_stops_at_first_page, follow_pages,
    ids, items, link,
};
pub use lossy_proxy::LossyProxy;
pub use nginx::Nginx;
pub use outbox::Mail;
pub use passkey::{Passkey, PasskeyOptions};
pub use payments::{Payment, fresh_key};
pub use polling::eventually;
pub use ports::free_port;
pub use postgres::{Database, Exchange, PostgresProxy, PostgresServer};
pub use processes::{connections_to, peak_memory_kib};
pub use program::programs_dir;
pub use raw_connection::RawConnection;
pub use redis::RedisServer;
pub use registrations::count_unused_registrations;
pub use reply::Reply;
pub use repository::root;
pub use reverse_proxy::{ISSUER_PATHS, is_of_issuer};
pub use root_directory::{RootDirectory, as_root, public_directory};
pub use sentinel::Sentinel;
pub use settings_page::settings_page;
pub use shape::{Shape, TestArgument, run};
pub use smtp::{DeliveredMail, SmtpBehavior, SmtpServer};
pub use static_site::StaticSite;
pub use statistics::{expect_p99_within_twice, median, p99, p99_of_calls, print_figure, rank_test};
pub use storage::db::Db;
pub use stub_server::{ReceivedRequest, StubServer, response};
pub use suite::{Test, Tier, main, rounds};
pub use tokens::{Grant, Tokens, basic, claims, parameter};
pub use world::{DemoSite, SharedWorld, World, WorldBuilder, compose_file};

/// Encodes bytes as base64url without padding (RFC 4648 §5).
pub fn base64url(bytes: impl AsRef<[u8]>) -> String {
    foundation::secret::encode(bytes.as_ref())
}
