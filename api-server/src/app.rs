//! The state that handlers and extractors share.

use crate::resource_metadata::Metadata;
use access_tokens::Verifier;
use axum::extract::FromRef;
use identity::Identity;
use resources::idempotency::Idempotency;
use std::sync::Arc;
use storage::db::Db;
use storage::rate_limits::RateLimiter;
use web::{Cors, Policy};

/// The application state. Handlers take single fields of it with `State`.
#[derive(Clone, FromRef)]
pub(crate) struct App {
    pub(crate) db: Db,
    pub(crate) idempotency: Idempotency,
    pub(crate) identity: Identity,
    pub(crate) policy: Arc<Policy>,
    pub(crate) cors: Cors,
    pub(crate) rate_limiter: RateLimiter,
    pub(crate) verifier: Arc<Verifier>,
    pub(crate) metadata: Arc<Metadata>,
}
