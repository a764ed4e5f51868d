//! The published OpenAPI document: what `routes!` collected, with the parts that all operations share, and
//! its page.

mod common_responses;
mod document;
mod publish;

pub use publish::publish;
