//! The HTTP layer of both servers: middleware, extractors, error bodies, the OpenAPI document and health
//! checks.
//!
//! This crate uses axum and contains no SQL.

mod allowed_methods;
pub mod bearer;
pub mod body;
pub mod budget;
pub mod calls;
pub mod challenges;
pub mod client_address;
mod compression;
pub mod connection;
pub mod content_negotiation;
pub mod context;
pub mod cookies;
pub mod cors;
pub mod csrf;
mod deferred_headers;
pub mod documentation;
pub mod dpop;
pub mod error;
pub mod etag;
pub mod headers;
pub mod health;
mod host;
mod incoming;
pub mod json_fields;
mod json_response;
mod list_response;
pub mod openapi;
mod outgoing;
mod path_id;
mod policy;
pub mod program;
pub mod rate_limits;
mod request_log;
pub mod security_events;
mod services;
mod wrong_clock;

pub use body::{Authorized, JsonBody};
pub use context::Context;
pub use cors::Cors;
pub use deferred_headers::DeferredHeaders;
pub use error::{Code, Error};
pub use json_response::{json_file, json_response};
pub use list_response::{Envelope, Links, list_response};
pub use outgoing::SmallStream;
pub use path_id::PathId;
pub use policy::Policy;
pub use request_log::is_unwritten_error;
