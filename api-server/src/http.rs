//! The handlers: each takes a request apart, calls one domain function and shows what came of it.

pub(crate) mod challenge;
pub(crate) mod comments;
mod envelope;
pub(crate) mod metadata;
pub(crate) mod payments;
pub(crate) mod posts;
pub(crate) mod protected;
pub(crate) mod session;
mod tagged;
pub(crate) mod users;
