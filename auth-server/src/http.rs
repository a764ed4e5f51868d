//! The issuer's endpoints. Knows axum, never SQL.

pub(crate) mod administrator;
pub(crate) mod authorize;
pub(crate) mod browser;
pub(crate) mod consent;
mod describe;
pub(crate) mod discovery;
pub(crate) mod forgot;
pub(crate) mod password;
pub(crate) mod reset;
pub(crate) mod security_events;
pub(crate) mod signin;
pub(crate) mod token;
mod token_errors;
pub(crate) mod verify;
