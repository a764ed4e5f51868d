//! The resource API: posts, comments, payments, users and sessions, for callers with a session cookie or an
//! access token.
//!
//! This crate maps HTTP requests to the functions of `resources` and verifies access tokens with
//! `access_tokens`; it contains no SQL. It depends on the issuer only through the published key set and the
//! revocations in the database.

mod api;
mod app;
pub mod doctor;
mod error;
mod extract;
mod http;
mod principal;
mod resource_metadata;
mod router;
pub mod settings;
pub mod versions;

pub use api::Api;
pub use resources::statements;
