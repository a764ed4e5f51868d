//! What the issuer (`auth-server`) and the resource API (`api-server`) both need, and nothing else.
//!
//! `http` knows axum and never SQL; every other module knows SQL and never axum.

pub mod alerts;
pub mod clock;
pub mod config;
pub mod cursor;
pub mod db;
pub mod ephemeral;
pub mod events;
pub mod feed;
pub mod files;
pub mod grants;
pub mod http;
pub mod identity;
pub mod limits;
pub mod mail;
pub mod metrics;
pub mod network;
pub mod outbound;
pub mod random;
pub mod redis;
pub mod revocation;
pub mod schema;
pub mod scope;
pub mod seal;
pub mod secret;
pub mod serve;
pub mod start;
pub mod telemetry;
