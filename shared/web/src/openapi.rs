//! The OpenAPI 3.1 document.
//!
//! `routes!` adds each handler to the router and its `#[utoipa::path]` description to the document, so the
//! two cannot differ. [`publish()`] adds the parts that all operations share and serves the document.

mod common_responses;
mod document;
pub mod error_responses;
mod headers;
mod operations;
mod publish;

pub use document::set_server;
pub use error_responses::error_responses;
pub use publish::publish;
