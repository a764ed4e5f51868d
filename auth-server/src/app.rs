//! The state that the issuer's handlers share.

use crate::pages::Brand;
use identity::Identity;
use identity::passkeys::RelyingParty;
use issuer::flows::Flows;
use issuer::grants::Grants;
use issuer::keys::KeyStore;
use issuer::registrations::Registrations;
use std::sync::Arc;
use storage::rate_limits::RateLimiter;
use tokio::sync::Semaphore;
use web::{Cors, Policy, services};

/// The state of the issuer's routes. Handlers take all of it, or one service by `State`. Cheap to clone,
/// because axum clones the state for every request.
#[derive(Clone)]
pub(crate) struct App(Arc<Services>);

/// The services that handlers and extractors call.
pub(crate) struct Services {
    pub(crate) identity: Identity,
    pub(crate) flows: Flows,
    pub(crate) policy: Arc<Policy>,
    pub(crate) cors: Cors,
    pub(crate) rate_limiter: RateLimiter,
    pub(crate) grants: Arc<Grants>,
    pub(crate) keys: KeyStore,
    pub(crate) registrations: Arc<Registrations>,
    pub(crate) brand: Arc<Brand>,
    /// `None` if the host of the base URL is an IP address.
    pub(crate) relying_party: Option<Arc<RelyingParty>>,
    /// One permit for each stream of security events.
    pub(crate) event_streams: Arc<Semaphore>,
    pub(crate) is_production: bool,
}

services! { App(Services):
    identity: Identity;
    policy: Arc<Policy>;
    grants: Arc<Grants>;
    keys: KeyStore;
    registrations: Arc<Registrations>;
    brand: Arc<Brand>;
}
