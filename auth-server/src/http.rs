//! The HTTP endpoints of the issuer. They use axum and contain no SQL.

mod access_token;
pub(crate) mod admin;
pub(crate) mod authorize;
mod browser;
mod client_request;
pub(crate) mod consent;
pub(crate) mod discovery;
pub(crate) mod documentation;
mod extract;
mod flow;
pub(crate) mod forgot;
mod form_page;
mod forms;
pub(crate) mod introspect;
pub(crate) mod password;
mod paths;
pub(crate) mod redirects;
mod refresh_cookie;
pub(crate) mod reset;
pub(crate) mod revoke;
pub(crate) mod signin;
pub(crate) mod signout;
pub(crate) mod token;
mod token_errors;
pub(crate) mod user_info;
pub(crate) mod verify;
