//! The state that the issuer's handlers share.

use axum::extract::FromRef;
use identity::Identity;
use issuer::flows::Flows;
use issuer::grants::Grants;
use std::sync::Arc;
use storage::rate_limits::RateLimiter;
use web::{Cors, Policy};

/// The state of the issuer's routes. Handlers take all of it, or one part by `State`.
#[derive(Clone, FromRef)]
pub(crate) struct App {
    pub(crate) identity: Identity,
    pub(crate) flows: Flows,
    pub(crate) policy: Arc<Policy>,
    pub(crate) cors: Cors,
    pub(crate) rate_limiter: RateLimiter,
    pub(crate) grants: Arc<Grants>,
}
