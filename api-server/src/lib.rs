//! The resource API: posts, comments, payments, users and sessions, for callers with a session cookie or an access token.
//!
//! It knows the issuer by its URL (its key set) and by the revocations in the database, and nothing else
//! of it. `http` and `extract` know axum and never SQL; the other modules know SQL and never axum.

mod accounts;
mod api;
mod bearer;
mod comments;
pub mod config;
mod error;
mod export;
mod extract;
mod http;
mod idempotency;
mod ids;
mod jwks;
mod paging;
mod payments;
mod posts;
mod router;
mod text;
mod users;
pub mod versions;

pub use api::Api;

/// Every statement that this crate can run, with a name, for a test that prepares each on both engines.
pub fn statements() -> Vec<(String, String)> {
    let content = posts::statements().chain(comments::statements());
    let money = payments::statements().chain(owned(idempotency::STATEMENTS));
    content.chain(money).collect()
}

fn owned(statements: &[(&str, &str)]) -> impl Iterator<Item = (String, String)> {
    let owned = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
    statements.iter().map(owned)
}
