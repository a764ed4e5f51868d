//! The handlers. Each parses a request, calls one domain function and renders its result.

pub(crate) mod account;
pub(crate) mod challenge;
pub(crate) mod comments;
pub(crate) mod connected_apps;
pub(crate) mod email_verifications;
mod etag_response;
mod mailed_token;
pub(crate) mod metadata;
pub(crate) mod mfa;
pub(crate) mod passkeys;
pub(crate) mod password_resets;
pub(crate) mod payments;
pub(crate) mod posts;
pub(crate) mod protected;
mod reauthentication;
pub(crate) mod session;
pub(crate) mod sessions;
pub(crate) mod users;
