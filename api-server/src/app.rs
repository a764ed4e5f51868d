//! The state that handlers and extractors share.

use crate::resource_metadata::Metadata;
use access_tokens::{Jwks, Verifier};
use dpop::Proofs;
use identity::Identity;
use resources::idempotency::Idempotency;
use resources::storage_use::Quota;
use std::sync::Arc;
use storage::db::Db;
use storage::rate_limits::RateLimiter;
use web::{Cors, Policy, services};

/// The application state. Handlers take single services of it with `State`. Cheap to clone, because axum
/// clones the state for every request.
#[derive(Clone)]
pub(crate) struct App(Arc<Services>);

/// The services that handlers and extractors call.
pub(crate) struct Services {
    pub(crate) db: Db,
    pub(crate) idempotency: Idempotency,
    pub(crate) quota: Quota,
    pub(crate) identity: Identity,
    pub(crate) policy: Arc<Policy>,
    pub(crate) cors: Cors,
    pub(crate) rate_limiter: RateLimiter,
    pub(crate) verifier: Verifier<Jwks>,
    pub(crate) proofs: Proofs,
    pub(crate) metadata: Arc<Metadata>,
}

services! { App(Services):
    db: Db;
    identity: Identity;
    policy: Arc<Policy>;
    metadata: Arc<Metadata>;
}
