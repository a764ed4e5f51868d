//! The handlers: each takes a request apart, calls one domain function and shows what came of it.

pub(crate) mod challenge;
pub(crate) mod comments;
pub(crate) mod email_verifications;
mod envelope;
mod mailed_token;
pub(crate) mod metadata;
pub(crate) mod password_resets;
pub(crate) mod posts;
pub(crate) mod protected;
pub(crate) mod session;
mod tagged;
pub(crate) mod users;
