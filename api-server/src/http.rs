//! The handlers: each takes a request apart, calls one domain function and shows what came of it.

pub(crate) mod account;
pub(crate) mod challenge;
pub(crate) mod comments;
pub(crate) mod email_verifications;
mod envelope;
pub(crate) mod grants;
mod mailed_token;
pub(crate) mod metadata;
pub(crate) mod mfa;
pub(crate) mod password_resets;
pub(crate) mod payments;
pub(crate) mod posts;
mod proof;
pub(crate) mod protected;
pub(crate) mod session;
pub(crate) mod sessions;
mod tagged;
pub(crate) mod users;
