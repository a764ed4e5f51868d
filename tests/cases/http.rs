//! HTTP behavior that all routes share: connections, methods, CORS, compression, rate limits, OpenAPI.

mod compression;
mod connections;
mod cors;
mod crawling_readers;
mod csrf;
mod methods;
mod openapi;
mod openapi_tools;
mod problem_details;
mod rate_limits;
mod reference;
mod response_heads;
mod shares;
pub(crate) mod try_it;
mod unread_bodies;
mod versions;
