//! The published OpenAPI document: what `routes!` collected, with the parts that all operations share. The
//! reference is the same document for people.

mod common_responses;
mod document;
mod pages;
mod publish;
mod reference;

pub use publish::publish;
