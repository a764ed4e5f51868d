//! The parts of which the OpenAPI 3.1 document consists.
//!
//! `routes!` adds each handler to the router and its `#[utoipa::path]` description to the document, so the
//! two cannot differ. [`documentation`](crate::documentation) completes the document and serves it.

pub mod error_responses;
pub(crate) mod headers;
pub(crate) mod operations;

pub use error_responses::error_responses;

use utoipa::openapi::{OpenApi, Server};

/// Sets `server` as the only server of every path, which documents that the paths have no version prefix.
pub fn set_server(document: &mut OpenApi, server: &str) {
    for item in document.paths.paths.values_mut() {
        item.servers = Some(vec![Server::new(server)]);
    }
}
